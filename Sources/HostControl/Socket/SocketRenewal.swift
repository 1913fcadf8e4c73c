import Logging
import Synchronization
import TaskModel

/// Keeps an offered socket where clients find it: restores its file, and decides when a new socket must replace it.
///
/// After its directory was removed, a socket is created again whenever the directory may have changed, and a few times by itself: a new
/// directory may be given to this process a moment after it appears.
final class SocketRenewal: Sendable {
  /// How many failures in a row lead to another try, and the first pause in milliseconds; each pause is twice the one before.
  private static let (mostFailures, firstPause) = (8, 250)

  private let path: String
  private let directory: String?
  private let name: String
  private let log: Logger
  private let watch: ControlServer.Watch
  private let failures = Mutex(0)
  private let isWatched = Mutex(false)

  /// - Parameters:
  ///   - path: The socket's path.
  ///   - name: The socket as the start of a message: "the control socket".
  init(of path: String, name: String, watch: @escaping ControlServer.Watch, log: Logger) {
    directory = path.lastIndex(of: "/").flatMap { $0 == path.startIndex ? nil : String(path[..<$0]) }
    self.path = path
    self.name = name
    self.watch = watch
    self.log = log
  }

  /// Called when the socket's file or directory may have changed; restores the file if it is gone.
  ///
  /// - Returns: Whether the file is gone for good, so that a new socket is needed.
  func look(at offer: OfferedSocket) -> Bool {
    do throws(ControlSocketError) {
      if try offer.look() { log.warning("\(name)'s file was removed; it is there again", metadata: ["path": "\(path)"]) }
    } catch {
      // A socket that cannot be restored is replaced.
      if error.problem == .replaced { log.error("\(name)'s file was removed: \(error)") }
    }
    guard offer.isLost else { return false }
    begin()
    return true
  }

  /// Allows as many tries as at first.
  func begin() { failures.withLock { $0 = 0 } }

  /// A new socket has replaced the lost one.
  func succeed() {
    log.warning("\(name) was removed with its directory; it is there again", metadata: ["path": "\(path)"])
  }

  /// No new socket could be created.
  ///
  /// - Parameters:
  ///   - changed: Called when the directory may have changed.
  ///   - retry: Called after a pause, on a thread of its own, unless too many tries have failed.
  func fail(_ error: any Error, changed: @escaping @Sendable () -> Void, retry: @escaping @Sendable () -> Void) {
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
    if count == 1 { log.error("\(name) was removed with its directory: \(error)") }
  }
}
