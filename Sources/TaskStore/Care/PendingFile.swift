import Glibc
import HostThreads

/// A file that is written beside the one that it will replace, with mode 0600. Until it is published, the old file is as it was, whatever
/// ends this process.
final class PendingFile {
  /// The path while the file is incomplete.
  let path: String
  private let descriptor: Int32
  private var isPublished = false

  /// Creates the file, or empties one that a killed process has left. The file belongs to this process: another command for the same path
  /// fails.
  ///
  /// - Parameters:
  ///   - target: The path of the file that it will replace.
  ///   - kind: What the old file must be; nil for anything. A mistyped path must not cost another file.
  init(for target: String, replacing kind: Kind? = nil) throws(StoreCareError) {
    try Self.check(target, is: kind)
    path = target + ".taskhost-new"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw StoreCareError(path, "cannot be created", .last) }
    do throws(StoreCareError) { try Self.take(path, descriptor) } catch {
      close(descriptor)
      // The deinitializer must leave the file of another process alone.
      isPublished = true
      throw error
    }
  }

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

  private static func take(_ path: String, _ descriptor: Int32) throws(StoreCareError) {
    var (own, found) = (stat(), stat())
    guard fstat(descriptor, &own) == 0, own.st_mode & S_IFMT == S_IFREG, own.st_nlink == 1, own.st_uid == geteuid() else {
      throw StoreCareError(path, "it exists, and no command has left it", remedy: "move it away")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, lstat(path, &found) == 0, found.st_ino == own.st_ino else {
      throw StoreCareError(path, "another command is writing it", remedy: "wait for its end")
    }
    guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else { throw StoreCareError(path, "cannot be written", .last) }
    for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }

  deinit {
    if !isPublished { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) } }
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
