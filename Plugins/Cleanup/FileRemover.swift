internal import CCleanup
internal import Glibc

/// Removes one file, after making sure once more that it is the one that was scanned, and that nobody uses it.
///
/// Every file is reached anew from the rule's directory. Between the last look at the name and unlinkat(2) a few microseconds remain in
/// which another process could rename something else over it; Linux offers no way to close that. It could only ever hit an entry of
/// that name in that very directory.
struct FileRemover {
  let table: FileTable
  let openFiles: OpenFileIndex
  let isDryRun: Bool
  /// Whether a file goes about which nobody can tell whether it is open elsewhere.
  let removesUnsure: Bool
  /// Called with the claim held and before the last look; for tests that force an interleaving.
  let beforeUnlink: (() -> Void)?

  func remove(_ record: FileRecord, root: borrowing DirectoryHandle) -> RemovalVerdict {
    do throws(SystemError) {
      return try attempt(record, root: root)
    } catch {
      switch error.code {
      case ENOENT: return .vanished
      case ELOOP, ENOTDIR, ESTALE: return .changed
      case EXDEV: return .otherFileSystem
      default: return .failed(error)
      }
    }
  }

  private func attempt(_ record: FileRecord, root: borrowing DirectoryHandle) throws(SystemError) -> RemovalVerdict {
    let directory = try root.open(beneath: table.path(ofDirectory: record.directory))
    guard directory.status.identity.inode == table.directories[Int(record.directory)].inode else { return .changed }
    let name = table.name(record)
    guard isSame(record, try directory.status(of: name)) else { return .changed }
    if openFiles.contains(table.identity(record)) { return .inUse }

    // The descriptor holds the claim, until the end of this function.
    let claimed: Descriptor
    var canRead = true
    do throws(SystemError) {
      claimed = try directory.openFile(name, reference: false)
    } catch  where error.code == EACCES || error.code == EPERM {
      claimed = try directory.openFile(name, reference: true)
      canRead = false
    }
    guard isSame(record, try FileStatus(descriptor: claimed.raw)) else { return .changed }
    switch canRead ? claim(claimed.raw) : Int32(CLEANUP_CLAIM_UNKNOWN) {
    case Int32(CLEANUP_CLAIM_FREE): break
    case Int32(CLEANUP_CLAIM_IN_USE): return .inUse
    default: if !openFiles.isUsable, !removesUnsure { return .unknownUse }
    }
    if isDryRun { return .removed }
    beforeUnlink?()
    guard isSame(record, try directory.status(of: name)) else { return .changed }
    try directory.unlink(name)
    _ = consume claimed
    return .removed
  }

  /// A dry run takes no lock and no lease, which others could notice: it only looks.
  private func claim(_ descriptor: Int32) -> Int32 {
    guard isDryRun else { return taskhost_cleanup_claim(descriptor) }
    return Int32(taskhost_cleanup_is_record_locked(descriptor) != 0 ? CLEANUP_CLAIM_IN_USE : CLEANUP_CLAIM_UNKNOWN)
  }

  private func isSame(_ record: FileRecord, _ status: FileStatus) -> Bool {
    status.kind == .regular && status.identity == table.identity(record) && status.modified == record.modified
  }
}
