import Glibc
import Synchronization

/// A socket that stays at its path until withdrawn, even if somebody removes its file.
final class OfferedSocket: Sendable {
  private struct State {
    var published: PublishedSocket?
    var problem: ControlSocketError?
    var isWithdrawn = false
  }

  private let directory: PrivateSocketDirectory
  private let state = Mutex(State())

  /// The socket in `directory` is not offered before ``publish()``.
  init(_ directory: PrivateSocketDirectory) { self.directory = directory }

  /// Why the socket could not be offered or restored; nil if it could.
  var problem: ControlSocketError? { state.withLock { $0.problem } }

  /// Whether the file is gone and cannot be restored, and nothing else is in its place.
  var isLost: Bool {
    state.withLock { state in
      guard !state.isWithdrawn, let published = state.published, let problem = state.problem else { return false }
      return !published.isThere && problem.problem != .replaced
    }
  }

  /// Moves the socket to its path; returns whether it is there. If not, ``problem`` says why.
  func publish() -> Bool {
    state.withLock { state in
      do throws(ControlSocketError) { state.published = try directory.publish() } catch { state.problem = error }
      return state.published != nil
    }
  }

  /// Restores the file if it is gone.
  ///
  /// - Returns: Whether it restored the file.
  /// - Throws: If the file cannot be restored; never the same error twice in a row.
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

  /// Removes the file for good.
  func withdraw() {
    state.withLock { state in
      state.isWithdrawn = true
      state.published?.remove()
      directory.remove()
    }
  }
}

struct PublishedSocket: Sendable {
  let path: String
  let device: UInt64
  let inode: UInt64

  /// Whether the path still leads to this inode.
  var isThere: Bool {
    var info = stat()
    return lstat(path, &info) == 0 && UInt64(info.st_dev) == device && UInt64(info.st_ino) == inode
  }

  /// Removes it unless something else has taken its place.
  func remove() {
    if isThere { unlink(path) }
  }
}
