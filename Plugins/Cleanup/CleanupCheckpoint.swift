/// The progress of a task request. It lists no files: removed files are gone, so searching the rule again finds exactly the rest.
struct CleanupCheckpoint: Codable, Sendable, Equatable {
  /// The version of this format; other versions are not continued.
  var version = CleanupCheckpoint.currentVersion
  /// A fingerprint of the rules and the payload; after a change, everything starts over.
  var fingerprint: String
  /// The reference time for ages, the same in every run of the request, so that the result is that of a single run. Nanoseconds since 1970.
  var asOf: Int64
  /// Reports of the finished rules and, perhaps, the unfinished one that is next.
  var reports: [RuleReport]
  /// The number of consecutive runs that spent their whole budget without removing anything or finishing a rule.
  var fruitlessRuns: Int?

  static let currentVersion = 2

  /// The checkpoint after everything is done: no run continues from it.
  static let nothing = CleanupCheckpoint(fingerprint: "", asOf: 0, reports: [])

  /// A short hash of rules (FNV-1a, 64 bits), the same in every process. It distinguishes settings but offers no protection.
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
