extension HostConfiguration {
  /// `[control]`: how clients reach the host.
  public struct Control: Sendable, Equatable {
    /// `socket`: path of the Unix socket, at most 107 bytes. Default: `control.sock` in the state directory.
    public var socket: String

    /// `mode` of the socket: permission bits, written in octal.
    public var mode: UInt32 = 0o600

    /// `group` the socket is given to, if any.
    public var group: String?

    /// `listen`: a TCP address that is served besides the socket, to clients with a token.
    public var listen: ListenAddress?

    /// `token_file`: path of the file with the tokens for ``listen``.
    public var tokenFile: String?
  }

  /// A host name or address, and a port.
  public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without its brackets.
    public var host: String

    /// 0 lets the system choose.
    public var port: Int

    /// As written in the configuration: `127.0.0.1:7411`, `[::1]:7411`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Reads `HOST:PORT`, an IPv6 address in brackets; nil for anything else.
    public init?(_ text: String) {
      guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
      var host = String(text[..<colon])
      if host.hasPrefix("["), host.hasSuffix("]") {
        host = String(host.dropFirst().dropLast())
      } else if host.contains(":") {
        return nil
      }
      guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else { return nil }
      self.host = host
      self.port = Int(port)
    }
  }
}
