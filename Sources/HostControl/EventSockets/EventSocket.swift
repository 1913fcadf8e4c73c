/// A socket on which whatever arrives is an event.
public struct EventSocket: Sendable, Hashable, CustomStringConvertible {
  /// Where an event socket is.
  public enum Address: Sendable, Hashable {
    /// A datagram socket in the file system; its mode says who may send.
    case unix(ControlSocket)
    /// Datagrams to an IPv4 or IPv6 address of this machine; at port 0 the system chooses.
    case udp(host: String, port: Int)
  }

  /// The longest datagram that is an event, in bytes; longer ones are dropped.
  public static let maximumBytes = 32_768

  /// The name of the event that each datagram is.
  public var event: String
  /// Where it is.
  public var address: Address

  /// A socket as given.
  public init(event: String, address: Address) {
    self.event = event
    self.address = address
  }

  /// As in the configuration: `unix:/run/taskhost/push.sock`, `udp:[::1]:5140`.
  public var description: String {
    switch address {
    case .unix(let socket): "unix:\(socket.path)"
    case .udp(let host, let port): host.contains(":") ? "udp:[\(host)]:\(port)" : "udp:\(host):\(port)"
    }
  }

  /// Whether other machines may reach it.
  var isOpenToOthers: Bool {
    switch address {
    case .unix: false
    case .udp(let host, _): !host.hasPrefix("127.") && host != "::1"
    }
  }
}
