/// How far a run has come.
public struct RunProgress: Sendable, Hashable {
  /// Units done; never above `total`, unless `total` is 0.
  public var completed: UInt64
  /// Total units; 0 if unknown.
  public var total: UInt64
  /// What is counted, for people: a plural such as `files`; `bytes` are shown as a size. Nil if unknown. A ``PluginText`` line of at most
  /// ``Limits/progressUnitBytes``.
  public var unit: String?
  /// What the run does now, for people; nil if it did not say. A ``PluginText`` line of at most ``Limits/progressMessageBytes``.
  public var message: String?

  /// Creates a progress. Above a known `total`, `completed` is reduced to `total`.
  public init(completed: UInt64, total: UInt64, unit: String? = nil, message: String? = nil) {
    self.completed = total == 0 ? completed : min(completed, total)
    self.total = total
    self.unit = unit
    self.message = message
  }
}
