import CHostWatches
import Glibc
import HostThreads

/// Tells when files and directories change: created, written and closed, moved, deleted; of a directory, an entry of it too, but not what
/// lies deeper.
///
/// A path need not exist, nor the directories above it; symbolic links are followed, and a link that is turned elsewhere changes the path.
/// Its one thread waits in the kernel for as long as nothing happens. Not seen: what is written without being closed, through `mmap`, on
/// another machine that shares the file system, and a file system that is mounted over a directory on the way.
/// - Source: inotify(7); systemd.path for how little directories on the way are asked for.
public final class FileWatches: Sendable {
  private let table: Guarded<WatchTable>
  private let thread: WatchThread

  /// Watches nothing yet.
  ///
  /// - Parameters:
  ///   - changed: Called on the watches' thread with a path of the set, once for what the kernel tells at once. It may be called for a path
  ///     that has just been left out of the set, and for one that turns out to be as it was: the kernel's queue overflowed, or
  ///     ``problems`` has something new about it.
  ///   - failed: Called on the watches' thread, at most once, with a sentence: from then on nothing is told.
  /// - Throws: If the kernel has no queue, descriptor or thread to give.
  public init(
    changed: @escaping @Sendable (String) -> Void, failed: @escaping @Sendable (String) -> Void
  ) throws(WatchFailure) {
    let queue = taskhost_watches_files_create()
    guard queue >= 0 else { throw WatchFailure(subject: "files", step: WatchFailure.inotify, code: errno) }
    let table = Guarded(WatchTable(queue: queue))
    self.table = table
    do throws(WatchFailure) {
      thread = try WatchThread("files", subject: "files", descriptor: queue) {
        Self.read(queue, table, changed)
      } ended: { problem in
        table.withLock { $0.end() }
        if let problem { failed("files are no longer watched: \(problem); restart the host") }
      }
    } catch {
      table.withLock { $0.end() }
      throw error
    }
  }

  deinit { thread.end() }

  /// Watches these absolute paths and no others; what happens to them from here on is told.
  ///
  /// Reads the file system, and waits for the watches' thread while that does: call it off the cooperative pool. May be called in
  /// `changed`.
  /// - Returns: The paths that cannot be watched, each with a sentence that says why and what to do. They are tried again when this is
  ///   called again.
  @discardableResult public func watch(_ paths: Set<String>) -> [String: String] {
    table.withLock {
      $0.watch(paths)
      return $0.problems
    }
  }

  /// The paths that cannot be watched, or not any more, as ``watch(_:)`` returns them.
  public var problems: [String: String] { table.withLock { $0.problems } }

  /// Stops watching: once it returns, nothing is told any more. Waits for a `changed` that is going on, unless called in it; so the caller
  /// holds no lock that `changed` takes.
  public func stop() { thread.stop() }

  private static func read(_ queue: Int32, _ table: Guarded<WatchTable>, _ changed: (String) -> Void) -> String? {
    var code: Int32 = 0
    let events = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
      let count = Glibc.read(queue, buffer.baseAddress, buffer.count)
      code = count < 0 ? errno : 0
      return FileEvent.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]))
    }
    guard code == 0 || code == EAGAIN || code == EINTR else { return "its queue cannot be read: \(String(cString: strerror(code)))" }
    for path in table.withLock({ $0.take(events) }).sorted() { changed(path) }
    return nil
  }
}
