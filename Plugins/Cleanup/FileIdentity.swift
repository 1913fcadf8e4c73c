/// Identifies a file, whatever its names.
struct FileIdentity: Sendable, Hashable {
  var device: UInt64
  var inode: UInt64
}
