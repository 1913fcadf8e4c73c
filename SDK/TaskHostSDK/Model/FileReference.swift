/// A file or directory in a question to the host: see ``TaskContext/openFiles(_:in:)``.
public struct FileReference: Sendable, Hashable {
  /// `st_dev`.
  public var device: UInt64
  /// `st_ino`.
  public var inode: UInt64
  /// Relative to the directory of the question, at most 4,095 bytes without a null byte.
  public var path: [UInt8]

  /// Creates a reference.
  public init(device: UInt64, inode: UInt64, path: [UInt8]) {
    self.device = device
    self.inode = inode
    self.path = path
  }
}

/// Whether any process has a file open: see ``TaskContext/openFiles(_:in:)``.
public enum FileUse: Sendable, Equatable {
  /// The host cannot tell.
  case unknown
  /// A process has it open or mapped, runs it, or uses it as its working directory.
  case open
  /// No process had it open when the host looked.
  case notOpen
}

/// A plugin's entitlement to a directory: see ``LaunchContext/entitlement(to:)``.
public enum DirectoryEntitlement: Sendable, Equatable {
  /// No access.
  case none
  /// Reading is allowed.
  case read
  /// Reading and writing are allowed.
  case write
}
