public import TaskModel

/// A plugin's file that passed every check short of running its code.
///
/// Device, inode, size and times of change identify the file that passed. Code that opens it again compares them first.
public struct PluginFile: Sendable, Equatable {
  /// Absolute, with every symbolic link of the directories resolved.
  public let path: String

  /// The last component of ``path``.
  public let name: String

  /// `st_dev`.
  public let device: UInt64

  /// `st_ino`.
  public let inode: UInt64

  /// Bytes.
  public let size: UInt64

  /// When its content last changed: nanoseconds since 1970, by the file system's clock.
  public let modified: Int64

  /// When its content, owner or mode last changed: nanoseconds since 1970, by the file system's clock. A process cannot set it.
  public let changed: Int64

  /// The content of its ELF structures.
  public let elf: ElfSummary

  init(path: String, name: String, marks: FileMarks, elf: ElfSummary) {
    self.path = path
    self.name = name
    device = marks.device
    inode = marks.inode
    size = marks.size
    modified = marks.modified
    changed = marks.changed
    self.elf = elf
  }

  /// The form in which the host remembers the file between launches.
  ///
  /// - Parameter digest: SHA-256 of its content, 32 bytes.
  public func known(digest: [UInt8]) -> KnownPluginFile {
    KnownPluginFile(path: path, device: device, inode: inode, size: size, modified: modified, changed: changed, digest: digest)
  }
}
