/// One report of progress.
public struct RunProgress: Sendable, Equatable, CustomStringConvertible {
  /// When the report came, in virtual time since the run began.
  public let time: Duration
  /// The work done; at most ``total`` if that is known.
  public let completed: UInt64
  /// The work in all; 0: unknown.
  public let total: UInt64

  /// Creates a report to compare with.
  public init(time: Duration, completed: UInt64, total: UInt64) {
    self.time = time
    self.completed = completed
    self.total = total
  }

  /// "3 of 10".
  public var description: String { total == 0 ? "\(completed)" : "\(completed) of \(total)" }
}
