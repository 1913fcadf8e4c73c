import Synchronization
import TaskModel

/// Records which runs handed out ahead have begun, in memory that outlives the host. Until the next commit, the store has their requests as
/// claimed, and without this record the next host process could not tell them from runs that never began.
///
/// A ring in a ``MappedFile``. A power cut may destroy it: a run that had begun is then pending again without a recorded loss. A worker's
/// run is noted when the host learns that it began, at the latest when the worker's previous run ends.
final class BegunRuns: Sendable {
  /// Sequences of the runs that began in the previous host process.
  let previous: Set<Int64>
  // reason: shared memory, never unmapped; each aligned word is written only by the thread that drew its index
  private nonisolated(unsafe) let entries: UnsafeMutablePointer<Int64>
  private let next = Atomic<Int>(0)
  /// More than can have begun between two commits; a power of two.
  private static let capacity = 1 << 16

  /// Reads the file. Its content stays until ``clear()``.
  init(_ path: String) throws(HostFailure) {
    let file = try MappedFile(path, bytes: Self.capacity * MemoryLayout<Int64>.stride)
    entries = file.memory.bindMemory(to: Int64.self, capacity: Self.capacity)
    previous = Set(UnsafeBufferPointer(start: entries, count: Self.capacity).lazy.filter { $0 != 0 })
  }

  /// Call it once the runs of the previous host process are durably settled.
  func clear() { entries.update(repeating: 0, count: Self.capacity) }

  /// Any thread.
  func note(_ run: RunID) { entries[next.add(1, ordering: .relaxed).oldValue & (Self.capacity - 1)] = run.sequence }
}
