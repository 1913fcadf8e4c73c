import Glibc

/// Tells that something in a folder was written and closed, or got its name. Used on one thread.
/// - Source: inotify(7). Writes of another machine that shares the file system are not seen.
final class FolderWatch {
  /// Readable once there is news.
  let descriptor: Int32

  /// Watches the folder of a file; nil if that is not possible: the folder is not there, or the machine has no more watches.
  init?(of file: String) {
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    let queue = inotify_init1(O_NONBLOCK | O_CLOEXEC)
    guard queue >= 0 else { return nil }
    guard inotify_add_watch(queue, folder, UInt32(IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO)) >= 0 else {
      close(queue)
      return nil
    }
    descriptor = queue
  }

  deinit { close(descriptor) }

  /// Whether there was news since the last call. Which file it is about does not matter: who watches looks at its own.
  func takeNews() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in read(descriptor, buffer.baseAddress, buffer.count) > 0 }
  }
}
