/// A socket on which every datagram is an event.
public struct EventSocket: Sendable, Hashable, CustomStringConvertible {
  /// The address of an event socket.
  public enum Address: Sendable, Hashable {
    /// A datagram socket in the file system; its mode controls who may send.
    case unix(ControlSocket)
    /// Datagrams to an IPv4 or IPv6 address of this machine; at port 0 the system chooses.
    case udp(host: String, port: Int)
  }

  /// The longest datagram accepted, in bytes; longer ones are dropped.
  public static let maximumBytes = 32_768

  /// The name of the event that each datagram raises.
  public var event: String
  /// Its address.
  public var address: Address

  /// Creates a socket description.
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
