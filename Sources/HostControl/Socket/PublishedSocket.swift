import Glibc

/// A control socket at its place.
struct PublishedSocket: Sendable {
  /// Its path.
  let path: String
  /// The device its inode is on.
  let device: UInt64
  /// Its inode.
  let inode: UInt64

  /// Whether it is still there, and not another file in its place.
  var isThere: Bool {
    var info = stat()
    return lstat(path, &info) == 0 && UInt64(info.st_dev) == device && UInt64(info.st_ino) == inode
  }

  /// Removes it, unless another socket has taken its place meanwhile.
  func remove() {
    if isThere { unlink(path) }
  }
}
