internal import Glibc

/// What the file system says about an entry, without following a symlink.
struct FileStatus: Sendable, Equatable {
  /// The kinds of entry that make a difference here.
  enum Kind: Sendable, Equatable {
    case regular
    case directory
    /// A symlink, fifo, socket or device: never touched.
    case other
  }

  var kind: Kind
  var identity: FileIdentity
  /// Nanoseconds since 1970, the last change of the contents.
  var modified: Int64
  /// Apparent size in bytes.
  var size: UInt64
  /// Names that the file has anywhere.
  var links: UInt64

  /// Of an open descriptor.
  init(descriptor: Int32) throws(SystemError) {
    var raw = stat()
    guard fstat(descriptor, &raw) == 0 else { throw .last }
    self.init(raw)
  }

  /// Of the entry `name` in the directory open as `directory`; `name` ends with a null byte and is borrowed.
  init(directory: Int32, name: UnsafePointer<CChar>, followingSymlink: Bool = false) throws(SystemError) {
    var raw = stat()
    guard fstatat(directory, name, &raw, followingSymlink ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else { throw .last }
    self.init(raw)
  }

  private init(_ raw: stat) {
    switch raw.st_mode & S_IFMT {
    case S_IFREG: kind = .regular
    case S_IFDIR: kind = .directory
    default: kind = .other
    }
    identity = FileIdentity(device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino))
    // A file system may hold any time; what nanoseconds in 64 bits cannot say (beyond the year 2262) is cut.
    let seconds = max(-9_000_000_000, min(9_000_000_000, Int64(raw.st_mtim.tv_sec)))
    modified = seconds * 1_000_000_000 + Int64(raw.st_mtim.tv_nsec)
    size = UInt64(max(0, raw.st_size))
    links = UInt64(raw.st_nlink)
  }
}
