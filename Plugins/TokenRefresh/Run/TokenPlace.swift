/// Where an account's access token is, for a caller who asked: never the token itself.
struct TokenPlace: Sendable, Equatable {
  /// The token file's absolute path.
  let file: String
  /// The file's member that has the access token: libraries name it differently.
  let member: String
}
