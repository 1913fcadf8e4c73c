extension TaskContext {
  /// Asks the host whether any process has these files open or uses these directories. A worker's sandbox hides other processes.
  ///
  /// The answer holds for the moment when the host looked; a process may open a file before you act. One look covers up to 16,384 files and
  /// 2 MiB of paths; for more, the host looks several times. Blocks the calling thread.
  ///
  /// ```swift
  /// let uses = try task.openFiles(files, in: "/var/log/app")
  /// for (file, use) in zip(files, uses) where use == .notOpen { … }
  /// ```
  ///
  /// - Parameters:
  ///   - files: Each with its device, inode and path relative to `directory`. If the path does not lead to the file, without symlinks and mount
  ///     points, the answer is ``FileUse/notOpen`` or ``FileUse/unknown``.
  ///   - directory: Absolute, without symlinks, at or below a path of the plugin's entitlements.
  /// - Returns: An answer for each file, in the same order. A host that does not run as root answers ``FileUse/unknown`` for directories
  ///   and for other users' files.
  /// - Throws: ``TaskHostError`` with the code `unsupported` if the host does not offer this, `notPermitted` for a directory without an
  ///   entitlement, `notFound`, `limit` (ask again later), `unavailable` or `stale`.
  public func openFiles(_ files: [FileReference], in directory: String) throws(TaskHostError) -> [FileUse] {
    try OpenFilesTable(run.table).ask(files, in: directory, run.task)
  }
}
