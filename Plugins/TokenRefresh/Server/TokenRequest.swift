/// A refresh request (RFC 6749 §6): the form and its headers. Printing it shows none of its content.
struct TokenRequest: Undisclosed, Sendable {
  let body: String
  /// `Authorization`, then the headers from the settings.
  let headers: [(name: String, value: String)]

  init(_ account: Account, refreshToken: Secret, credential: ClientCredential) {
    var fields = [("grant_type", "refresh_token"), ("refresh_token", refreshToken.reveal())]
    var headers: [(name: String, value: String)] = []
    if let scope = account.scope { fields.append(("scope", scope)) }
    switch credential {
    case .none: fields.append(("client_id", account.clientID))
    case .header(let value): headers.append(("Authorization", value.reveal()))
    case .form(let secret): fields += [("client_id", account.clientID), ("client_secret", secret.reveal())]
    case .assertion(let assertion):
      fields += [
        ("client_id", account.clientID), ("client_assertion_type", ClientAssertion.type), ("client_assertion", assertion.reveal()),
      ]
    }
    fields += account.parameters.map { ($0.name, $0.value.reveal()) }
    body = FormEncoding.body(fields)
    self.headers = headers + account.headers.map { ($0.name, $0.value.reveal()) }
  }
}
