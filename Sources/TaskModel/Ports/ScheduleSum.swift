/// What the schedules of one identifier have come to.
public struct ScheduleSum: Sendable, Hashable {
  /// When a run of one of them last succeeded; nil if none has.
  public var lastSuccess: WallTime?
  /// The failed runs since the last success; of several schedules, the most.
  public var failures: Int

  /// A sum as given.
  public init(lastSuccess: WallTime? = nil, failures: Int = 0) { (self.lastSuccess, self.failures) = (lastSuccess, failures) }

  /// Counts other schedules in.
  public mutating func note(_ other: ScheduleSum) {
    lastSuccess = [lastSuccess, other.lastSuccess].compactMap(\.self).max()
    failures = max(failures, other.failures)
  }
}
