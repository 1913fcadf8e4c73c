import Glibc
import Testing

/// The file of a socket whose process is gone.
enum StaleSocket {
  /// Leaves one.
  static func leave(at path: String, _ kind: Int32) throws {
    let descriptor = socket(AF_UNIX, kind, 0)
    defer { close(descriptor) }
    try bind(descriptor, to: path)
  }

  /// Binds a socket to a path.
  static func bind(_ descriptor: Int32, to path: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    try #require(bound == 0)
  }
}
