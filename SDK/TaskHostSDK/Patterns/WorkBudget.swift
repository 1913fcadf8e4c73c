/// How much one run takes on: items, time and bytes, in any combination. What is `nil` is not limited.
///
/// A run that stops early and returns ``TaskResult/snooze(after:)`` costs no attempt and lets others have their turn; one that expires has
/// to hurry. So whatever the limits are, work stops ``margin`` before the run expires.
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

  /// Time kept free before the run expires, for the checkpoint and for cleaning up. At most a quarter of what the run has left when the work
  /// begins, so that a short run works too.
  public var margin: Duration

  /// A budget; what is not given is not limited. The default margin is 2 s.
  public init(items: Int? = nil, time: Duration? = nil, bytes: Int? = nil, margin: Duration = .seconds(2)) {
    self.items = items
    self.time = time
    self.bytes = bytes
    self.margin = margin
  }
}
