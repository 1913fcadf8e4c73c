import StrictText

/// A task request's payload. Without one, the run refreshes all due accounts.
struct RefreshPayload: Sendable, Equatable {
  /// The only account to check; nil means all.
  var account: String?
  /// Whether to refresh tokens that are not due; together with ``account``, also those of an account that is signed out.
  var force = false
}

extension RefreshPayload: Decodable {
  init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    var table = SettingsTable(value == .null ? .object([:]) : value, at: "", known: ["account", "force"])
    account = table.text("account")
    force = table.flag("force") ?? false
    if let problem = table.problems.first {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
  }
}
