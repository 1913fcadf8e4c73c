/// What one rule did; the JSON of it is part of the output.
struct RuleReport: Codable, Sendable, Equatable {
  /// How far the rule came.
  enum Status: String, Codable, Sendable {
    /// Not yet, or stopped on the way; goes on in the next run.
    case unfinished
    case done
    /// The directory does not exist, so there is nothing to clean up in it.
    case missing
    /// The rule could not run at all; `problem` says why.
    case blocked
  }

  /// How many messages a report keeps; the numbers count everything.
  static let maximumMessages = 3

  var name: String
  var status = Status.unfinished
  var dryRun: Bool
  /// Regular files seen, when the rule was first searched.
  var scanned: UInt64 = 0
  /// Those of them that the rule means.
  var matched: UInt64 = 0
  /// Names removed; in a dry run, those that would have been.
  var removed: UInt64 = 0
  /// What their removal gave back: the apparent size of each file whose last name it was.
  var bytesRemoved: UInt64 = 0
  var directoriesRemoved: UInt64 = 0
  /// Files that had to go but are open, mapped or locked.
  var keptOpen: UInt64 = 0
  /// Files that had to go but were replaced, written to or moved since the scan.
  var changed: UInt64 = 0
  /// Places left alone because another file system is mounted there.
  var otherFileSystem: UInt64 = 0
  /// Files and directories that could not be removed or searched.
  var errors: UInt64 = 0
  /// Why the rule could not run.
  var problem: String?
  /// The first few errors.
  var messages: [String] = []

  init(_ rule: Rule, dryRun: Bool) {
    name = rule.name
    self.dryRun = dryRun
  }

  /// Whether anything had to go.
  var hadWork: Bool { removed + directoriesRemoved + keptOpen + changed + errors > 0 }

  /// Counts an error, and keeps what it was if there is room.
  mutating func note(_ message: String) {
    errors += 1
    if messages.count < Self.maximumMessages { messages.append(String(message.suffix(160))) }
  }

  enum CodingKeys: String, CodingKey {
    case name, status, scanned, matched, removed, changed, errors, problem, messages
    case dryRun = "dry_run"
    case bytesRemoved = "bytes_removed"
    case directoriesRemoved = "directories_removed"
    case keptOpen = "kept_open"
    case otherFileSystem = "other_file_system"
  }
}
