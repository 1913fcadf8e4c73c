/// A directory that stays open while this object lives.
protocol OpenDirectory: AnyObject {
  /// Borrowed: never to be closed by others.
  var raw: Int32 { get }
}

extension OpenDirectory {
  /// The current status of the entry at `path`, relative to this directory. A symlink at its end is itself; one on the way would be
  /// followed: compare the result with what is expected there.
  func status(of path: UnsafePointer<CChar>) throws(SystemError) -> FileStatus { try FileStatus(directory: raw, name: path) }
}
