import Glibc
import HostThreads

/// What a takeover has changed, kept in the folder of its configuration until it is undone: each file and link before and after, and the
/// timers that it stops.
struct TakeoverRecord {
  struct Change {
    /// The path below the root.
    let path: String
    /// Whether it is a symbolic link: then `before` and `after` are what it says, empty without a link.
    var isLink = false
    var mode: UInt32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
    let before: [UInt8]
    let after: [UInt8]

    /// What becomes of it, for a person.
    var summary: String { isLink ? (after.isEmpty ? "link removed" : "made, as a mask") : "lines commented out" }
  }

  /// The root of the machine, as `RootFolder` has it; empty for `/`.
  var root: String
  /// What the configuration was.
  var configuration: [UInt8]
  var changes: [Change]
  /// The names of the timers that were active, and that it stops.
  var stopped: [String] = []

  private static let first = "taskhost takeover 1"
  private static let list = "record"
  private static let largest = 64 << 20

  /// The folder's name for a source, `cron` or `timers`.
  static func name(_ source: String) -> String { "takeover-\(source).undo" }

  /// Writes the record, completely or not at all.
  func write(_ source: String, in folder: OpenedFolder) throws(WholeFile.Failure) {
    let name = Self.name(source)
    let temporary = name + ".new"
    try folder.remove(temporary)
    guard mkdirat(folder.descriptor, temporary, 0o700) == 0 else {
      throw WholeFile.Failure(path: folder.place(of: temporary), observed: "cannot be made", reason: .last)
    }
    do throws(WholeFile.Failure) {
      let place = try folder.folder(temporary)
      var lines = [Self.first, "root \(root)"]
      for (index, change) in changes.enumerated() {
        try place.write(change.before, to: "\(index).before", mode: 0o600)
        try place.write(change.after, to: "\(index).after", mode: 0o600)
        let kind = change.isLink ? "link" : "file"
        lines.append("\(kind) \(String(change.mode & 0o7777, radix: 8)) \(change.user) \(change.group) \(change.path)")
      }
      lines += stopped.map { "stopped \($0)" }
      try place.write(configuration, to: "configuration", mode: 0o600)
      try place.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: Self.list, mode: 0o600)
      guard renameat(folder.descriptor, temporary, folder.descriptor, name) == 0, fsync(folder.descriptor) == 0 else {
        throw WholeFile.Failure(path: folder.place(of: name), observed: "cannot be made", reason: .last)
      }
    } catch {
      try? folder.remove(temporary)
      throw error
    }
  }

  /// Refuses a record that somebody else could have written: it says what to write where.
  private static func checkOwner(of place: OpenedFolder) throws(WholeFile.Failure) {
    var info = stat()
    guard fstat(place.descriptor, &info) == 0, info.st_uid == geteuid(), info.st_mode & 0o022 == 0 else {
      throw WholeFile.Failure(path: place.path, observed: "is another user's, or others can write to it", reason: ErrorNumber(EPERM))
    }
  }

  /// Whether a takeover changes files of that path.
  private static func isCrontab(_ path: String) -> Bool {
    ["/etc/crontab", "/etc/anacrontab"].contains(path) || ["/etc/cron.d/", "/var/spool/cron/"].contains { path.hasPrefix($0) }
  }

  /// Whether a takeover changes links of that path: what starts a timer at boot, or masks it.
  private static func isTimerLink(_ path: String) -> Bool {
    ["/etc/systemd/system/", "/run/systemd/system/"].contains { path.hasPrefix($0) } && path.hasSuffix(".timer")
  }

  /// Reads the record; nil if there is none.
  static func read(_ source: String, in folder: OpenedFolder) throws(CommandFailure) -> TakeoverRecord? {
    do throws(WholeFile.Failure) {
      let place: OpenedFolder
      do throws(WholeFile.Failure) { place = try folder.folder(name(source)) } catch {
        if error.reason.code == ENOENT { return nil }
        throw error
      }
      try checkOwner(of: place)
      let flawed = WholeFile.Failure(path: place.path, observed: "is not the record of a takeover", reason: ErrorNumber(EINVAL))
      guard let (bytes, _) = try place.read(list, atMost: largest), let configuration = try place.read("configuration", atMost: largest)
      else {
        throw flawed
      }
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      guard lines.count >= 2, lines[0] == first, lines[1].hasPrefix("root ") else { throw flawed }
      var record = TakeoverRecord(root: String(lines[1].dropFirst(5)), configuration: configuration.bytes, changes: [])
      for (index, line) in lines.dropFirst(2).enumerated() {
        if line.hasPrefix("stopped "), line.hasSuffix(".timer") {
          record.stopped.append(String(line.dropFirst(8)))
          continue
        }
        let words = line.split(separator: " ", maxSplits: 4).map(String.init)
        guard words.count == 5, record.stopped.isEmpty, let mode = UInt32(words[1], radix: 8), let user = UInt32(words[2]),
          let group = UInt32(words[3]), words[0] == "file" && isCrontab(words[4]) || words[0] == "link" && isTimerLink(words[4]),
          let before = try place.read("\(index).before", atMost: largest), let after = try place.read("\(index).after", atMost: largest)
        else { throw flawed }
        record.changes.append(
          Change(
            path: words[4], isLink: words[0] == "link", mode: mode, user: user, group: group, before: before.bytes, after: after.bytes))
      }
      return record
    } catch { throw CommandFailure(.failed, "takeover", error.description) }
  }
}
