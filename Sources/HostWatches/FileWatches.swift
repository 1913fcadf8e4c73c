import CHostWatches
import Glibc
import HostThreads

/// Reports changes of files and directories: created, written and closed, moved, deleted. For a directory, also changes of its entries, but
/// not of deeper levels.
///
/// A path and its parent directories need not exist. Symbolic links are followed, and a retargeted link changes the path. Its single thread
/// waits in the kernel while nothing happens. Not seen: writes without a close, writes through `mmap`, writes by another machine that
/// shares the file system, and a file system mounted over a directory on the way.
/// - Source: inotify(7); systemd.path for the few events requested of directories on the way.
public final class FileWatches: Sendable {
  private let table: Guarded<WatchTable>
  private let thread: WatchThread

  /// Creates watches without paths.
  ///
  /// - Parameters:
  ///   - changed: Called on the watches' thread with a path of the set, once for events that arrive together. It can be called for a path
  ///     that was just removed from the set, and for an unchanged path if the kernel's queue overflowed or ``problems`` has news about it.
  ///   - failed: Called on the watches' thread, at most once, with a sentence: no changes are reported after that.
  /// - Throws: If no queue, descriptor or thread is available.
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

  /// Watches these absolute paths and no others from now on.
  ///
  /// Reads the file system and can wait for the watches' thread: call it off the cooperative pool. Can be called in `changed`.
  /// - Returns: The paths that cannot be watched, each with a sentence that says why and what to do. The next call tries them again.
  @discardableResult public func watch(_ paths: Set<String>) -> [String: String] {
    table.withLock {
      $0.watch(paths)
      return $0.problems
    }
  }

  /// The paths that cannot be watched now, as ``watch(_:)`` returns them.
  public var problems: [String: String] { table.withLock { $0.problems } }

  /// Stops watching: no calls follow once it returns. Waits for a running `changed`, unless called in it, so the caller must not hold a
  /// lock that `changed` takes.
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
