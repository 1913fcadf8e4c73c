import FoundationEssentials

/// A refresh request (RFC 6749 §6): the form, and the header that authenticates the client. Printing it shows nothing of its content.
struct TokenRequest: Sendable {
  let body: String
  /// The value of `Authorization`; nil when the client is not authenticated by a header.
  let authorization: String?

  /// - Parameter secretInBody: For an automatic choice, whether a secret goes into the form.
  init(_ account: Account, refreshToken: Secret, clientSecret: Secret?, secretInBody: Bool) {
    var fields = [("grant_type", "refresh_token"), ("refresh_token", refreshToken.reveal())]
    if let scope = account.scope { fields.append(("scope", scope)) }
    let inBody =
      switch account.clientAuthentication {
      case .automatic: secretInBody
      case .post: true
      case .basic, .none: false
      }
    if let clientSecret, account.clientAuthentication != .none, !inBody {
      let credentials = FormEncoding.encode(account.clientID) + ":" + FormEncoding.encode(clientSecret.reveal())
      authorization = "Basic " + Data(credentials.utf8).base64EncodedString()
    } else {
      fields.append(("client_id", account.clientID))
      if let clientSecret, inBody { fields.append(("client_secret", clientSecret.reveal())) }
      authorization = nil
    }
    body = FormEncoding.body(fields)
  }
}

extension TokenRequest: CustomStringConvertible, CustomReflectable {
  var description: String { "TokenRequest [redacted]" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
