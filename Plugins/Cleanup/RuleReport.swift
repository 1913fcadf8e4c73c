internal import Glibc

/// The work of one rule; its JSON is part of the output.
struct RuleReport: Codable, Sendable, Equatable {
  enum Status: String, Codable, Sendable {
    /// Not started, or stopped early. The next run continues it.
    case unfinished
    case done
    /// Executed, but most of the files could not be removed; `problem` says why.
    case failed
    /// The directory does not exist, so there is nothing to clean up in it.
    case missing
    /// The rule could not run at all; `problem` says why.
    case blocked
  }

  /// The maximum number of messages in a report; the counts include everything.
  static let maximumMessages = 3

  var name: String
  var status = Status.unfinished
  var dryRun: Bool
  /// Regular files seen in the first search of the rule.
  var scanned: UInt64 = 0
  var matched: UInt64 = 0
  /// Names removed; in a dry run, those that would have been.
  var removed: UInt64 = 0
  /// The freed bytes: the apparent size of each file whose last name was removed.
  var bytesRemoved: UInt64 = 0
  var directoriesRemoved: UInt64 = 0
  /// Files to remove that stay because they are open, mapped or locked.
  var keptOpen: UInt64 = 0
  /// Files to remove that stay because they were replaced, written to or moved since the scan.
  var changed: UInt64 = 0
  /// Places left alone because another file system is mounted there.
  var otherFileSystem: UInt64 = 0
  /// Files and directories that could not be removed or searched.
  var errors: UInt64 = 0
  /// The errors about directories, or parts of them, that could not be searched.
  var unsearched: UInt64 = 0
  /// Other users whose files could not be touched, the first few.
  var otherUsers: [String] = []
  /// Why the rule could not run, or failed.
  var problem: String?
  var messages: [String] = []

  init(named name: String, dryRun: Bool = false) {
    self.name = name
    self.dryRun = dryRun
  }

  /// The errors about empty directories that could not be removed.
  var unremovedDirectories: UInt64 = 0

  /// Whether more files failed than were removed, or nothing could be searched. Removed directories do not offset files.
  var isMostlyErrors: Bool {
    let files = errors - min(errors, unsearched) - min(errors - min(errors, unsearched), unremovedDirectories)
    return files > removed || unremovedDirectories > removed + directoriesRemoved || (unsearched > 0 && scanned == 0)
  }

  var hadWork: Bool { removed + directoriesRemoved + keptOpen + changed + errors > 0 }

  /// Counts an error and keeps its message if there is room.
  mutating func note(_ message: String) {
    errors += 1
    if messages.count < Self.maximumMessages { messages.append(String(message.suffix(160))) }
  }

  /// Records the owner of a file or directory that the system refused to remove.
  mutating func note(_ error: SystemError, owner: UInt32) {
    guard error.code == EACCES || error.code == EPERM, owner != geteuid(), otherUsers.count < Self.maximumMessages else { return }
    let name = UserDatabase.name(of: owner)
    if !otherUsers.contains(name) { otherUsers.append(name) }
  }

  /// What to do about files of other users; nil if there are none.
  var remedyForOtherUsers: String? {
    guard !otherUsers.isEmpty else { return nil }
    let users = otherUsers.joined(separator: ", ")
    if geteuid() == 0 {
      return "a worker of a host that root runs has no rights over files of \(users): run a host as that user, "
        + "or set isolation = \"thread\""
    }
    return "the host's user has no rights over files of \(users): run a host as that user, or let its group write the directory"
  }

  enum CodingKeys: String, CodingKey {
    case name, status, scanned, matched, unsearched, removed, changed, errors, problem, messages
    case dryRun = "dry_run"
    case bytesRemoved = "bytes_removed"
    case directoriesRemoved = "directories_removed"
    case otherUsers = "other_users"
    case keptOpen = "kept_open"
    case otherFileSystem = "other_file_system"
  }
}
