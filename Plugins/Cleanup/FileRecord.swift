/// One matching file, in 40 bytes: a million of them are a matter of course.
struct FileRecord: Sendable {
  var inode: UInt64
  /// Nanoseconds since 1970.
  var modified: Int64
  /// Apparent size in bytes.
  var size: UInt64
  /// Which directory of the table holds it.
  var directory: UInt32
  /// Where the table keeps the name.
  var nameOffset: UInt32
  /// Which of the table's devices it is on.
  var device: UInt16
  var nameLength: UInt8
  /// Whether the file had other names when it was scanned.
  var hasOtherLinks: Bool
}
