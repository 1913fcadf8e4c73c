/// A validated account of the settings.
struct Account: Sendable, Equatable {
  let name: String
  let tokenFile: String
  let clientID: String
  let clientSecret: SecretSource?
  let clientAuthentication: ClientAuthentication
  let server: Server
  /// Requested again at each refresh; nil requests the scope that was granted before.
  let scope: String?
  /// Fields that the settings add to the form: `redirect_uri`, `audience`, `resource` and others, in this order.
  let parameters: [Field]
  let headers: [Field]
  /// A file of PEM certificates to trust in addition to the system's; nil: only the system's.
  let certificateAuthorities: String?
  let margin: RefreshMargin
  /// The time limit for one exchange with the server; nil: the account's share of the run's budget.
  let timeout: Duration?
  let allowInsecureHTTP: Bool

  struct Field: Sendable, Equatable {
    /// The minimum length of a key in bytes. A shorter value is a version, a number or a flag; redacting it would make texts useless.
    static let shortestKey = 8

    let name: String
    let value: Secret
    /// Whether the value is a public address.
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

  /// Where the client secret or the private key is stored. It is read in each run, never at launch.
  enum SecretSource: Sendable, Equatable {
    case file(String)
    case environment(String)
  }

  /// How the client authenticates itself (RFC 6749 §2.3.1).
  enum ClientAuthentication: Sendable, Equatable {
    /// With a secret: `client_secret_basic`, unless the server's metadata offers only `client_secret_post`. Without a secret: ``none``.
    case automatic
    case basic
    case post
    /// A public client, which sends only its id.
    case none
    /// An assertion signed with the client's private key, in place of a secret (RFC 7523).
    case privateKey(id: String?, audience: String?)
  }
}

/// How long before its expiry an access token is refreshed.
enum RefreshMargin: Sendable, Equatable {
  /// A share of the lifetime, 1 to 99 percent.
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
