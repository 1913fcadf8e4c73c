/// The boundary between files to remove and files to keep, ordered by time, then inode.
struct Cut: Sendable, Equatable {
  var time: Int64
  var inode: UInt64
  /// The number of names to remove of the file on the boundary.
  var names: Int

  /// The side of the boundary that a file is on.
  enum Side: Sendable {
    case goes
    /// On the boundary: ``names`` of its names are removed.
    case counted
    case stays
  }

  static let nothing = Cut(time: .min, inode: 0, names: 0)
  static let everything = Cut(time: .max, inode: .max, names: .max)

  func side(time: Int64, inode: UInt64) -> Side {
    if time != self.time { return time < self.time ? .goes : .stays }
    if inode != self.inode { return inode < self.inode ? .goes : .stays }
    return .counted
  }
}
