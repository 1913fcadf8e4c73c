import StrictText

/// A server's successful answer (RFC 6749 §5.1). Printing it shows none of its content.
struct TokenGrant: Undisclosed, Sendable, Equatable {
  /// The maximum lifetime: ten years. Longer ones are reduced to this.
  static let longestLifetime = 10 * 365 * 86_400.0

  /// Every member of the answer, for the token file.
  let members: [String: JSONValue]
  /// The new refresh token; nil if the old one stays valid.
  let refreshToken: Secret?
  /// The access token's lifetime, counted from the request; nil if the server does not say.
  let lifetime: Duration?

  /// The tokens and all other secrets in the answer.
  var secrets: [Secret] {
    ["access_token", "refresh_token"].compactMap { members[$0]?.text.map(Secret.init) } + SecretMembers.find(in: members)
  }

  /// - Returns: nil if the answer has no access token.
  init?(_ members: [String: JSONValue]) {
    guard members["access_token"]?.text != nil else { return nil }
    self.members = members
    refreshToken = members["refresh_token"]?.text.map(Secret.init)
    lifetime = members["expires_in"]?.seconds.flatMap { $0.isNaN ? nil : .seconds(min(max($0, 0), Self.longestLifetime)) }
  }
}
