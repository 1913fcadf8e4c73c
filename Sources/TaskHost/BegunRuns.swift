import Synchronization
import TaskModel

/// Which of the runs that were handed out ahead have begun, in memory that outlives the host. Until the next commit their requests are
/// recorded as claimed; without this memory the next host process could not tell them from runs that never began.
///
/// A ring in a ``MappedFile``. If the machine loses power, it may be lost: then a run that had begun is pending again without a recorded
/// loss. A worker's run is noted when the host learns of its begin, at the latest by the end of the run before it.
final class BegunRuns: Sendable {
  /// Those of the previous host process, by their sequences.
  let previous: Set<Int64>
  // reason: shared memory, an aligned word of which is written by whoever has drawn its place; never unmapped
  private nonisolated(unsafe) let entries: UnsafeMutablePointer<Int64>
  private let next = Atomic<Int>(0)
  /// More than can have begun between two commits; a power of two.
  private static let capacity = 1 << 16

  /// Opens the file and takes what is in it. It stays there until ``clear()``.
  init(_ path: String) throws(HostFailure) {
    let file = try MappedFile(path, bytes: Self.capacity * MemoryLayout<Int64>.stride)
    entries = file.memory.bindMemory(to: Int64.self, capacity: Self.capacity)
    previous = Set(UnsafeBufferPointer(start: entries, count: Self.capacity).lazy.filter { $0 != 0 })
  }

  /// What the previous host process left is settled, durably.
  func clear() { entries.update(repeating: 0, count: Self.capacity) }

  /// A run has begun. On any thread.
  func note(_ run: RunID) { entries[next.add(1, ordering: .relaxed).oldValue & (Self.capacity - 1)] = run.sequence }
}
