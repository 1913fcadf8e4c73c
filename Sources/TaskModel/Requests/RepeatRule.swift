/// When a request comes again.
public struct RepeatRule: Sendable, Hashable {
  /// What makes the next occurrence.
  public enum Schedule: Sendable, Hashable {
    /// That much later than the one before: on a grid that does not drift.
    case every(Duration)
    /// The times of a cron expression by the clocks of a place.
    case cron(CronRule)
    /// The next event that the request's ``EventTrigger`` names.
    case event
  }

  /// What makes the next occurrence.
  public var schedule: Schedule
  /// What becomes of occurrences whose time passed while the host was down.
  public var missed: MissedPolicy

  /// A rule as given.
  public init(_ schedule: Schedule, missed: MissedPolicy = .latest) {
    self.schedule = schedule
    self.missed = missed
  }

  /// Every `interval`.
  public init(every interval: Duration) { self.init(.every(interval)) }

  /// The interval of ``Schedule/every(_:)``; nil: the schedule is another.
  public var interval: Duration? {
    get { if case .every(let interval) = schedule { interval } else { nil } }
    set { if let newValue { schedule = .every(newValue) } }
  }

  /// Which clock its times follow.
  public var clock: DueClock { if case .every = schedule { .boot } else { .wall } }

  /// The first moment after `now` on the grid that `occurrence` lies on, `interval` apart: from the schedule alone, never from when a run
  /// happened to take place, so it does not drift. An occurrence that is still to come stays.
  public static func next(every interval: Duration, after occurrence: WallTime, now: WallTime) -> WallTime {
    let step = max(1, interval.wholeMilliseconds)
    guard occurrence <= now else { return occurrence }
    return now + .milliseconds(step - (now - occurrence).wholeMilliseconds % step)
  }
}

/// The times of a cron expression by the clocks of a place.
public struct CronRule: Sendable, Hashable {
  /// Five fields, or a name as `@daily`.
  public var expression: String
  /// The IANA name of the time zone.
  public var timeZone: String
  /// What happens to times when clocks are set.
  public var daylight: DaylightPolicy

  /// A rule as given; neither the expression nor the zone is looked at here.
  public init(_ expression: String, timeZone: String, daylight: DaylightPolicy = DaylightPolicy()) {
    self.expression = expression
    self.timeZone = timeZone
    self.daylight = daylight
  }
}

/// What becomes of the occurrences of a repeating request whose time passed while they could not run.
public enum MissedPolicy: Sendable, Hashable {
  /// One run stands for all of them.
  case latest
  /// None of them runs: it goes on with the next one.
  case skip
  /// Each runs, the latest `limit` of them, one every `spread`, so that a boot is no stampede; but at least twice as fast as new ones fall
  /// due. What falls due while they run, runs after them.
  case all(limit: Int, spread: Duration)

  /// Its name in JSON and on the command line.
  public var name: String {
    switch self {
    case .latest: "latest"
    case .skip: "skip"
    case .all: "all"
    }
  }

  /// The names there are.
  public static let names = ["latest", "skip", "all"]
}
