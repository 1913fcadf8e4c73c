import TestSupport
import CTaskHostSystem
import Glibc
import LauncherConformance

/// Waits for the end of a process that need not be a child.
final class ProcessWatch: Sendable {
  private let process: pid_t
  private let descriptor: Int32

  /// From now on the number is this process's, whatever becomes of it.
  init(_ process: pid_t) throws {
    self.process = process
    descriptor = taskhost_process_descriptor(process)
    guard descriptor >= 0 else { throw TestFailure("there is no process \(process): \(String(cString: strerror(errno)))") }
  }

  deinit { close(descriptor) }

  /// Waits until it has ended; throws after `seconds`.
  func ended(within seconds: Int32 = 60, _ what: String = "a process") async throws {
    try await onThread { [self] in
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, seconds * 1000) > 0 else { throw TestFailure("\(what) (\(process)) has not ended in \(seconds) s") }
    }
  }
}
