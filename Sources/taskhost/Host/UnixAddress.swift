import Glibc

/// The address of a Unix socket, as a variable of a service manager or a path names it.
struct UnixAddress: Sendable {
  private var address = sockaddr_un()
  private let length: socklen_t

  /// - Parameter place: A path, or `@` and an abstract name.
  /// - Returns: Nil if it is longer than Linux takes.
  init?(_ place: String) {
    var bytes = Array(place.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else {
      return nil
    }
    // An abstract name begins with a zero byte, and ends where the address does.
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    length = socklen_t(start + bytes.count)
  }

  /// Calls `body` with the address as the system's calls take it.
  func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}
