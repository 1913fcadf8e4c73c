import Synchronization
import TaskModel

/// The runs that have begun of those that were handed out ahead, in memory that outlives the host: their requests are recorded as claimed
/// until a commit says otherwise, and the next host could not tell them from those that never began.
///
/// A ring in a ``MappedFile``. Where a loss of power takes it along, what had begun is pending again without a loss, as if it had not. A
/// worker's run is in it when its host has learnt of its begin, by the end of the run before it.
final class BegunRuns: Sendable {
  /// Those of the host before, by their sequences.
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

  /// What the host before left is settled, durably.
  func clear() { entries.update(repeating: 0, count: Self.capacity) }

  /// A run has begun. On any thread.
  func note(_ run: RunID) { entries[next.add(1, ordering: .relaxed).oldValue & (Self.capacity - 1)] = run.sequence }
}
