import StrictText

/// What a token file calls things: this plugin's words, or those of the library that wrote it.
///
/// google-auth (`token`, `expiry`) and Go's `oauth2.Token` (`access_token`, `expiry`) read their own words only, so their files keep them.
struct TokenFileWords: Sendable, Equatable {
  let accessToken: String
  let expiry: String

  init(_ members: [String: JSONValue]) {
    accessToken = members["access_token"] == nil && members["token"] != nil ? "token" : "access_token"
    expiry = members["expires_at"] == nil && (members["expiry"] != nil || accessToken == "token") ? "expiry" : "expires_at"
  }

  /// Whether another library reads the file: then it gets no member that it does not know.
  var isForeign: Bool { expiry == "expiry" }
}
