import StrictText

/// How clients on other machines, or in other network namespaces, reach the host: over TCP, with tokens.
public struct RemoteAccess: Sendable {
  /// Connections at once over TCP. They have places of their own, so none displaces a client of the control socket.
  public static let maximumConnections = 128
  /// How many of these are only for clients that have shown a valid token.
  public static let reservedConnections = 64

  /// A name or an address to listen on.
  public var host: String
  /// 0 lets the system choose.
  public var port: Int
  /// The file with the tokens.
  public var tokenFile: String
  /// Names with a dot that clients may call the host by, besides `*.localhost` and the numbers of addresses.
  public var names: [String]
  /// The certificate of a port that speaks TLS; nil if nothing is encrypted.
  public var certificate: CertificateKeeper?

  /// Creates a description.
  public init(host: String, port: Int, tokenFile: String, names: [String] = [], certificate: CertificateKeeper? = nil) {
    (self.host, self.port, self.tokenFile, self.names, self.certificate) = (host, port, tokenFile, names, certificate)
  }

  /// `127.0.0.1:7411`
  var address: String { HostPortText.text(host, port) }
}

/// Why the host cannot listen on TCP.
public struct RemoteAccessError: Error, Sendable, CustomStringConvertible {
  /// What was seen, and what to do.
  public let description: String

  init(_ access: RemoteAccess, _ observed: String) { description = "control.listen \(access.address): \(observed)" }
}
