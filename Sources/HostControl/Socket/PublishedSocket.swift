import Glibc

/// A control socket at its place.
struct PublishedSocket: Sendable {
  /// Its path.
  let path: String
  /// The device its inode is on.
  let device: UInt64
  /// Its inode.
  let inode: UInt64

  /// Removes it, unless another socket has taken its place meanwhile.
  func remove() {
    var info = stat()
    guard lstat(path, &info) == 0, UInt64(info.st_dev) == device, UInt64(info.st_ino) == inode else { return }
    unlink(path)
  }
}
