import Glibc
import HostThreads
import StrictText

/// A file that is written beside the one that it will replace, with mode 0600. Until it is published, the old file is as it was, whatever
/// ends this process.
final class PendingFile {
  /// The path while the file is incomplete.
  let path: String
  private let descriptor: Int32
  private var isPublished = false

  /// Creates the file under a name that nobody can know, and removes those that killed processes have left. Another command for the same path
  /// fails meanwhile.
  ///
  /// - Parameters:
  ///   - target: The path of the file that it will replace.
  ///   - kind: What the old file must be; nil for anything. A mistyped path must not cost another file.
  init(for target: String, replacing kind: Kind? = nil) throws(StoreCareError) {
    try Self.check(target, is: kind)
    try Self.removeLeftovers(of: target)
    path = target + Self.infix + Hex.text((0..<Self.randomBytes).map { _ in UInt8.random(in: 0...255) })
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      // The deinitializer has nothing to remove.
      isPublished = true
      throw StoreCareError(path, "cannot be created", .last)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fchmod(descriptor, 0o600) == 0 else {
      throw StoreCareError(path, "cannot be written", .last)
    }
  }

  /// Between the name of the file and a random number in hexadecimal.
  private static let infix = ".taskhost-new-"
  private static let randomBytes = 8
  private static let companions = ["-wal", "-shm", "-journal"]

  /// A kind of files, by how they begin.
  struct Kind {
    let name: String
    let beginning: [UInt8]
  }

  private static func check(_ target: String, is kind: Kind?) throws(StoreCareError) {
    guard !target.isEmpty, !target.hasSuffix("/") else {
      throw StoreCareError(target, "this is not the name of a file", remedy: "name one: backup.sqlite")
    }
    var status = stat()
    guard lstat(target, &status) == 0 else {
      if errno == ENOENT { return }
      throw StoreCareError(target, "cannot be examined", .last)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StoreCareError(target, "it exists, and is not a file", remedy: "name another one")
    }
    guard let kind, status.st_size > 0 else { return }
    let head: [UInt8]
    do { head = try WholeTransfer.read(target, atMost: kind.beginning.count, O_NOFOLLOW | O_NONBLOCK) } catch {
      throw StoreCareError(target, "it exists and cannot be read, so it may be another file than \(kind.name)", error)
    }
    guard head == kind.beginning else {
      throw StoreCareError(target, "it exists, and is not \(kind.name)", remedy: "move it away, or name another file")
    }
  }

  /// Removes the files of this user that have such a name and that nobody holds, and no others.
  private static func removeLeftovers(of target: String) throws(StoreCareError) {
    let slash = target.lastIndex(of: "/")
    let folder = slash.map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "."
    let prefix = (slash.map { String(target[target.index(after: $0)...]) } ?? target) + infix
    // What cannot be listed has nothing that could be removed; creating the file says what is wrong.
    for name in (try? DirectoryNames.list(at: folder)) ?? [] where name.hasPrefix(prefix) {
      let end = String(name.dropFirst(prefix.count))
      let number = companions.first { end.hasSuffix($0) }.map { String(end.dropLast($0.count)) } ?? end
      guard Hex.bytes(number.utf8, count: randomBytes) != nil else { continue }
      let path = "\(folder)/\(name)"
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1, status.st_uid == geteuid()
      else { continue }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        throw StoreCareError(path, "another command is writing it", remedy: "wait for its end")
      }
      // A companion whose file is still written is not locked itself.
      if number != end, access("\(folder)/\(prefix)\(number)", F_OK) == 0 { continue }
      unlink(path)
    }
  }

  deinit {
    if !isPublished { for suffix in [""] + Self.companions { unlink(path + suffix) } }
    close(descriptor)
  }

  /// Appends bytes.
  func write(_ bytes: [UInt8]) throws(StoreCareError) {
    do { try WholeTransfer.write(bytes, to: descriptor) } catch { throw StoreCareError(path, "cannot be written", error) }
  }

  /// Makes a database that was copied in write-ahead mode a file that stands alone: its header names the rollback journal again. No
  /// connection may have it open.
  func standAlone() throws(StoreCareError) { try setVersions(1) }

  /// Names the write-ahead log in the header of a database, as a host leaves it. A host that opened it otherwise would write the first page
  /// itself, and that would no longer match its checksum. No connection may have it open.
  func useLog() throws(StoreCareError) { try setVersions(2) }

  /// - Source: sqlite.org/fileformat2.html, "File format version numbers": bytes 18 and 19.
  private func setVersions(_ version: UInt8) throws(StoreCareError) {
    let versions = [version, version]
    guard pwrite(descriptor, versions, 2, 18) == 2 else { throw StoreCareError(path, "cannot be written", .last) }
  }

  /// Syncs the content.
  func settle() throws(StoreCareError) {
    guard fsync(descriptor) == 0 else { throw StoreCareError(path, "cannot be written", .last) }
  }

  /// Takes the place of the file at `target`, durably.
  func publish(at target: String) throws(StoreCareError) {
    try settle()
    guard rename(path, target) == 0 else { throw StoreCareError(target, "cannot be replaced", .last) }
    isPublished = true
    do { try WholeFile.settle(target) } catch { throw StoreCareError(error) }
  }
}
