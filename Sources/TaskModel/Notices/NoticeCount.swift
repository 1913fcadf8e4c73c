/// What is counted of notifications: see ``HostMetrics/notifications``.
public struct NoticeCount: Sendable, Hashable {
  /// What became of a notification, or of an attempt to deliver it. The raw values are part of the metrics and never change.
  public enum Outcome: String, Sendable, CaseIterable {
    /// A notification was submitted.
    case submitted
    /// Incidents were added to a notification that waits.
    case grouped
    /// The scheduler refused a notification.
    case refused
    /// An attempt delivered it.
    case delivered
    /// An attempt failed, and another may follow.
    case retried
    /// An attempt failed for good.
    case failed
  }

  /// The name of the rule.
  public var rule: String
  /// What became of it.
  public var outcome: Outcome

  /// Creates a key of the counts.
  public init(rule: String, outcome: Outcome) {
    self.rule = rule
    self.outcome = outcome
  }
}
