import StrictText

/// Members of a JSON object that their names mark as secrets, in token files and servers' answers, at any depth.
///
/// A token file may contain more of them than a refresh needs, such as `id_token` or `client_secret`. An answer that refuses a refresh may
/// still contain a new token.
enum SecretMembers {
  /// The maximum number of secrets in one object: real ones have four.
  private static let most = 64
  /// Shorter values are flags and versions.
  private static let shortest = Account.Field.shortestKey
  private static let names = ["token", "secret", "password", "assertion", "key", "credential"]
  /// Endings of names that only describe a secret: `token_type`, `token_uri`, `key_id`.
  private static let harmless = ["_type", "_uri", "_url", "_endpoint", "_id", "_at", "_in"]

  static func find(in members: [String: JSONValue]) -> [Secret] {
    var found: [Secret] = []
    collect(members, into: &found)
    return found
  }

  private static func collect(_ members: [String: JSONValue], into found: inout [Secret]) {
    for (name, value) in members { collect(value, isSecret: isSecret(name.lowercased()), into: &found) }
  }

  /// - Parameter isSecret: Whether the name of the member marks its texts as secrets, also those of an array.
  private static func collect(_ value: JSONValue, isSecret: Bool, into found: inout [Secret]) {
    guard found.count < most else { return }
    switch value {
    case .object(let inner): collect(inner, into: &found)
    case .array(let values): for value in values { collect(value, isSecret: isSecret, into: &found) }
    case .string(let text) where isSecret && text.utf8.count >= shortest: found.append(Secret(text))
    default: break
    }
  }

  private static func isSecret(_ name: String) -> Bool {
    names.contains { name.contains($0) } && !harmless.contains { name.hasSuffix($0) }
  }
}
