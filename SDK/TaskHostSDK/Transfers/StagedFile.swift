import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files in the plugin's folder for transfers. What they stand for is reached with the plugin's own authority alone.
enum StagedFile {
  /// Puts a file there for an upload: as a link if possible, otherwise as a copy.
  static func put(_ path: String, at staged: String) throws {
    if link(path, staged) == 0 { return }
    do { try FileManager.default.copyItem(atPath: path, toPath: staged) } catch {
      unlink(staged)
      throw error
    }
  }

  /// Moves a whole file to its place, which it replaces. Durable when this returns.
  static func move(_ staged: String, to target: String) throws(TaskFailure) {
    if rename(staged, target) == 0 { return try sync(folderOf: target) }
    guard errno == EXDEV else { throw failure("move \(staged) to \(target)") }
    // On another file system: a copy beside the target takes its place.
    let part = target + ".taskhost-part"
    unlink(part)
    do { try FileManager.default.copyItem(atPath: staged, toPath: part) } catch {
      unlink(part)
      throw TaskFailure.temporary("\(target) cannot be written: \(error)")
    }
    let file = open(part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0, fsync(file) == 0, rename(part, target) == 0 else {
      let failure = failure("move \(staged) to \(target)")
      if file >= 0 { close(file) }
      unlink(part)
      throw failure
    }
    close(file)
    try sync(folderOf: target)
    unlink(staged)
  }

  private static func sync(folderOf path: String) throws(TaskFailure) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written but not read is synced by the file system in its time.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("sync \(folder)") }
  }

  private static func failure(_ what: String) -> TaskFailure {
    TaskFailure.temporary("cannot \(what): \(String(cString: strerror(errno)))")
  }
}
