import StrictText

/// The plugin's settings, checked as a whole when they are decoded.
struct CleanupSettings: Decodable, Sendable, Equatable {
  /// In the order in which they are carried out; without any, every run ends at once with nothing to do.
  var rules: [Rule]
  /// How many files are examined between two checkpoints.
  var batchSize: Int

  /// As many as keep a batch well under a second on a slow disk.
  static let defaultBatchSize = 256

  /// At most this many rules, so that the report of all of them fits into a request's output (64 KiB).
  static let maximumRules = 64

  init(rules: [Rule], batchSize: Int = CleanupSettings.defaultBatchSize) {
    self.rules = rules
    self.batchSize = batchSize
  }

  /// - Throws: ``SettingsProblems`` naming everything that is wrong at once.
  init(from decoder: any Decoder) throws {
    self = try SettingsParser.parse(try JSONValue(from: decoder), protected: .current())
  }
}
