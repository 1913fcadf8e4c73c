import Glibc

/// A service manager's socket, as systemd has it.
public final class ManagerSocket: Sendable {
  /// What stands in `NOTIFY_SOCKET`.
  public let place: String
  private let descriptor: Int32

  struct Failure: Error { let code: Int32 }

  /// Opens the socket at a path, or at `@` and an abstract name.
  public init(_ place: String) throws {
    self.place = place
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(place.utf8)
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(2 + bytes.count)
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
    }
    guard isBound else { throw Failure(code: errno) }
  }

  deinit { close(descriptor) }

  /// The next message; nil if none comes in time.
  public func next(within seconds: Double = 60) -> String? {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, Int32(seconds * 1000)) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }
}
