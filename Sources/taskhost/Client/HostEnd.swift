import CTaskHostSystem
import Glibc

/// A descriptor of the host's process, to wait for its end: it ends after it has closed its socket, store and lock.
final class HostEnd: Sendable {
  private let descriptor: Int32

  /// - Parameters:
  ///   - process: The process id that the host tells.
  ///   - peer: The process that opened the host's socket, as the kernel numbers it here. If it is another one, the host is in another PID
  ///     namespace or was handed its socket, and `process` may be anybody.
  /// - Returns: nil if the process cannot be watched from here.
  init?(process: Int64, peer: Int32) {
    guard peer > 0, process == Int64(peer) else { return nil }
    descriptor = taskhost_process_descriptor(peer)
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Blocks until the process has ended.
  func wait() {
    var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&end, 1, -1) < 0, errno == EINTR {}
  }
}
