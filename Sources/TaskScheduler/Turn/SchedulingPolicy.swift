public import CalendarTime
public import SchedulingLimits
public import TaskModel

/// The operator's rules for scheduling.
public struct SchedulingPolicy: Sendable {
  /// How many runs the host allows at once.
  public var maxConcurrentRuns: Int
  /// How many live requests an identifier may have.
  public var maxPending: Int
  /// The shortest interval at which a submitted request may repeat, where ``limits`` say nothing else; shorter ones are raised to it. Also
  /// how long a paced request waits after its identifier's last run began.
  public var minimumInterval: Duration
  /// For requests that say nothing about retries.
  public var retry: RetryPolicy
  /// When a run that snoozed and named no time comes again.
  public var snooze = Duration.seconds(1)
  /// How long before its time a request may be recorded as started, so that its handler begins on time instead of after a commit. Zero: it
  /// is recorded when it is due.
  public var claimAhead = Duration.zero
  /// Who may register.
  public var permitted: [IdentifierPattern]?
  /// Whether every request waits whose identifier nobody has registered; otherwise only one that ``permitted`` names in full.
  public var parksUnregistered = false
  /// How long ended runs are kept.
  public var historyAge: Duration
  /// How many ended runs are kept.
  public var historyCount: Int
  /// How many tokens the host has of each named resource.
  public var resources: [String: Int] = [:]
  /// How often runs of the whole host may begin; nil: as often as they are due.
  public var rate: Rate?
  /// How often events may wake the requests of one identifier; what comes too often is merged into the next permitted wake-up.
  public var eventQuota: Rate?
  /// When requests may run that wait for a maintenance window, by name.
  public var windows: [String: MaintenanceWindow] = [:]
  /// The limits of single identifiers.
  public var limits: [TaskIdentifier: PluginLimits] = [:]
  /// Where the rules of a time zone come from; called on the scheduler's thread.
  public var timeZones: @Sendable (String) throws(ZoneDirectory.Failure) -> TimeZoneRules = { name throws(ZoneDirectory.Failure) in
    try ZoneDirectory().rules(of: name)
  }

  /// For the requests of an identifier that say nothing about retries.
  public func retry(of identifier: TaskIdentifier) -> RetryPolicy { limits[identifier]?.retry ?? retry }

  /// The rules as given; the defaults are those of the configuration file.
  public init(
    maxConcurrentRuns: Int = 16, maxPending: Int = 10_000, minimumInterval: Duration = .seconds(900), retry: RetryPolicy = RetryPolicy(),
    permitted: [IdentifierPattern]? = nil, historyAge: Duration = .seconds(7 * 86_400), historyCount: Int = 100_000
  ) {
    self.maxConcurrentRuns = max(1, maxConcurrentRuns)
    self.maxPending = maxPending
    self.minimumInterval = minimumInterval
    self.retry = retry
    self.permitted = permitted
    self.historyAge = historyAge
    self.historyCount = historyCount
  }

  /// The ``minimumInterval`` of an identifier.
  func minimumInterval(of identifier: TaskIdentifier) -> Duration { limits[identifier]?.minimumInterval ?? minimumInterval }
}
