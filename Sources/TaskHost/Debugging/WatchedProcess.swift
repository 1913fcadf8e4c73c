import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// A process that a client names, so that what it was given ends with it.
enum WatchedProcess {
  /// A descriptor that is readable once the process has ended; the caller closes it.
  static func open(_ process: Int32) throws(RequestRefusal) -> Int32 {
    let descriptor = taskhost_process_descriptor(process)
    guard descriptor < 0 else { return descriptor }
    switch errno {
    case ESRCH, EINVAL, ENOENT:
      throw RequestRefusal(
        .invalid, "process_id: there is no process \(process) on the host's machine: name one that is running", field: "process_id")
    default: throw unwatchable(process, errno)
    }
  }

  static func unwatchable(_ process: Int32, _ code: Int32) -> RequestRefusal {
    RequestRefusal(.unavailable, "process \(process) cannot be watched: \(ErrorNumber(code)): try again later")
  }

  /// Returns when the process has ended, and closes the descriptor.
  static func waitForEnd(_ descriptor: Int32) {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&waited, 1, -1) < 0, errno == EINTR {}
    close(descriptor)
  }
}
