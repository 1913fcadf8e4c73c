import Synchronization
import TaskModel

/// When it is tried again to make a socket whose directory was removed: whenever the directory may have changed, and a few times by itself. One
/// that was made again may be given to this process a moment later.
final class SocketRenewal: Sendable {
  /// How often in a row it is tried by itself, and how much later first, in milliseconds; each pause is twice the one before.
  private static let (mostFailures, firstPause) = (8, 250)

  private let directory: String?
  private let watch: ControlServer.Watch
  private let failures = Mutex(0)
  private let isWatched = Mutex(false)

  /// - Parameter path: The socket's.
  init(of path: String, watch: @escaping ControlServer.Watch) {
    directory = path.lastIndex(of: "/").flatMap { $0 == path.startIndex ? nil : String(path[..<$0]) }
    self.watch = watch
  }

  /// Something has happened: it is worth as many tries as before.
  func begin() { failures.withLock { $0 = 0 } }

  /// It could not be made.
  ///
  /// - Parameters:
  ///   - changed: Called when the directory may have changed.
  ///   - retry: Called some time later, on a thread of its own, unless it was tried often.
  /// - Returns: Whether this is the first time since something happened.
  func fail(changed: @escaping @Sendable () -> Void, retry: @escaping @Sendable () -> Void) -> Bool {
    let count = failures.withLock { failures in
      failures += 1
      return failures
    }
    let isFirst = isWatched.withLock { isWatched in
      defer { isWatched = true }
      return !isWatched
    }
    if let directory, isFirst { watch(directory, changed) }
    if count <= Self.mostFailures {
      Task {
        try? await Task.sleep(for: .milliseconds(Self.firstPause << (count - 1)))
        retry()
      }
    }
    return count == 1
  }
}
