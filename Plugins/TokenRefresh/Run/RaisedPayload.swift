import FoundationEssentials

/// The payload of a ``RefreshEvent``. It contains no secret.
struct RaisedPayload: Sendable, Equatable, Codable {
  let account: String
  let tokenFile: String
  /// When the access token expires, as RFC 3339 text; nil if the file does not say, and after a sign-out.
  var expiresAt: String?
  /// For ``RefreshEvent/signedOut``: the server's OAuth error; nil if the token file is gone.
  var error: String?

  enum CodingKeys: String, CodingKey {
    case account, error
    case tokenFile = "token_file"
    case expiresAt = "expires_at"
  }
}
