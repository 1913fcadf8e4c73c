/// The last and the next activity of a schedule. An identifier without any submission has one too.
public struct TaskActivity: Sendable, Hashable {
  /// The schedule's record; it has only the identifier if nothing ran and nothing waits.
  public var schedule: ScheduleRecord
  /// When its next request is due; nil if none is.
  public var nextStart: WallTime?

  /// Creates an activity.
  public init(_ schedule: ScheduleRecord, nextStart: WallTime? = nil) {
    self.schedule = schedule
    self.nextStart = nextStart
  }

  /// Whether the last run used up its budget or stalled, whatever it returned.
  public var hasExpired: Bool {
    guard let run = schedule.lastRun else { return false }
    return run.outcome == .expired || run.report.stopReason == .budget || run.report.stopReason == .stalled
  }
}
