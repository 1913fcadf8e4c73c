import StrictText

/// A server's successful answer (RFC 6749 §5.1). Printing it shows nothing of its content.
struct TokenGrant: Undisclosed, Sendable, Equatable {
  /// Longest lifetime that is believed: ten years. More is taken for that.
  static let longestLifetime = 10 * 365 * 86_400.0

  /// Every member of the answer, for the token file.
  let members: [String: JSONValue]
  /// The new refresh token; nil when the server keeps the old one.
  let refreshToken: Secret?
  /// How long the access token is good for, from when it was asked for; nil when the server does not say.
  let lifetime: Duration?

  /// The tokens of the answer, and whatever else of it is secret.
  var secrets: [Secret] {
    ["access_token", "refresh_token"].compactMap { members[$0]?.text.map(Secret.init) } + SecretMembers.find(in: members)
  }

  /// - Returns: nil when the answer has no access token.
  init?(_ members: [String: JSONValue]) {
    guard members["access_token"]?.text != nil else { return nil }
    self.members = members
    refreshToken = members["refresh_token"]?.text.map(Secret.init)
    lifetime = members["expires_in"]?.seconds.flatMap { $0.isNaN ? nil : .seconds(min(max($0, 0), Self.longestLifetime)) }
  }
}
