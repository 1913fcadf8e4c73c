import Glibc
import HostThreads
import StrictText

/// A folder that is held open: what is written into it lands in it, whatever becomes of its path. Closes it at its end.
final class OpenedFolder {
  let descriptor: Int32
  /// For messages.
  let path: String

  private init(_ descriptor: Int32, _ path: String) { (self.descriptor, self.path) = (descriptor, path) }

  deinit { close(descriptor) }

  /// Opens the folder at a path that a person named; links in it count.
  static func open(_ path: String) throws(WholeFile.Failure) -> OpenedFolder {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw WholeFile.Failure(path: path, observed: "cannot be opened", reason: .last) }
    return OpenedFolder(descriptor, path)
  }

  /// Opens a folder in it, through no link.
  func folder(_ name: String) throws(WholeFile.Failure) -> OpenedFolder {
    let place = self.place(of: name)
    let next = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard next >= 0 else { throw WholeFile.Failure(path: place, observed: "cannot be opened", reason: .last) }
    return OpenedFolder(next, place)
  }

  /// Opens the folder of a path below it, through no link, and returns it with the last part of the path.
  func parent(of path: String) throws(WholeFile.Failure) -> (folder: OpenedFolder, name: String) {
    let parts = path.parts(between: "/")
    guard let last = parts.last, !parts.contains(".."), !parts.contains(".") else {
      throw WholeFile.Failure(path: path, observed: "cannot be opened", reason: ErrorNumber(EINVAL))
    }
    var folder = self
    for part in parts.dropLast() { folder = try folder.folder(part) }
    return (folder, last)
  }

  func place(of name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

  /// A regular file's content and status; nil if there is none.
  func read(_ name: String, atMost limit: Int) throws(WholeFile.Failure) -> (bytes: [UInt8], status: stat)? {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file >= 0 else {
      let reason = ErrorNumber.last
      if reason.code == ENOENT { return nil }
      throw WholeFile.Failure(path: place(of: name), observed: "cannot be opened", reason: reason)
    }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      throw WholeFile.Failure(path: place(of: name), observed: "is not a regular file", reason: ErrorNumber(EINVAL))
    }
    do throws(ErrorNumber) {
      let bytes = try WholeTransfer.read(from: file, atMost: limit + 1)
      guard bytes.count <= limit else { throw ErrorNumber(EFBIG) }
      return (bytes, info)
    } catch { throw WholeFile.Failure(path: place(of: name), observed: "cannot be read", reason: error) }
  }

  /// What a symbolic link says; empty if there is nothing of that name.
  func readLink(_ name: String) throws(WholeFile.Failure) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlinkat(descriptor, name, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
    }
    if count >= 0 { return Array(buffer.prefix(count)) }
    let reason = ErrorNumber.last
    if reason.code == ENOENT { return [] }
    throw WholeFile.Failure(path: place(of: name), observed: "is not a symbolic link", reason: reason)
  }

  /// Creates or replaces a symbolic link in one step, or removes it, and syncs the folder.
  ///
  /// - Parameter target: What it is to say; empty: there is to be none.
  func write(link target: [UInt8], to name: String) throws(WholeFile.Failure) {
    let isDone: Bool
    if target.isEmpty {
      isDone = unlinkat(descriptor, name, 0) == 0 || errno == ENOENT
    } else {
      removeTemporary()
      isDone =
        symlinkat(String(decoding: target, as: UTF8.self), descriptor, Self.temporary) == 0
        && renameat(descriptor, Self.temporary, descriptor, name) == 0
    }
    guard isDone, fsync(descriptor) == 0 else {
      let reason = ErrorNumber.last
      removeTemporary()
      throw WholeFile.Failure(path: place(of: name), observed: "cannot be \(target.isEmpty ? "removed" : "made")", reason: reason)
    }
  }

  /// Makes a folder in it for links, unless it is there.
  func make(_ name: String) throws(WholeFile.Failure) {
    guard mkdirat(descriptor, name, 0o755) == 0 || errno == EEXIST else {
      throw WholeFile.Failure(path: place(of: name), observed: "cannot be made", reason: .last)
    }
  }

  /// A file's name until it is complete. Cron reads no name that begins with a dot.
  private static let temporary = ".taskhost-takeover.new"

  /// Removes what a process that was killed has left.
  func removeTemporary() { unlinkat(descriptor, Self.temporary, 0) }

  /// Creates or replaces a file in one step, and syncs it and the folder.
  ///
  /// - Parameter owner: User and group of the file; nil for those of this process.
  func write(_ bytes: [UInt8], to name: String, mode: UInt32, owner: (user: UInt32, group: UInt32)? = nil) throws(WholeFile.Failure) {
    let temporary = Self.temporary
    removeTemporary()
    let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw WholeFile.Failure(path: place(of: temporary), observed: "cannot be created", reason: .last) }
    do throws(ErrorNumber) {
      defer { close(file) }
      try WholeTransfer.write(bytes, to: file)
      if let owner, fchown(file, owner.user, owner.group) != 0 { throw .last }
      guard fchmod(file, mode & 0o7777) == 0, fsync(file) == 0, renameat(descriptor, temporary, descriptor, name) == 0 else { throw .last }
    } catch {
      unlinkat(descriptor, temporary, 0)
      throw WholeFile.Failure(path: place(of: name), observed: "cannot be written", reason: error)
    }
    guard fsync(descriptor) == 0 else { throw WholeFile.Failure(path: path, observed: "cannot be written", reason: .last) }
  }

  /// Removes a folder in it, and the files in that folder. Does nothing if it is missing.
  func remove(_ name: String) throws(WholeFile.Failure) {
    let folder: OpenedFolder
    do throws(WholeFile.Failure) { folder = try self.folder(name) } catch {
      if error.reason.code == ENOENT { return }
      throw error
    }
    do throws(ErrorNumber) {
      for file in try DirectoryNames.list(in: folder.descriptor) {
        guard unlinkat(folder.descriptor, String(decoding: file, as: UTF8.self), 0) == 0 else { throw .last }
      }
      guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 else { throw .last }
    } catch { throw WholeFile.Failure(path: folder.path, observed: "cannot be removed", reason: error) }
  }
}
