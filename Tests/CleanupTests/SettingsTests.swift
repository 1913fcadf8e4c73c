import FoundationEssentials
import StrictText
import TaskHostSDK
import Testing

@testable import Cleanup

@Suite("Settings") struct SettingsTests {
  private func parse(_ json: String) throws -> CleanupSettings {
    try JSONDecoder().decode(CleanupSettings.self, from: Data(json.utf8))
  }

  private func problems(_ json: String) -> [String] {
    (#expect(throws: SettingsProblems.self) { try parse(json) })?.problems ?? []
  }

  @Test("every key is read")
  func complete() throws {
    let settings = try parse(
      """
      {"batch_size": 10, "rules": [{"name": "logs", "directory": "/var/log/app/", "glob": "**/*.log", "max_age": "7d", "max_total_bytes": "1GiB",
        "max_count": 100, "keep_newest": 3, "min_age": "1h", "exclude": ["audit/**"], "age_by": ["mtime", "btime"], "remove_empty_directories": true,
        "if_unsure": "remove", "dry_run": true}]}
      """)
    let limits = Limits(maxAge: .seconds(604_800), maxTotalBytes: 1 << 30, maxCount: 100, keepNewest: 3, minAge: .seconds(3600))
    let rule = Rule(
      name: "logs", directory: "/var/log/app", glob: try Glob("**/*.log"), recursive: true, exclude: [try Glob("audit/**")], limits: limits,
      ageBy: [.modified, .born], removeEmptyDirectories: true, dryRun: true, removesUnsure: true)
    #expect(settings == CleanupSettings(rules: [rule], batchSize: 10))
  }

  @Test("defaults: named by its directory, not recursive, no guard, and no rules at all are fine")
  func defaults() throws {
    let rule = try #require(try parse(#"{"rules": [{"directory": "/var/tmp/x", "glob": "*.log", "max_count": 0}]}"#).rules.first)
    #expect(rule.name == "/var/tmp/x")
    #expect(!rule.recursive && !rule.dryRun && !rule.removeEmptyDirectories && !rule.removesUnsure && rule.exclude.isEmpty)
    #expect(rule.ageBy == .all)
    #expect(rule.limits == Limits(maxCount: 0))
    #expect(try parse("{}").rules.isEmpty)
  }

  @Test("dry_run beside the rules is for all of them")
  func globalDryRun() throws {
    #expect(
      try parse(#"{"dry_run": true, "rules": [{"directory": "/tmp/x", "glob": "*", "max_count": 0, "dry_run": false}]}"#).rules[0].dryRun)
  }

  @Test("an unknown key is refused with the nearest known one")
  func unknownKeys() {
    let found = problems(#"{"rulez": [], "rules": [{"directory": "/tmp/x", "glob": "*", "max_agee": "7d", "max_count": 1, "colour": 1}]}"#)
    #expect(found.contains(#"settings: unknown key "rulez"; did you mean "rules"?"#))
    #expect(found.contains(#"rules[0]: unknown key "max_agee"; did you mean "max_age"?"#))
    #expect(found.contains { $0.hasPrefix(#"rules[0]: unknown key "colour"; there are: name, directory"#) })
  }

  @Test("every problem is reported at once")
  func allTogether() {
    let found = problems(
      #"{"rules": [{"directory": "var", "glob": "{a}", "max_age": 7}, {"glob": "*"}, 5, {"directory": "/etc", "glob": "*", "max_total_bytes": "1 GB"}]}"#
    )
    for part in [
      "is not absolute", "brace", "max_age: must be a string, not a number", "rules[1].directory: is missing", "rules[1]: no limit",
      "rules[2]: must be an object, not a number", "\"/etc\" belongs to the system", "\"1 GB\" is not a size",
    ] {
      #expect(found.contains { $0.contains(part) }, "nothing says: \(part)\n\(found.joined(separator: "\n"))")
    }
  }

  @Test(
    "a rule that contradicts itself is refused",
    arguments: [
      (#""glob": "a/*", "recursive": false, "max_count": 1"#, "reaches into subdirectories"),
      (#""glob": "*", "max_count": 1, "if_unsure": "delete""#, "must be \"keep\" or \"remove\""),
      (#""glob": "*", "remove_empty_directories": true, "max_count": 1"#, "needs a recursive rule"),
      (#""glob": "*", "keep_newest": 5"#, "no limit"),
      (#""glob": "*", "max_count": -1"#, "is -1, must be 0 to"),
      (#""glob": "*", "max_count": 1.5"#, "must be a whole number"),
      (#""glob": "*", "max_count": 1, "exclude": "x""#, "must be an array of strings"),
      (#""glob": "*", "max_count": 1, "name": """#, "must be 1 to 128 bytes"),
    ])
  func contradictions(_ members: String, _ reason: String) {
    let found = problems(#"{"rules": [{"directory": "/tmp/x", \#(members)}]}"#)
    #expect(found.count == 1 && found[0].contains(reason), "\(found)")
  }

  @Test("two rules of one name are refused")
  func duplicateNames() {
    let rule = #"{"directory": "/tmp/x", "glob": "*", "max_count": 1}"#
    #expect(problems(#"{"rules": [\#(rule), \#(rule)]}"#) == [#"rules: two are named "/tmp/x"; give each a unique name"#])
  }

  @Test("the largest report of the largest settings fits into an output")
  func outputSize() throws {
    let rule = Rule(
      name: String(repeating: "\"", count: 128), directory: "/tmp/x", glob: try Glob("*"), recursive: false, exclude: [],
      limits: .everything,
      removeEmptyDirectories: false, dryRun: false)
    var report = RuleReport(named: rule.name, dryRun: false)
    report.problem = String(repeating: "\\", count: 5000)
    for _ in 0..<10 { report.note(String(repeating: "\\", count: 5000)) }
    report.bytesRemoved = .max
    report.removed = 0
    let plain = RuleReport(named: rule.name, dryRun: true)
    let whole = CleanupReport(rules: [report] + Array(repeating: plain, count: CleanupSettings.maximumRules - 1))
    #expect(try whole.encoded().count <= 65_536)
    var many = Array(repeating: report, count: CleanupSettings.maximumRules)
    for index in many.indices { many[index].bytesRemoved = 1 << 40 }
    #expect(try CleanupReport(rules: many).encoded().count <= 65_536)
  }

  @Test("age_by knows four times, and at least one is named")
  func ageBy() {
    let found = problems(
      #"{"rules": [{"directory": "/tmp/x", "glob": "*", "max_count": 1, "age_by": ["mtime", "ftime"]}, {"directory": "/tmp/y", "glob": "*", "max_count": 1, "age_by": []}]}"#
    )
    #expect(found.contains(#"rules[0].age_by[1]: is "ftime", but must be "mtime", "atime", "ctime" or "btime""#))
    #expect(found.contains("rules[1].age_by: names no time; leave it out for all four"))
  }

  private func feasibility(_ rules: [Rule], _ entitlement: @escaping (String) throws -> DirectoryEntitlement) -> [String] {
    do {
      try RuleFeasibility.check(rules, entitlement: entitlement, warn: { _ in })
      return []
    } catch let error as SettingsProblems { return error.problems } catch { return ["\(error)"] }
  }

  @Test("a rule on a directory that the plugin may not change is refused, a dry run may be about one that it may read")
  func entitlements() throws {
    let tree = try TestTree()
    var rule = try Rule.about(tree, limits: .everything)
    #expect(feasibility([rule]) { _ in .write }.isEmpty)
    let place = "rules[0] (rule): \(tree.path)"
    #expect(
      feasibility([rule]) { _ in .read } == ["\(place) may only be read: add it to entitlements.write, or set dry_run = true"])
    #expect(feasibility([rule]) { _ in .none } == ["\(place) is not entitled: add it to entitlements.write"])
    rule.dryRun = true
    #expect(feasibility([rule]) { _ in .read }.isEmpty)
    #expect(feasibility([rule]) { _ in .none }.count == 1)
  }
}
