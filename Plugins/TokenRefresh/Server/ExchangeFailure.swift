/// Why an exchange gave no new token. No text contains a secret.
enum ExchangeFailure: Error, Equatable {
  /// A temporary failure, such as of the network or an overloaded server.
  case temporary(reason: String, retryAfter: Duration? = nil)
  /// The server's final refusal: the tokens or the client are not valid. `code` is the OAuth error or the HTTP status.
  case rejected(code: String, reason: String)
  /// Only an operator can correct it.
  case misconfigured(reason: String)
}
