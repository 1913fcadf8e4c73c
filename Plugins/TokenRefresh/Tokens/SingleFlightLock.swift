import Glibc

/// The right to refresh one token file, held by one open file description at a time, in any process.
///
/// A `flock` on a lock file beside the token file: the kernel releases it when the holder dies. The empty lock file stays, because removing
/// it would let two holders lock two different files of the same name.
struct SingleFlightLock: Sendable {
  private let file: OpenFile

  /// Tries to take the lock; never waits.
  ///
  /// - Returns: nil if another holder has it.
  init?(folder: OpenFile, name: String) throws(SystemError) {
    file = try folder.file(name, O_RDWR | O_CREAT, mode: 0o600)
    // Whoever can open it can keep it locked.
    guard try file.status().st_uid == geteuid() else { throw SystemError(action: "lock \(name), which is another user's", code: EPERM) }
    fchmod(file.descriptor, 0o600)
    do {
      try SystemError.check("lock \(name)") { [file] in flock(file.descriptor, LOCK_EX | LOCK_NB) }
    } catch  where error.code == EWOULDBLOCK {
      return nil
    }
  }

  /// Releases the lock. Otherwise it is released with the value.
  func release() {
    flock(file.descriptor, LOCK_UN)
  }
}
