/// The limits of one run: items, time and bytes, in any combination. `nil` means no limit.
///
/// A run that stops early and returns ``TaskResult/snooze(after:)`` costs no attempt and makes room for others; a run that expires must
/// hurry. Therefore work always stops ``margin`` before the run expires, whatever the limits.
///
/// ```swift
/// let budget = WorkBudget(items: 500, time: .seconds(20), bytes: 50_000_000)
/// ```
public struct WorkBudget: Sendable, Equatable {
  /// Items, above zero.
  public var items: Int?

  /// Time since the work began, on the host's clock.
  public var time: Duration?

  /// Bytes, above zero, as the work itself counts them.
  public var bytes: Int?

  /// Time reserved before the run expires for the checkpoint and for cleaning up. Limited to a quarter of the run's remaining time when the
  /// work begins, so that short runs work too.
  public var margin: Duration

  /// Creates a budget; omitted values are not limited. The default margin is 2 s.
  public init(items: Int? = nil, time: Duration? = nil, bytes: Int? = nil, margin: Duration = .seconds(2)) {
    self.items = items
    self.time = time
    self.bytes = bytes
    self.margin = margin
  }
}
