import StrictText

/// A task request's payload. It may select one rule, and ask for a dry run.
struct CleanupPayload: Decodable, Sendable, Equatable {
  /// The only rule to carry out; nil means all.
  var rule: String?
  /// True makes every rule a dry run. False changes nothing: a rule that the settings make a dry run stays one.
  var dryRun = false
}

extension CleanupPayload {
  init(from decoder: any Decoder) throws {
    try self.init(try JSONValue(from: decoder))
  }

  /// - Throws: ``PayloadError`` if it is malformed.
  init(_ value: JSONValue) throws(PayloadError) {
    var fields = SettingsTable(value == .null ? .object([:]) : value.withoutNulls, at: "", known: ["rule", "dry_run"])
    rule = fields.string("rule")
    dryRun = fields.flag("dry_run") ?? false
    if let problem = fields.problems.first { throw PayloadError(reason: "is malformed: \(problem)") }
  }

  /// The selected rules, as dry runs if requested.
  func apply(to rules: [Rule]) throws(PayloadError) -> [Rule] {
    var chosen = rules
    if let rule {
      chosen = rules.filter { $0.name == rule }
      if chosen.isEmpty {
        throw PayloadError(reason: "names no rule: \"\(rule)\"\(NearestName.hint(for: rule, among: rules.map(\.name)))")
      }
    }
    for index in chosen.indices where dryRun { chosen[index].dryRun = true }
    return chosen
  }
}

struct PayloadError: Error, CustomStringConvertible, Equatable {
  let reason: String

  var description: String { "the payload \(reason)" }
}
