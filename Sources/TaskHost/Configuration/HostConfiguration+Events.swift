extension HostConfiguration {
  /// `[events.NAME]`: a socket on which whatever arrives is the event NAME.
  public struct EventSocket: Sendable, Equatable {
    /// `listen`: where the socket is.
    public var listen: Listen

    /// `mode` of a Unix socket: permission bits, written in octal. Who may write to it may send events.
    public var mode: UInt32 = 0o600

    /// `group` a Unix socket is given to, if any.
    public var group: String?

    /// Where an event socket is.
    public enum Listen: Sendable, Hashable, CustomStringConvertible {
      /// A datagram socket at that path, at most 107 bytes.
      case unix(String)
      /// Datagrams to that address and port.
      case udp(ListenAddress)

      /// As it is written in the configuration, the path absolute.
      public var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .udp(let address): "udp:\(address)"
        }
      }
    }
  }
}
