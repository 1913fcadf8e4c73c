/// When a request repeats.
public struct RepeatRule: Sendable, Hashable {
  /// What determines the next occurrence.
  public enum Schedule: Sendable, Hashable {
    /// Times at this interval, on a grid that does not drift.
    case every(Duration)
    /// The times of a cron expression in a time zone.
    case cron(CronRule)
    /// The next event that the request's ``EventTrigger`` names.
    case event
  }

  /// What determines the next occurrence.
  public var schedule: Schedule
  /// What happens to occurrences whose time passed while the host was down.
  public var missed: MissedPolicy

  /// Creates a rule.
  public init(_ schedule: Schedule, missed: MissedPolicy = .latest) {
    self.schedule = schedule
    self.missed = missed
  }

  /// Creates a rule that repeats every `interval`.
  public init(every interval: Duration) { self.init(.every(interval)) }

  /// The interval of ``Schedule/every(_:)``; nil for other schedules.
  public var interval: Duration? {
    get { if case .every(let interval) = schedule { interval } else { nil } }
    set { if let newValue { schedule = .every(newValue) } }
  }

  /// The clock that the rule's times follow.
  public var clock: DueClock { if case .every = schedule { .boot } else { .wall } }

  /// The first moment after `now` on the grid of `occurrence` and `interval`. It depends on the schedule alone, not on the time of a run,
  /// so it does not drift. An `occurrence` in the future is returned unchanged.
  public static func next(every interval: Duration, after occurrence: WallTime, now: WallTime) -> WallTime {
    let step = max(1, interval.wholeMilliseconds)
    guard occurrence <= now else { return occurrence }
    return now + .milliseconds(step - (now - occurrence).wholeMilliseconds % step)
  }
}

/// The times of a cron expression in a time zone.
public struct CronRule: Sendable, Hashable {
  /// Five fields, or a name such as `@daily`.
  public var expression: String
  /// The IANA name of the time zone. Empty, in a submission only, for the machine's.
  public var timeZone: String
  /// What happens to times that clocks skip or repeat.
  public var daylight: DaylightPolicy

  /// Creates a rule without checking the expression or the zone.
  public init(_ expression: String, timeZone: String, daylight: DaylightPolicy = DaylightPolicy()) {
    self.expression = expression
    self.timeZone = timeZone
    self.daylight = daylight
  }
}

/// What happens to missed occurrences of a repeating request: those whose time passed while they could not run.
public enum MissedPolicy: Sendable, Hashable {
  /// One run replaces all missed occurrences.
  case latest
  /// No missed occurrence runs. The request continues with the next one.
  case skip
  /// The latest `limit` missed occurrences run, one every `spread`, so that they do not all start at boot. They run at least twice as fast
  /// as new ones become due. Occurrences that become due meanwhile run after them.
  case all(limit: Int, spread: Duration)

  /// The policy's name in JSON and on the command line.
  public var name: String {
    switch self {
    case .latest: "latest"
    case .skip: "skip"
    case .all: "all"
    }
  }

  /// All names.
  public static let names = ["latest", "skip", "all"]
  /// How many missed occurrences ``all(limit:spread:)`` runs if a submission does not say it.
  public static let presetLimit = 10
  /// How far apart ``all(limit:spread:)`` runs them if a submission does not say it.
  public static let presetSpread = Duration.seconds(60)
}
