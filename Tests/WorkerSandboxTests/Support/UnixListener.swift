import TestSupport
import Glibc

/// A Unix socket with a name that accepts connections, until this goes.
final class UnixListener: Sendable {
  let path: String
  private let descriptor: Int32

  /// - Parameter kind: `SOCK_STREAM` or `SOCK_SEQPACKET`.
  init(kind: Int32, path: String) throws {
    let descriptor = socket(AF_UNIX, kind, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(descriptor, 16) == 0
      }
    }
    guard bound else { throw TestFailure("cannot listen at \(path): errno \(errno)") }
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }
}
