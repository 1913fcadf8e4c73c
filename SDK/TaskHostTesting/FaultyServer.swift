#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A local port that behaves as if the network were lost, for handlers that open sockets themselves, which a test host cannot intercept.
///
/// Give the handler its address through the plugin's settings, such as `["server": server.url]`. The port stays taken until the last
/// reference is released.
public final class FaultyServer: Sendable {
  /// What happens to a connection.
  public enum Behaviour: Sendable {
    /// The system refuses it at once, as if nothing listened.
    case refusing
    /// The system accepts it and nobody answers, as if the network had failed after connecting.
    case silent
  }

  /// The port on 127.0.0.1.
  public let port: UInt16
  private let socket: Int32

  /// Takes a free port.
  ///
  /// - Throws: ``TestHostError/system(_:)``.
  public init(_ behaviour: Behaviour) throws {
    let socket = Self.newSocket()
    guard socket >= 0 else { throw TestHostError.system("a socket could not be opened: \(String(cString: strerror(errno)))") }
    self.socket = socket
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, length) == 0 && getsockname(socket, address, &length) == 0 ? 0 : errno
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    // Bound but not listening: connections are refused, and no other process gets the port.
    guard code == 0, behaviour == .refusing || listen(socket, 128) == 0 else {
      close(socket)
      throw TestHostError.system("no port of 127.0.0.1 could be opened: \(String(cString: strerror(code == 0 ? errno : code)))")
    }
  }

  deinit { close(socket) }

  /// `http://127.0.0.1:PORT`.
  public var url: String { "http://127.0.0.1:\(port)" }

  private static func newSocket() -> Int32 {
    #if canImport(Glibc)
      Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #else
      Musl.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
    #endif
  }
}
