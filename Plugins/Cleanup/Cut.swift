/// Where the line runs between the files that go and those that stay, in the order of their times, then of their inodes.
struct Cut: Sendable, Equatable {
  var time: Int64
  var inode: UInt64
  /// How many names of the very file on the line go.
  var names: Int

  /// On which side a file is.
  enum Side: Sendable {
    case goes
    /// On the line: as many of its names go as ``names`` says.
    case counted
    case stays
  }

  /// Everything stays.
  static let nothing = Cut(time: .min, inode: 0, names: 0)
  /// Everything goes.
  static let everything = Cut(time: .max, inode: .max, names: .max)

  func side(time: Int64, inode: UInt64) -> Side {
    if time != self.time { return time < self.time ? .goes : .stays }
    if inode != self.inode { return inode < self.inode ? .goes : .stays }
    return .counted
  }
}
