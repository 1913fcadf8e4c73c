import Glibc

/// The right to refresh one token file, held by one open file description at a time, in whatever process.
///
/// A `flock` on a lock file beside the token file: the kernel drops it when the holder dies. The lock file stays, empty, since removing it
/// would let two holders lock two different files of the same name.
struct SingleFlightLock: Sendable {
  private let file: OpenFile

  /// Tries to take the lock; never waits.
  ///
  /// - Returns: nil when it is held elsewhere.
  init?(folder: OpenFile, name: String) throws(SystemError) {
    file = try folder.file(name, O_RDWR | O_CREAT, mode: 0o600)
    do {
      try SystemError.check("lock \(name)") { [file] in flock(file.descriptor, LOCK_EX | LOCK_NB) }
    } catch  where error.code == EWOULDBLOCK {
      return nil
    }
  }

  /// Gives it back. Without, it is given back when the value goes.
  func release() {
    flock(file.descriptor, LOCK_UN)
  }
}
