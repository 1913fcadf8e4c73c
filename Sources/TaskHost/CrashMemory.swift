import CCrashCell
import Glibc
import TaskModel
import WorkerProcesses

/// A crash report from a dying host process for the next one: the run it served, the signal or exit status, and the stack.
///
/// The dying process writes the report to a ``MappedFile``. It leaves no report after SIGKILL or a power cut.
final class CrashMemory: Sendable {
  let previous: CrashReport?
  // reason: shared memory for a dying process to write; never unmapped
  private nonisolated(unsafe) let cell: UnsafeMutablePointer<taskhost_crash_cell>

  /// Reads and clears the file.
  init(_ path: String) throws(HostFailure) {
    let size = MemoryLayout<taskhost_crash_cell>.size
    let memory = try MappedFile(path, bytes: size).memory
    cell = memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1)
    previous = cell.pointee.version == TASKHOST_CRASH_VERSION ? CrashReport(cell) : nil
    memset(memory, 0, size)
  }

  /// Starts recording crashes of this process.
  func watch() { taskhost_crash_watch(cell, 0) }

  /// Call it before this process exits voluntarily.
  static func leave() { taskhost_crash_leaving() }
}
