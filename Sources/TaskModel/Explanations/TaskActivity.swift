/// What one schedule did last, and when it is to run again. An identifier of which nothing was ever submitted has one too.
public struct TaskActivity: Sendable, Hashable {
  /// What is known of the schedule; nothing but the identifier where nothing ran and nothing waits.
  public var schedule: ScheduleRecord
  /// When its next request is due; nil: none is.
  public var nextStart: WallTime?

  /// An activity as given.
  public init(_ schedule: ScheduleRecord, nextStart: WallTime? = nil) {
    self.schedule = schedule
    self.nextStart = nextStart
  }

  /// Whether the last run's time was up, or it stalled, whatever it returned then.
  public var hasExpired: Bool {
    guard let run = schedule.lastRun else { return false }
    return run.outcome == .expired || run.report.stopReason == .budget || run.report.stopReason == .stalled
  }
}
