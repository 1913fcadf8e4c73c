package import Glibc
package import TaskModel

/// Metadata that differs after a file was replaced or changed.
///
/// The time of change (ctime) is the most reliable: every write and every change of mode or owner updates it, and no process can set it.
package struct FileMarks: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  let size: UInt64
  /// Nanoseconds since 1970, like `changed`.
  let modified: Int64
  let changed: Int64

  /// The marks that a look at a file has shown.
  package init(_ info: stat) {
    device = UInt64(info.st_dev)
    inode = UInt64(info.st_ino)
    size = UInt64(max(info.st_size, 0))
    modified = Self.nanoseconds(info.st_mtim)
    changed = Self.nanoseconds(info.st_ctim)
  }

  package init(_ known: KnownPluginFile) {
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

/// The clock of file timestamps. Its resolution can hide changes.
enum FileClock {
  /// In nanoseconds; longer than any kernel's tick. Two changes of a file within a tick can get the same time.
  private static let tick: Int64 = 20_000_000
  /// Like `tick`, for file systems that store whole seconds (FAT: two seconds).
  private static let coarseTick: Int64 = 2_000_000_000

  /// The current time in nanoseconds since 1970.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return FileMarks.nanoseconds(time)
  }

  /// Whether every change of the file at or after `moment` will show in its marks.
  static func hasSettled(_ marks: FileMarks, at moment: Int64) -> Bool {
    let (age, overflow) = moment.subtractingReportingOverflow(marks.changed)
    return !overflow && age > (marks.changed % 1_000_000_000 == 0 ? coarseTick : tick)
  }
}
