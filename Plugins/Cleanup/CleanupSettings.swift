import StrictText

/// The plugin's settings, checked as a whole when they are decoded.
struct CleanupSettings: Decodable, Sendable, Equatable {
  /// The rules in the order of execution; without rules, every run ends immediately.
  var rules: [Rule]
  /// How many files are examined between two checkpoints.
  var batchSize = CleanupSettings.defaultBatchSize

  /// Keeps a batch well under a second on a slow disk.
  static let defaultBatchSize = 256

  /// At most this many rules, so that the report of all of them fits into a request's output (64 KiB).
  static let maximumRules = 64
}

extension CleanupSettings {
  /// - Throws: ``SettingsProblems`` naming everything that is wrong at once.
  init(from decoder: any Decoder) throws {
    self = try SettingsParser.parse(try JSONValue(from: decoder), protected: .current())
  }
}
