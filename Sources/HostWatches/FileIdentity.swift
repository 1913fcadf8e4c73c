import Glibc

/// A file system object, for as long as it exists.
struct FileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
