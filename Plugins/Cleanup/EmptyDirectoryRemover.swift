internal import Glibc

/// Removes one directory that holds nothing, if it is still the one that was scanned.
struct EmptyDirectoryRemover {
  let openFiles: OpenFileIndex
  let isDryRun: Bool

  /// - Returns: Whether it was removed, or in a dry run would be; false when something is in it after all or it is in use.
  /// - Throws: What keeps it from being removed, except that.
  func remove(_ index: UInt32, of table: FileTable, root: borrowing DirectoryHandle) throws(SystemError) -> Bool {
    let record = table.directories[Int(index)]
    let identity = FileIdentity(device: root.status.identity.device, inode: record.inode)
    if openFiles.contains(identity) { return false }
    do throws(SystemError) {
      let parent = try root.open(beneath: table.path(ofDirectory: record.parent))
      let name = table.name(record)
      let status = try parent.status(of: name)
      guard status.kind == .directory, status.identity == identity else { return false }
      if isDryRun { return true }
      try parent.removeDirectory(name)
      return true
    } catch {
      switch error.code {
      case ENOENT, ENOTEMPTY, EEXIST, EBUSY, ELOOP, ENOTDIR, EXDEV: return false
      default: throw error
      }
    }
  }
}
