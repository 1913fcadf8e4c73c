import FoundationEssentials

/// How one request authenticates the client (RFC 6749 §2.3).
enum ClientCredential: Sendable {
  case none
  case header(Secret)
  case form(Secret)
  /// A signed assertion in the form (RFC 7523).
  case assertion(Secret)

  /// - Parameters:
  ///   - secret: The client's secret, or its private key; nil for a public client.
  ///   - secretInBody: Whether a secret goes into the form if the settings leave that open.
  ///   - endpoint: The audience of an assertion, unless the settings name another.
  /// - Throws: ``ExchangeFailure/misconfigured(reason:)`` if the private key cannot sign.
  init(_ account: Account, secret: Secret?, secretInBody: Bool, endpoint: EndpointURL, now: Date) throws(ExchangeFailure) {
    guard let secret else {
      self = .none
      return
    }
    switch account.clientAuthentication {
    case .none: self = .none
    case .post: self = .form(secret)
    case .basic: self = Self.basic(account, secret)
    case .automatic: self = secretInBody ? .form(secret) : Self.basic(account, secret)
    case .privateKey(let id, let audience):
      do {
        self = .assertion(
          try ClientAssertion.make(
            clientID: account.clientID, audience: audience ?? endpoint.text, key: secret, keyID: id, now: now))
      } catch let unusable as ClientAssertion.Unusable {
        throw .misconfigured(reason: "private_key_file \(unusable.reason)")
      } catch {
        throw .misconfigured(reason: "private_key_file: the assertion cannot be signed")
      }
    }
  }

  private static func basic(_ account: Account, _ secret: Secret) -> ClientCredential {
    let credentials = FormEncoding.encode(account.clientID, space: "%20") + ":" + FormEncoding.encode(secret.reveal(), space: "%20")
    return .header(Secret("Basic " + Data(credentials.utf8).base64EncodedString()))
  }

  /// The parts that must not be shown, including the part of a header that a server may echo alone.
  var secrets: [Secret] {
    switch self {
    case .none: []
    case .header(let value): [value, Secret(String(value.reveal().dropFirst("Basic ".count)))]
    case .form(let secret), .assertion(let secret): [secret]
    }
  }
}
