/// One report of progress.
public struct RunProgress: Sendable, Equatable, CustomStringConvertible {
  /// When the report came, in virtual time since the run began.
  public let time: Duration
  /// The work done; at most ``total`` if that is known.
  public let completed: UInt64
  /// The work in all; 0: unknown.
  public let total: UInt64
  /// What is counted; `nil` if the run did not say.
  public let unit: String?
  /// What the run did then; `nil` if it did not say.
  public let message: String?

  /// Creates a report to compare with.
  public init(time: Duration, completed: UInt64, total: UInt64, unit: String? = nil, message: String? = nil) {
    self.time = time
    self.completed = completed
    self.total = total
    self.unit = unit
    self.message = message
  }

  /// "3 of 10 files: copying report.pdf".
  public var description: String {
    (total == 0 ? "\(completed)" : "\(completed) of \(total)") + (unit.map { " \($0)" } ?? "") + (message.map { ": \($0)" } ?? "")
  }
}
