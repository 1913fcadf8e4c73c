import StrictText

/// What a request may say: one rule instead of all, and not to remove anything.
struct CleanupPayload: Decodable, Sendable, Equatable {
  /// The only rule to carry out; nil means all.
  var rule: String?
  /// True makes every rule a dry run. False changes nothing: a rule that the settings make a dry run stays one.
  var dryRun = false

  init(rule: String? = nil, dryRun: Bool = false) {
    self.rule = rule
    self.dryRun = dryRun
  }

  init(from decoder: any Decoder) throws {
    try self.init(try JSONValue(from: decoder))
  }

  /// - Throws: ``PayloadError`` if it is malformed.
  init(_ value: JSONValue) throws(PayloadError) {
    if value == .null { return }
    guard case .object(let members) = value else { throw PayloadError(reason: "must be an object, not \(value.kindName)") }
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      switch (key, value) {
      case ("rule", .null), ("dry_run", .null): break
      case ("rule", .string(let name)): rule = name
      case ("dry_run", .bool(let flag)): dryRun = flag
      case ("rule", let other): throw PayloadError(reason: "has a rule that is \(other.kindName); write its name")
      case ("dry_run", let other): throw PayloadError(reason: "has a dry_run that is \(other.kindName); write true or false")
      default:
        let hint =
          NearestName.nearest(to: key, among: ["rule", "dry_run"]).map { "did you mean \"\($0)\"?" } ?? "known are rule and dry_run"
        throw PayloadError(reason: "has an unknown key \"\(key)\"; \(hint)")
      }
    }
  }

  /// The selected rules, as dry runs if requested.
  func apply(to rules: [Rule]) throws(PayloadError) -> [Rule] {
    var chosen = rules
    if let rule {
      chosen = rules.filter { $0.name == rule }
      if chosen.isEmpty {
        let names = rules.map(\.name)
        let hint =
          NearestName.nearest(to: rule, among: names).map { "did you mean \"\($0)\"?" } ?? "there are \(names.joined(separator: ", "))"
        throw PayloadError(reason: "names no rule: \"\(rule)\"; \(hint)")
      }
    }
    for index in chosen.indices where dryRun { chosen[index].dryRun = true }
    return chosen
  }
}
