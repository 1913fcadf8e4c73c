import TaskHostClient

/// The output of a run that was asked for a token: where it is, never the token itself.
struct TokenAnswer: Decodable {
  struct Account: Decodable {
    let name: String
    let result: String
    let detail: String?
    let tokenFile: String?
    let tokenMember: String?
    /// RFC 3339; nil if the expiry is not known.
    let expiresAt: String?
  }

  let accounts: [Account]
}
