/// What makes two names the same file.
struct FileIdentity: Sendable, Hashable {
  var device: UInt64
  var inode: UInt64
}
