import Glibc
import HostThreads
import Takeover
import TaskHost

/// Carries a takeover out: writes the configuration, comments the lines out; and takes both back.
///
/// It writes in the folder that it was given, and into files below the root whose lines it has carried over. It opens every folder on the
/// way without following links.
struct TakeoverChange {
  let source: String
  let root: RootFolder
  let folder: OpenedFolder

  static let marker = "# taskhost takeover: "
  private static let largest = 32 << 20

  init(_ source: String, root: RootFolder, into path: String) throws(CommandFailure) {
    (self.source, self.root) = (source, root)
    do throws(WholeFile.Failure) { folder = try OpenedFolder.open(path) } catch {
      throw CommandFailure(.failed, "--into \(path)", "\(error.observed): \(error.reason)", remedy: "name a folder that you may write to")
    }
  }

  /// The name of the configuration.
  var configurationName: String { "takeover-\(source).toml" }

  /// Refuses a configuration that the host would not load.
  ///
  /// - Parameter config: A configuration that it is going to be appended to.
  func check(_ text: String, appendedTo config: String?) throws(CommandFailure) {
    var whole = text
    if let config {
      do throws(ErrorNumber) {
        whole = String(decoding: try WholeTransfer.read(config, atMost: 4 << 20), as: UTF8.self) + "\n" + text
      } catch { throw CommandFailure(.failed, "--config \(config)", error.description) }
    }
    do throws(ConfigurationError) {
      _ = try HostConfiguration.parse(whole, file: config ?? folder.place(of: configurationName))
    } catch {
      throw CommandFailure(
        .refused, "takeover \(source)", "a host would not load the configuration, so nothing was written:\n\(error.description)",
        remedy: "mend what it says, on the machine and as the user that is to run the host")
    }
  }

  /// The files whose lines are commented out, before and after.
  ///
  /// - Parameter lines: The numbers of the lines, from 1, by path.
  func changes(commentingOut lines: [String: Set<Int>], of seen: [String: [UInt8]]) throws(CommandFailure) -> [TakeoverRecord.Change] {
    var changes: [TakeoverRecord.Change] = []
    for (path, numbers) in lines.sorted(by: { $0.key < $1.key }) {
      let (bytes, status) = try read(path)
      guard bytes == seen[path] else {
        throw CommandFailure(.failed, path, "has changed while it was read, so nothing was written", remedy: "try again")
      }
      changes.append(
        TakeoverRecord.Change(
          path: path, mode: status.st_mode & 0o7777, user: status.st_uid, group: status.st_gid, before: bytes,
          after: Self.commentingOut(numbers, in: bytes)))
    }
    return changes
  }

  /// The links that start timers at boot, before and after.
  ///
  /// - Parameter links: The paths of the links that are to go, and of those that are to mask a timer.
  func changes(removing links: [String], masking masks: [String]) throws(CommandFailure) -> [TakeoverRecord.Change] {
    var changes: [TakeoverRecord.Change] = []
    for path in links { changes.append(.init(path: path, isLink: true, before: try readLink(path), after: [])) }
    for path in masks {
      let before = try readLink(path)
      guard before.isEmpty else {
        throw CommandFailure(
          .refused, path, "its unit is started by a folder of the distribution, and this link is in the place of its mask",
          remedy: "disable the timer yourself, and run this again")
      }
      changes.append(.init(path: path, isLink: true, before: before, after: Array("/dev/null".utf8)))
    }
    return changes
  }

  private static func commentingOut(_ numbers: Set<Int>, in bytes: [UInt8]) -> [UInt8] {
    var (after, number): ([UInt8], Int) = ([], 1)
    var isAtBegin = true
    for byte in bytes {
      if isAtBegin, numbers.contains(number) { after += Array(marker.utf8) }
      isAtBegin = byte == 0x0a
      if isAtBegin { number += 1 }
      after.append(byte)
    }
    return after
  }

  /// Writes the record, the configuration and the changed files, and stops timers, in this order: whatever ends it midway, `undo` puts
  /// everything back.
  ///
  /// - Parameter stopped: The names of the active timers that are to be stopped.
  func apply(_ text: String, _ changes: [TakeoverRecord.Change], stopping stopped: [String] = []) throws(CommandFailure) {
    let bytes = Array(text.utf8)
    guard try TakeoverRecord.read(source, in: folder) == nil else {
      throw CommandFailure(
        .refused, folder.place(of: TakeoverRecord.name(source)), "a takeover is there already",
        remedy: "undo it first: --undo --into \(folder.path)")
    }
    do throws(WholeFile.Failure) {
      if try folder.read(configurationName, atMost: Self.largest) != nil {
        throw WholeFile.Failure(path: folder.place(of: configurationName), observed: "is there already", reason: ErrorNumber(EEXIST))
      }
      guard !changes.contains(where: { $0.path.contains("\n") }) else {
        throw WholeFile.Failure(path: folder.path, observed: "cannot hold a name with a line end", reason: ErrorNumber(EINVAL))
      }
      try TakeoverRecord(root: root.path, configuration: bytes, changes: changes, stopped: stopped).write(source, in: folder)
    } catch { throw failure(error) }
    do throws(CommandFailure) {
      do throws(WholeFile.Failure) {
        // It may hold what only the owners of crontabs could read.
        try folder.write(bytes, to: configurationName, mode: 0o600)
        for change in changes { try write(change.after, change) }
      } catch { throw failure(error) }
      if changes.contains(where: \.isLink) { try timers?.reload() }
      try timers?.stop(stopped)
    } catch {
      do throws(CommandFailure) { _ = try undo() } catch { Terminal.note(error.description) }
      throw error
    }
  }

  /// systemd, if it runs the machine that is changed; nil for a copy or an image.
  var timers: TimerManager? { TimerManager(root) }

  /// Puts everything back, or nothing: a file that somebody has changed since is named, and stays.
  ///
  /// - Returns: The paths of the files and links that were put back, the timers that were started, and whether the configuration was removed.
  func undo() throws(CommandFailure) -> (restored: [String], started: [String], removed: Bool) {
    guard let record = try TakeoverRecord.read(source, in: folder) else {
      // A takeover that was killed before it changed anything.
      try? folder.remove(TakeoverRecord.name(source) + ".new")
      throw CommandFailure(
        .failed, folder.place(of: TakeoverRecord.name(source)), "there is no takeover to undo", remedy: "name the folder that --into named")
    }
    guard record.root == root.path else {
      let there = record.root.isEmpty ? "/" : record.root
      throw CommandFailure(.refused, "takeover \(source)", "it was made for the root \(there)", remedy: "name it with --root \(there)")
    }
    var changed: [String] = []
    var open: [TakeoverRecord.Change] = []
    for change in record.changes {
      let now = change.isLink ? try? readLink(change.path) : try? read(change.path).bytes
      if now == change.after { open.append(change) } else if now != change.before { changed.append(change.path) }
    }
    guard changed.isEmpty else {
      throw CommandFailure(
        .refused, changed.joined(separator: ", "), "changed since the takeover, so nothing was undone",
        remedy: "the files as they were are in \(folder.place(of: TakeoverRecord.name(source)))")
    }
    do throws(WholeFile.Failure) {
      for change in open { try write(change.before, change) }
      for change in record.changes { try? parent(of: change.path).folder.removeTemporary() }
    } catch { throw failure(error) }
    // The record stays until systemd has taken them back: then this can be done again.
    if record.changes.contains(where: \.isLink) { try timers?.reload() }
    try timers?.start(record.stopped)
    do throws(WholeFile.Failure) {
      folder.removeTemporary()
      let now = try folder.read(configurationName, atMost: Self.largest)?.bytes
      let isOwn = now == record.configuration
      if isOwn, unlinkat(folder.descriptor, configurationName, 0) != 0 {
        throw WholeFile.Failure(path: folder.place(of: configurationName), observed: "cannot be removed", reason: .last)
      }
      try folder.remove(TakeoverRecord.name(source))
      return (open.map(\.path), timers == nil ? [] : record.stopped, isOwn || now == nil)
    } catch { throw failure(error) }
  }

  /// The folder of a file below the root, reached through no link.
  private func parent(of path: String) throws(WholeFile.Failure) -> (folder: OpenedFolder, name: String) {
    try OpenedFolder.open(root.isMachine ? "/" : root.path).parent(of: path)
  }

  private func read(_ path: String) throws(CommandFailure) -> (bytes: [UInt8], status: stat) {
    do throws(WholeFile.Failure) {
      let (place, name) = try parent(of: path)
      guard let found = try place.read(name, atMost: Self.largest) else {
        throw WholeFile.Failure(path: path, observed: "is gone", reason: ErrorNumber(ENOENT))
      }
      return found
    } catch {
      let isLink = error.reason.code == ELOOP || error.reason.code == ENOTDIR
      throw CommandFailure(
        .refused, error.path, isLink ? "is a symbolic link, which a takeover does not write through" : "\(error.observed): \(error.reason)",
        remedy: isLink ? "put the file itself there" : nil)
    }
  }

  /// What a link says; empty if there is none.
  private func readLink(_ path: String) throws(CommandFailure) -> [UInt8] {
    do throws(WholeFile.Failure) {
      let (place, name) = try parent(of: path)
      return try place.readLink(name)
    } catch {
      // systemd removes a folder of links with its last one.
      if error.reason.code == ENOENT { return [] }
      let isFolder = error.reason.code == ELOOP || error.reason.code == ENOTDIR
      throw CommandFailure(
        .refused, error.path,
        isFolder ? "is a symbolic link, which a takeover does not write through" : "\(error.observed): \(error.reason)")
    }
  }

  private func write(_ bytes: [UInt8], _ change: TakeoverRecord.Change) throws(WholeFile.Failure) {
    if change.isLink { return try write(link: bytes, change.path) }
    let (place, name) = try parent(of: change.path)
    let isOwn = change.user == geteuid() && change.group == getegid()
    try place.write(bytes, to: name, mode: change.mode, owner: isOwn ? nil : (change.user, change.group))
  }

  private func write(link target: [UInt8], _ path: String) throws(WholeFile.Failure) {
    let parts = path.split(separator: "/")
    if let folder = parts.dropLast().last, !target.isEmpty {
      try parent(of: "/" + parts.dropLast().joined(separator: "/")).folder.make(String(folder))
    }
    let (place, name) = try parent(of: path)
    try place.write(link: target, to: name)
  }

  private func failure(_ error: WholeFile.Failure) -> CommandFailure {
    CommandFailure(.failed, error.path, "\(error.observed): \(error.reason)")
  }
}
