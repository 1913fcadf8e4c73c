import Glibc
import TaskModel

/// Metadata of a file that differs once the file was replaced or changed.
///
/// The time of change (ctime) is the most reliable: it moves with every write and every change of mode or owner, and no process can set it.
struct FileMarks: Sendable, Equatable {
  let device: UInt64
  let inode: UInt64
  let size: UInt64
  /// Nanoseconds since 1970.
  let modified: Int64
  /// Nanoseconds since 1970.
  let changed: Int64

  init(_ info: stat) {
    device = UInt64(info.st_dev)
    inode = UInt64(info.st_ino)
    size = UInt64(max(info.st_size, 0))
    modified = Self.nanoseconds(info.st_mtim)
    changed = Self.nanoseconds(info.st_ctim)
  }

  init(_ known: KnownPluginFile) {
    device = known.device
    inode = known.inode
    size = known.size
    modified = known.modified
    changed = known.changed
  }

  static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
