internal import CCleanup
internal import Glibc

/// The status of an entry, without following a symlink.
struct FileStatus: Sendable {
  enum Kind: Sendable, Equatable {
    case regular
    case directory
    /// A symlink, fifo, socket or device: never touched.
    case other
  }

  private let raw: taskhost_cleanup_status

  init(descriptor: Int32) throws(SystemError) { try self.init(directory: descriptor, name: "", followingSymlink: false) }

  /// Reads the status of `name` in the open `directory`. `name` is borrowed and ends with a null byte; an empty one means `directory`.
  init(directory: Int32, name: UnsafePointer<CChar>, followingSymlink: Bool = false) throws(SystemError) {
    var raw = taskhost_cleanup_status()
    let result = taskhost_cleanup_status(directory, name, followingSymlink ? 1 : 0, &raw)
    guard result == 0 else { throw SystemError(code: -result) }
    self.raw = raw
  }

  var kind: Kind {
    switch raw.mode & S_IFMT {
    case S_IFREG: .regular
    case S_IFDIR: .directory
    default: .other
    }
  }

  var identity: FileIdentity { FileIdentity(device: raw.device, inode: raw.inode) }
  /// Nanoseconds since 1970, the last change of the contents.
  var modified: Int64 { raw.modified }
  /// Nanoseconds since 1970, the last read, as far as the mount's options record it.
  var accessed: Int64 { raw.accessed }
  /// Nanoseconds since 1970, the last change of owner, modes, names or contents.
  var changed: Int64 { raw.changed }
  /// Nanoseconds since 1970, its creation; nil if the file system does not store it.
  var born: Int64? { raw.born == .min ? nil : raw.born }
  /// Apparent size in bytes.
  var size: UInt64 { raw.size }
  var links: UInt64 { raw.links }
  var owner: UInt32 { raw.owner }
  var isGuarded: Bool { raw.is_guarded != 0 }
  /// A directory in which only owners may remove names, such as /tmp.
  var isSticky: Bool { raw.mode & S_ISVTX != 0 }

  /// Whether both are on the same file system, reached through the same mount. A btrfs subvolume is not a mount, but counts as a separate
  /// file system.
  func isOnSameMount(as other: FileStatus) -> Bool {
    raw.device == other.raw.device && (raw.mount == other.raw.mount || raw.mount == 0 || other.raw.mount == 0)
  }
}

/// Identifies a file, whatever its names.
struct FileIdentity: Sendable, Hashable {
  var device: UInt64
  var inode: UInt64
}
