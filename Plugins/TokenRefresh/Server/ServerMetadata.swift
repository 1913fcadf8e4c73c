import StrictText

/// An authorization server's metadata (RFC 8414), checked against the issuer that was asked.
struct ServerMetadata: Sendable, Equatable {
  let tokenEndpoint: EndpointURL
  /// `token_endpoint_auth_methods_supported`; nil if the server omits it, which means `client_secret_basic`.
  let authenticationMethods: [String]?

  /// The possible addresses of the metadata: RFC 8414 §3, then OpenID Connect Discovery, as RFC 8414 §5 allows.
  static func addresses(of issuer: EndpointURL) -> [String] {
    let path = issuer.path.hasSuffix("/") ? String(issuer.path.dropLast()) : issuer.path
    return [
      "\(issuer.origin)/.well-known/oauth-authorization-server\(path)",
      "\(issuer.origin)\(path)/.well-known/openid-configuration",
    ]
  }

  /// - Throws: ``ExchangeFailure/misconfigured(reason:)`` if the issuer differs (then RFC 8414 §3.3 forbids any use of the answer), or the
  ///   endpoint is missing or cannot be trusted.
  init(_ members: [String: JSONValue], issuer: EndpointURL, allowInsecureHTTP: Bool) throws(ExchangeFailure) {
    guard members["issuer"]?.text == issuer.text else {
      // Shown whole, so that the operator can copy it into the settings: no secret was sent to get it.
      let seen = members["issuer"]?.text.map { "\"\(Redactor().clean($0))\"" } ?? "none"
      throw .misconfigured(
        reason: "the metadata of \(issuer.text) names another issuer, \(seen); set issuer exactly as the server writes it")
    }
    guard let endpoint = members["token_endpoint"]?.text else {
      throw .misconfigured(reason: "the metadata of \(issuer.display) names no token_endpoint; set token_endpoint instead of issuer")
    }
    do {
      tokenEndpoint = try EndpointURL(endpoint, allowInsecureHTTP: allowInsecureHTTP)
    } catch {
      throw .misconfigured(reason: "the token_endpoint in the metadata of \(issuer.display) \(Redactor().clean(error.reason))")
    }
    if case .array(let methods)? = members["token_endpoint_auth_methods_supported"] {
      authenticationMethods = methods.compactMap(\.text)
    } else {
      authenticationMethods = nil
    }
  }

  /// Whether a secret goes into the body, if the settings leave that open.
  var wantsSecretInBody: Bool {
    guard let authenticationMethods else { return false }
    return !authenticationMethods.contains("client_secret_basic") && authenticationMethods.contains("client_secret_post")
  }
}
