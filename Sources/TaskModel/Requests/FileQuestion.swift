/// A file or directory that a plugin asks about: does any process have it open?
public struct FileQuestion: Sendable, Hashable {
  /// `st_dev`.
  public var device: UInt64
  /// `st_ino`.
  public var inode: UInt64
  /// The path relative to the question's directory: 1 to ``Limits/pathBytes`` bytes, no NUL.
  public var path: [UInt8]

  /// Creates a question.
  public init(device: UInt64, inode: UInt64, path: [UInt8]) {
    self.device = device
    self.inode = inode
    self.path = path
  }
}
