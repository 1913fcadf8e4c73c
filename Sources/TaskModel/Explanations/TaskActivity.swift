/// The last and the next run of a schedule. An identifier without any submission has an activity too.
public struct TaskActivity: Sendable, Hashable {
  /// The schedule's record. It has only the identifier if nothing ran and nothing waits.
  public var schedule: ScheduleRecord
  /// When the schedule's next request is due; nil if no request is pending.
  public var nextStart: WallTime?

  /// The rate, quota or idle stage that holds a due request of the identifier; nil if none does.
  public var throttle: Gate?

  /// Creates an activity.
  public init(_ schedule: ScheduleRecord, nextStart: WallTime? = nil, throttle: Gate? = nil) {
    self.schedule = schedule
    self.nextStart = nextStart
    self.throttle = throttle
  }

  /// Whether the last run used up its budget or stalled, whatever it returned.
  public var hasExpired: Bool {
    guard let run = schedule.lastRun else { return false }
    return run.outcome == .expired || run.report.stopReason == .budget || run.report.stopReason == .stalled
  }
}
