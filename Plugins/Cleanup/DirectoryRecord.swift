/// One searched directory.
struct DirectoryRecord: Sendable {
  var inode: UInt64
  /// Nanoseconds since 1970, before anything was removed.
  var modified: Int64
  /// The directory above in the table; the rule's own directory, which is the first, names itself.
  var parent: UInt32
  var nameOffset: UInt32
  /// How many entries of any kind are in it, as far as is known; 0 makes it a candidate for removal.
  var entries: UInt32
  var nameLength: UInt8
}
