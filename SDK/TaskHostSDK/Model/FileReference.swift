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
