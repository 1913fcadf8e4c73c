/// One report of progress.
public struct RunProgress: Sendable, Equatable, CustomStringConvertible {
  /// When, on the virtual clock, from the run's beginning.
  public let time: Duration
  /// What is done; at most ``total``, where that is known.
  public let completed: UInt64
  /// Of how much; 0: unknown.
  public let total: UInt64

  /// A report, to compare with.
  public init(time: Duration, completed: UInt64, total: UInt64) {
    self.time = time
    self.completed = completed
    self.total = total
  }

  /// "3 of 10".
  public var description: String { total == 0 ? "\(completed)" : "\(completed) of \(total)" }
}
