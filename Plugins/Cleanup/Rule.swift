/// A directory, the files in it that the rule covers, and their limits. Values of this type are validated.
struct Rule: Sendable, Equatable {
  /// The unique name in reports and payloads; by default the directory.
  var name: String
  /// Absolute, without `.`, `..`, empty components or a final slash, and not a protected directory.
  var directory: String
  var glob: Glob
  var recursive: Bool
  /// Files, and directories with all their content, that the rule ignores.
  var exclude: [Glob]
  var limits: Limits
  var ageBy = AgeTimes.all
  /// Whether to remove empty directories below after the files.
  var removeEmptyDirectories: Bool
  /// Whether to report only, and remove nothing.
  var dryRun: Bool
  /// Whether to remove a file if it is unknown whether it is open elsewhere.
  var removesUnsure = false

  /// All fields that affect the rule, in a form that is the same in every process and build.
  var canonicalText: String {
    let fields: [String] = [
      name, directory, glob.text, "\(recursive)", "\(exclude.count)", exclude.map(\.text).joined(separator: "\u{1}"),
      limits.maxAge.map { "\($0.components.seconds)" } ?? "", limits.maxTotalBytes.map { "\($0)" } ?? "",
      limits.maxCount.map { "\($0)" } ?? "", "\(limits.keepNewest)", "\(limits.minAge.components.seconds)", "\(ageBy.rawValue)",
      "\(removeEmptyDirectories)", "\(dryRun)", "\(removesUnsure)",
    ]
    return fields.map { "\($0.utf8.count):\($0)" }.joined()
  }
}
