import StrictText

/// A task request's payload. Without one, the run refreshes all due accounts.
struct RefreshPayload: Sendable, Equatable {
  /// The range of ``minimumValidity``: 1 s to a day.
  static let validities: ClosedRange<Duration> = .seconds(1) ... .seconds(86_400)

  /// The only account to check; nil means all.
  var account: String?
  /// Whether to refresh tokens that are not due; together with ``account``, also those of an account that is signed out.
  var force = false
  /// Whether the run only looks at the token files, and asks no server.
  var look = false
  /// Asks for a token that is valid for so long, whatever the account's margin. The run then answers a question: it succeeds, and its
  /// output says what came of it. Needs ``account``.
  var minimumValidity: Duration?
}

extension RefreshPayload: Codable {
  private enum CodingKeys: String, CodingKey { case account, force, look }

  /// Encodes what the plugin's own requests have.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(account, forKey: .account)
    if force { try container.encode(force, forKey: .force) }
    if look { try container.encode(look, forKey: .look) }
  }

  init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    var table = SettingsTable(value == .null ? .object([:]) : value, at: "", known: ["account", "force", "look", "min_validity"])
    account = table.text("account")
    force = table.flag("force") ?? false
    look = table.flag("look") ?? false
    if let text = table.text("min_validity") {
      minimumValidity = Duration(text: text).flatMap { Self.validities.contains($0) ? $0 : nil }
      if minimumValidity == nil { table.report("min_validity", "must be a time from 1s to 1d, such as 5m") }
    }
    if minimumValidity != nil, account == nil { table.report("min_validity", "needs account; name the account") }
    if look, force || minimumValidity != nil { table.report("look", "asks no server: leave force and min_validity out") }
    if let problem = table.problems.first {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
  }
}
