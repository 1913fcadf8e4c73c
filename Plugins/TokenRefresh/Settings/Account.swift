/// One account of the settings, checked.
struct Account: Sendable, Equatable {
  let name: String
  let tokenFile: String
  let clientID: String
  let clientSecret: SecretSource?
  let clientAuthentication: ClientAuthentication
  let server: Server
  /// Asked for again at each refresh; nil: what was granted before.
  let scope: String?
  /// What the settings add to the form: `redirect_uri`, `audience`, `resource` and others, in this order.
  let parameters: [Field]
  let headers: [Field]
  /// A file of certificates in PEM that are trusted beside the system's; nil: the system's alone.
  let certificateAuthorities: String?
  let margin: RefreshMargin
  /// Longest time for one exchange with the server; nil: the account's share of the run's budget.
  let timeout: Duration?
  let allowInsecureHTTP: Bool

  struct Field: Sendable, Equatable {
    /// A key has at least this many bytes. Fewer are a version, a number, a flag: without them in every text, texts say nothing.
    static let shortestKey = 8

    let name: String
    let value: Secret
    /// Whether the value is an address that everybody may know.
    var isPublic = false

    /// The value, if it may be a key.
    var secret: Secret? { isPublic || value.reveal().utf8.count < Self.shortestKey ? nil : value }
  }

  /// Where the tokens come from.
  enum Server: Sendable, Equatable {
    case tokenEndpoint(EndpointURL)
    /// Its metadata (RFC 8414) names the endpoint.
    case issuer(EndpointURL)

    var address: EndpointURL {
      switch self {
      case .tokenEndpoint(let url), .issuer(let url): url
      }
    }
  }

  /// Where the client secret, or the private key, is kept. It is read at each run, never at launch.
  enum SecretSource: Sendable, Equatable {
    case file(String)
    case environment(String)
  }

  /// How the client says who it is (RFC 6749 §2.3.1).
  enum ClientAuthentication: Sendable, Equatable {
    /// With a secret: `client_secret_basic`, unless the server's metadata offers only `client_secret_post`. Without: ``none``.
    case automatic
    case basic
    case post
    /// A public client: only its id.
    case none
    /// An assertion signed with the client's private key, which stands in the place of the secret (RFC 7523).
    case privateKey(id: String?, audience: String?)
  }
}

/// How long before its end an access token is refreshed.
enum RefreshMargin: Sendable, Equatable {
  /// A share of the lifetime, 1 to 99 hundredths.
  case percent(Int)
  case duration(Duration)

  init?(text: String) {
    if text.hasSuffix("%") {
      guard let percent = Int(text.dropLast()), (1...99).contains(percent), !text.hasPrefix("+") else { return nil }
      self = .percent(percent)
    } else {
      guard let duration = Duration(text: text), duration >= .seconds(1) else { return nil }
      self = .duration(duration)
    }
  }
}
