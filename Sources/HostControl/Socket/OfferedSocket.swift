import Glibc
import Synchronization

/// A socket that stays at its path until it is withdrawn, even if somebody removes its file.
final class OfferedSocket: Sendable {
  private struct State {
    var published: PublishedSocket?
    var problem: ControlSocketError?
    var isWithdrawn = false
  }

  private let directory: PrivateSocketDirectory
  private let state = Mutex(State())

  /// What is bound in `directory` is not offered yet.
  init(_ directory: PrivateSocketDirectory) { self.directory = directory }

  /// Why it could not be offered or brought back; nil if it could.
  var problem: ControlSocketError? { state.withLock { $0.problem } }

  /// Whether its file is gone and cannot be brought back, with nothing else in its place.
  var isLost: Bool {
    state.withLock { state in
      guard !state.isWithdrawn, let published = state.published, let problem = state.problem else { return false }
      return !published.isThere && problem.problem != .replaced
    }
  }

  /// Moves it to its path. Returns whether it is there; if not, ``problem`` says why.
  func publish() -> Bool {
    state.withLock { state in
      do throws(ControlSocketError) { state.published = try directory.publish() } catch { state.problem = error }
      return state.published != nil
    }
  }

  /// Restores its file if it is gone.
  ///
  /// - Returns: Whether it had to be brought back, and was.
  /// - Throws: If it is gone and cannot be brought back; the same is not thrown twice in a row.
  func look() throws(ControlSocketError) -> Bool {
    try state.withLock { state throws(ControlSocketError) in
      guard !state.isWithdrawn, let published = state.published else { return false }
      guard !published.isThere else {
        state.problem = nil
        return false
      }
      do throws(ControlSocketError) {
        try directory.restore()
        state.problem = nil
        return true
      } catch {
        defer { state.problem = error }
        if state.problem == error { return false }
        throw error
      }
    }
  }

  /// Removes its file permanently.
  func withdraw() {
    state.withLock { state in
      state.isWithdrawn = true
      state.published?.remove()
      directory.remove()
    }
  }
}

/// A control socket at its place.
struct PublishedSocket: Sendable {
  /// Its path.
  let path: String
  /// The device its inode is on.
  let device: UInt64
  /// Its inode.
  let inode: UInt64

  /// Whether it is still there, and not another file in its place.
  var isThere: Bool {
    var info = stat()
    return lstat(path, &info) == 0 && UInt64(info.st_dev) == device && UInt64(info.st_ino) == inode
  }

  /// Removes it, unless another socket has taken its place meanwhile.
  func remove() {
    if isThere { unlink(path) }
  }
}
