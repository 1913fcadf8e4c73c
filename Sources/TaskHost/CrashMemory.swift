import CCrashCell
import Glibc
import TaskModel
import WorkerProcesses

/// What a host that dies leaves to the next: which run it served, the signal or exit, the stack.
///
/// A file of the state directory that is mapped: what the dying process writes there is the kernel's to keep. A host that is killed, or
/// whose machine loses power, leaves nothing.
final class CrashMemory: Sendable {
  /// What the host before left; nil: nothing.
  let previous: CrashReport?
  // reason: shared memory that is made to be written by a dying process; never unmapped
  private nonisolated(unsafe) let cell: UnsafeMutablePointer<taskhost_crash_cell>

  /// Opens the file, takes what is in it, and empties it.
  init(_ path: String) throws(HostFailure) {
    let size = MemoryLayout<taskhost_crash_cell>.size
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { close(descriptor) }
    // Its blocks are there before it is needed: a full disk would make the write a fault.
    guard ftruncate(descriptor, size) == 0, posix_fallocate(descriptor, 0, size) == 0,
      let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { throw Self.failure(path) }
    cell = memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1)
    previous = cell.pointee.version == TASKHOST_CRASH_VERSION ? CrashReport(cell) : nil
    memset(memory, 0, size)
  }

  /// From now on the death of this process is noted.
  func watch() { taskhost_crash_watch(cell) }

  /// This process ends because it wants to.
  static func leave() { taskhost_crash_leaving() }

  private static func failure(_ path: String) -> HostFailure {
    HostFailure(
      .configuration, "crash memory \(path): \(String(cString: strerror(errno))): check the owner and mode of the state directory")
  }
}
