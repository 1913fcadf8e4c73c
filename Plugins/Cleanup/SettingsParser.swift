import StrictText

/// Turns the written settings into rules, and collects all problems.
struct SettingsParser {
  private var problems: [String] = []
  private let protected: ProtectedDirectories

  private static let settingsKeys = ["rules", "batch_size", "dry_run"]
  private static let ruleKeys = [
    "name", "directory", "glob", "recursive", "max_age", "max_total_bytes", "max_count", "keep_newest", "min_age", "exclude",
    "age_by", "remove_empty_directories", "if_unsure", "dry_run",
  ]

  private init(protected: ProtectedDirectories) { self.protected = protected }

  /// - Parameter protected: The directories that no rule may name.
  /// - Throws: ``SettingsProblems`` with every problem.
  static func parse(_ value: JSONValue, protected: ProtectedDirectories) throws(SettingsProblems) -> CleanupSettings {
    var parser = SettingsParser(protected: protected)
    let settings = parser.settings(value)
    guard parser.problems.isEmpty else { throw SettingsProblems(parser.problems) }
    return settings
  }

  private mutating func settings(_ value: JSONValue) -> CleanupSettings {
    var fields = SettingsTable(value.withoutNulls, at: "settings", known: Self.settingsKeys)
    let dryRun = fields.flag("dry_run") ?? false
    let batchSize = fields.integer("batch_size", in: 1...10_000) ?? CleanupSettings.defaultBatchSize
    let written = fields.array("rules")
    problems += fields.problems
    if written.count > CleanupSettings.maximumRules {
      problems.append("rules: at most \(CleanupSettings.maximumRules) are supported, not \(written.count); combine some")
    }
    let rules = written.enumerated().compactMap { rule($1, at: "rules[\($0)]", dryRun: dryRun) }
    var names: Set<String> = []
    for rule in rules where !names.insert(rule.name).inserted {
      problems.append("rules: two are named \"\(rule.name)\"; give each a unique name")
    }
    return CleanupSettings(rules: rules, batchSize: batchSize)
  }

  private mutating func rule(_ value: JSONValue, at place: String, dryRun: Bool) -> Rule? {
    var fields = SettingsTable(value.withoutNulls, at: place, known: Self.ruleKeys)
    guard case .object = value else {
      problems += fields.problems
      return nil
    }
    defer { problems += fields.problems }
    let directory = directory(&fields)
    let name = fields.string("name") ?? directory.map { String($0.suffix(128)) }
    if let name, name.isEmpty || name.utf8.count > 128 || name.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
      fields.report("name", "must be 1 to 128 bytes without control characters")
    }
    let glob = fields.requiredText("glob").flatMap { Self.readGlob($0, "glob", &fields) }
    let mustRecurse = glob.map { $0.hasSlash } ?? false
    let recursive = fields.flag("recursive")
    if mustRecurse, recursive == false {
      fields.report("recursive", "is false, but the glob \"\(glob?.text ?? "")\" reaches into subdirectories; drop one of the two")
    }
    let removeEmpty = fields.flag("remove_empty_directories") ?? false
    if removeEmpty, !(recursive ?? mustRecurse) {
      fields.report("remove_empty_directories", "needs a recursive rule; add recursive = true or use a glob such as \"**/*\"")
    }
    let exclude = fields.strings("exclude").enumerated().compactMap { Self.readGlob($1, "exclude[\($0)]", &fields) }
    let limits = limits(&fields)
    let ageBy = ageBy(&fields)
    let removesUnsure = removesUnsure(&fields)
    let ruleDryRun = fields.flag("dry_run") ?? false
    guard let name, let directory, let glob else { return nil }
    return Rule(
      name: name, directory: directory, glob: glob, recursive: recursive ?? mustRecurse, exclude: exclude, limits: limits, ageBy: ageBy,
      removeEmptyDirectories: removeEmpty, dryRun: dryRun || ruleDryRun, removesUnsure: removesUnsure)
  }

  private func limits(_ fields: inout SettingsTable) -> Limits {
    var limits = Limits()
    let before = fields.problems.count
    limits.maxAge = fields.duration("max_age")
    limits.maxTotalBytes = fields.byteCount("max_total_bytes")
    limits.maxCount = fields.integer("max_count", in: 0...Int(Int32.max))
    let isUnlimited = limits.maxAge == nil && limits.maxTotalBytes == nil && limits.maxCount == nil
    if isUnlimited && fields.problems.count == before {
      fields.report(nil, "no limit: set max_age, max_total_bytes or max_count; otherwise nothing would ever be removed")
    }
    limits.keepNewest = fields.integer("keep_newest", in: 0...Int(Int32.max)) ?? 0
    limits.minAge = fields.duration("min_age") ?? .zero
    return limits
  }

  private func directory(_ fields: inout SettingsTable) -> String? {
    guard let written = fields.requiredText("directory") else { return nil }
    switch protected.check(written) {
    case .success(let path): return path
    case .failure(let refusal):
      fields.report("directory", refusal.description)
      return nil
    }
  }

  private static func readGlob(_ text: String, _ key: String, _ fields: inout SettingsTable) -> Glob? {
    do {
      return try Glob(text)
    } catch {
      fields.report(key, error.description)
      return nil
    }
  }

  private func ageBy(_ fields: inout SettingsTable) -> AgeTimes {
    guard let written = fields.value("age_by") else { return .all }
    var times: AgeTimes = []
    for (index, name) in fields.strings("age_by").enumerated() {
      if let known = AgeTimes.names.first(where: { $0.name == name }) {
        times.insert(known.times)
      } else {
        fields.report("age_by[\(index)]", "is \"\(name)\", but must be \"mtime\", \"atime\", \"ctime\" or \"btime\"")
      }
    }
    if case .array(let values) = written, values.isEmpty { fields.report("age_by", "names no time; leave it out for all four") }
    return times
  }

  private func removesUnsure(_ fields: inout SettingsTable) -> Bool {
    switch fields.string("if_unsure") {
    case nil, "keep"?: return false
    case "remove"?: return true
    case .some(let other):
      fields.report("if_unsure", "is \"\(other)\", but must be \"keep\" or \"remove\"")
      return false
    }
  }
}

extension SettingsTable {
  /// A hundred years in milliseconds.
  private static let longestDuration: Int64 = 100 * 366 * 86_400_000

  mutating func duration(_ key: String) -> Duration? {
    guard let text = string(key) else { return nil }
    let milliseconds = try? DurationFormat.milliseconds(of: text[...], units: DurationFormat.unitsWithWeeks.dropLast())
    if let milliseconds, milliseconds <= Self.longestDuration { return .milliseconds(milliseconds) }
    report(key, "\"\(text)\" is not a duration; write whole numbers with s, m, h, d or w, such as \"7d\"")
    return nil
  }

  mutating func byteCount(_ key: String) -> UInt64? {
    guard let text = string(key) else { return nil }
    if let value = try? ByteCountFormat.bytes(of: text) { return UInt64(value) }
    report(key, "\"\(text)\" is not a size; write a whole number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as \"1GiB\"")
    return nil
  }
}

extension JSONValue {
  /// The object without its null members, which count as absent.
  var withoutNulls: JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.value != .null })
  }
}
