internal import CCleanup
internal import Glibc

/// The status of an entry, without following a symlink.
struct FileStatus: Sendable, Equatable {
  /// The relevant kinds of entries.
  enum Kind: Sendable, Equatable {
    case regular
    case directory
    /// A symlink, fifo, socket or device: never touched.
    case other
  }

  var kind: Kind
  var identity: FileIdentity
  /// The mount it was reached through; 0 if unknown.
  var mount: UInt64
  /// Nanoseconds since 1970, the last change of the contents.
  var modified: Int64
  /// Nanoseconds since 1970, the last read, as far as the mount's options record it.
  var accessed: Int64
  /// Nanoseconds since 1970, the last change of owner, modes, names or contents.
  var changed: Int64
  /// Nanoseconds since 1970, its creation; nil if the file system does not store it.
  var born: Int64?
  /// Apparent size in bytes.
  var size: UInt64
  /// The number of the file's names.
  var links: UInt64
  /// The owner's user id.
  var owner: UInt32
  /// Whether it is immutable or append-only.
  var isGuarded: Bool
  /// A directory in which only owners may remove names, as /tmp.
  var isSticky: Bool

  /// Of an open descriptor.
  init(descriptor: Int32) throws(SystemError) { try self.init(directory: descriptor, name: "", followingSymlink: false) }

  /// Of the entry `name` in the directory open as `directory`; `name` ends with a null byte and is borrowed. An empty one is `directory`.
  init(directory: Int32, name: UnsafePointer<CChar>, followingSymlink: Bool = false) throws(SystemError) {
    var raw = taskhost_cleanup_status()
    let result = taskhost_cleanup_status(directory, name, followingSymlink ? 1 : 0, &raw)
    guard result == 0 else { throw SystemError(code: -result) }
    self.init(raw)
  }

  private init(_ raw: taskhost_cleanup_status) {
    switch raw.mode & S_IFMT {
    case S_IFREG: kind = .regular
    case S_IFDIR: kind = .directory
    default: kind = .other
    }
    identity = FileIdentity(device: raw.device, inode: raw.inode)
    mount = raw.mount
    modified = raw.modified
    accessed = raw.accessed
    changed = raw.changed
    born = raw.born == .min ? nil : raw.born
    size = raw.size
    links = raw.links
    owner = raw.owner
    isGuarded = raw.is_guarded != 0
    isSticky = raw.mode & S_ISVTX != 0
  }

  /// Whether both are on the same file system, reached through the same mount. A btrfs subvolume is not a mount, but counts as a separate
  /// file system.
  func isOnSameMount(as other: FileStatus) -> Bool {
    identity.device == other.identity.device && (mount == other.mount || mount == 0 || other.mount == 0)
  }
}
