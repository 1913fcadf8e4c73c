import Logging
import Synchronization
import TaskModel

/// Keeps an offered socket where clients find it: brings its file back, and says when another socket must take its place.
///
/// A socket whose directory was removed is made again whenever the directory may have changed, and a few times by itself: a directory that
/// was made again may be given to this process a moment later.
final class SocketRenewal: Sendable {
  /// How many failures in a row are followed by another try, and how long after the first of them, in milliseconds; each pause is twice
  /// the one before.
  private static let (mostFailures, firstPause) = (8, 250)

  private let path: String
  private let directory: String?
  private let name: String
  private let log: Logger
  private let watch: ControlServer.Watch
  private let failures = Mutex(0)
  private let isWatched = Mutex(false)

  /// - Parameters:
  ///   - path: The socket's.
  ///   - name: The socket in a sentence: "the control socket".
  init(of path: String, name: String, watch: @escaping ControlServer.Watch, log: Logger) {
    directory = path.lastIndex(of: "/").flatMap { $0 == path.startIndex ? nil : String(path[..<$0]) }
    self.path = path
    self.name = name
    self.watch = watch
    self.log = log
  }

  /// The socket's file, or its directory, may have changed: brings the file back if it is gone.
  ///
  /// - Returns: Whether it is gone for good, so that another socket must take its place.
  func look(at offer: OfferedSocket) -> Bool {
    do throws(ControlSocketError) {
      if try offer.look() { log.warning("\(name)'s file was removed; it is there again", metadata: ["path": "\(path)"]) }
    } catch {
      // Another socket takes the place of one that cannot be brought back.
      if error.problem == .replaced { log.error("\(name)'s file was removed: \(error)") }
    }
    guard offer.isLost else { return false }
    begin()
    return true
  }

  /// Resets the number of tries after a change.
  func begin() { failures.withLock { $0 = 0 } }

  /// Records that a new socket replaced the lost one.
  func succeed() {
    log.warning("\(name) was removed with its directory; it is there again", metadata: ["path": "\(path)"])
  }

  /// Records that no replacement socket could be made.
  ///
  /// - Parameters:
  ///   - changed: Called when the directory may have changed.
  ///   - retry: Called some time later, on a thread of its own, unless it was tried often.
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
