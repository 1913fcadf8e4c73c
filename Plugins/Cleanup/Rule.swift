/// One directory, which of its files are meant, and how much of them may stay. Checked: a value of this type can be carried out.
struct Rule: Sendable, Equatable {
  /// What the report and a payload call it; unique among the rules. By default the directory.
  var name: String
  /// Absolute, without `.`, `..`, empty components or a slash at the end; and not one that the system cannot do without.
  var directory: String
  /// Which files are meant, relative to `directory`.
  var glob: Glob
  /// Whether directories below are searched too.
  var recursive: Bool
  /// Files and, with everything in them, directories that the rule does not see at all.
  var exclude: [Glob]
  /// What may stay.
  var limits: Limits
  /// Which times tell how old a file is.
  var ageBy = AgeTimes.all
  /// Whether directories below that hold nothing are removed after the files.
  var removeEmptyDirectories: Bool
  /// Report what would go, remove nothing.
  var dryRun: Bool
  /// Whether a file goes about which nobody can tell whether it is open elsewhere.
  var removesUnsure = false

  /// Everything that decides what the rule does, in a form that is the same in every process and for every build.
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
