/// Why an exchange gave no new token. Every text is free of secrets.
enum ExchangeFailure: Error, Equatable {
  /// Trouble that may pass: the network, an overloaded server.
  case temporary(reason: String, retryAfter: Duration? = nil)
  /// The server's final word: the tokens, or the client, are not valid. `code` is the OAuth error, or the HTTP status.
  case rejected(code: String, reason: String)
  /// Something only an operator can put right.
  case misconfigured(reason: String)
}
