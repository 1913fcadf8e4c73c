import StrictText

/// What a request may carry. Without any, all accounts that are due are refreshed.
struct RefreshPayload: Sendable, Equatable {
  /// The one account to look at; nil: all.
  var account: String?
  /// Refresh also what is not due. Together with ``account``, also what was signed out: somebody wants to see it tried.
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
