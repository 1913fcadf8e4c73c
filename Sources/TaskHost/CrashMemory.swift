import CCrashCell
import Glibc
import TaskModel
import WorkerProcesses

/// What a dying host tells the next one: which run it served, the signal or exit, the stack.
///
/// The dying process writes it to a ``MappedFile``. A host that is killed, or whose machine loses power, leaves nothing.
final class CrashMemory: Sendable {
  /// What the previous host process left; nil if nothing.
  let previous: CrashReport?
  // reason: shared memory that is made to be written by a dying process; never unmapped
  private nonisolated(unsafe) let cell: UnsafeMutablePointer<taskhost_crash_cell>

  /// Opens the file, takes what is in it, and empties it.
  init(_ path: String) throws(HostFailure) {
    let size = MemoryLayout<taskhost_crash_cell>.size
    let memory = try MappedFile(path, bytes: size).memory
    cell = memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1)
    previous = cell.pointee.version == TASKHOST_CRASH_VERSION ? CrashReport(cell) : nil
    memset(memory, 0, size)
  }

  /// From now on the death of this process is noted.
  func watch() { taskhost_crash_watch(cell) }

  /// This process ends because it wants to.
  static func leave() { taskhost_crash_leaving() }
}
