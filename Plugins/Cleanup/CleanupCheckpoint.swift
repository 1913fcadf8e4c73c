/// Where a request left off. Files are not listed: those that are removed are gone, so searching the rule again finds exactly the rest.
struct CleanupCheckpoint: Codable, Sendable, Equatable {
  /// The form of this checkpoint; another one is not continued.
  var version = CleanupCheckpoint.currentVersion
  /// What the rules and the payload were; after a change of them everything starts over.
  var fingerprint: String
  /// The instant by which ages are measured, the same in every run of the request, so that the end result is that of a single run.
  /// Nanoseconds since 1970.
  var asOf: Int64
  /// Reports of the finished rules and, perhaps, the unfinished one that is next.
  var reports: [RuleReport]
  /// How many runs in a row spent their whole budget, and neither removed anything nor finished a rule.
  var fruitlessRuns: Int?

  static let currentVersion = 2

  /// What is kept once everything was carried out: no run goes on from it.
  static let nothing = CleanupCheckpoint(fingerprint: "", asOf: 0, reports: [])

  /// A short mark for rules (FNV-1a, 64 bits): tells settings apart, is no protection. The same in every process.
  static func fingerprint(of rules: some Sequence<Rule>) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for rule in rules {
      for byte in rule.canonicalText.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    return String(hash, radix: 16)
  }

  enum CodingKeys: String, CodingKey {
    case version, fingerprint, reports
    case asOf = "as_of_unix_ns"
    case fruitlessRuns = "fruitless_runs"
  }
}
