extension TaskContext {
  /// Asks the host whether somebody has these files open, or is in these directories: a worker's sandbox hides other processes.
  ///
  /// The answer is about the moment in which the host looked: whoever acts on it acts a moment later. One look serves up to 16,384 files and
  /// 2 MiB of paths; more are asked in several. Blocks the calling thread meanwhile.
  ///
  /// ```swift
  /// let uses = try task.openFiles(files, in: "/var/log/app")
  /// for (file, use) in zip(files, uses) where use == .notOpen { … }
  /// ```
  ///
  /// - Parameters:
  ///   - files: Each by its device, inode and path relative to `directory`. One that its path does not lead to, through no symlink and no mount
  ///     point, is answered as one that nobody has open, or unknown.
  ///   - directory: Absolute, without symlinks, at or below a path of the plugin's entitlements.
  /// - Returns: An answer for each, in their order. A host that not root runs answers ``FileUse/unknown`` for directories, and for files that
  ///   do not belong to its user.
  /// - Throws: ``TaskHostError`` with the code `unsupported` where the host does not offer this, `notPermitted` for a directory that is not
  ///   entitled, `notFound`, `limit` (ask again later), `unavailable` or `stale`.
  public func openFiles(_ files: [FileReference], in directory: String) throws(TaskHostError) -> [FileUse] {
    try OpenFilesTable(run.table).ask(files, in: directory, run.task)
  }
}
