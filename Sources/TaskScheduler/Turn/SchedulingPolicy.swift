public import CalendarTime
public import SchedulingLimits
public import TaskModel

/// The operator's rules for scheduling.
public struct SchedulingPolicy: Sendable {
  /// The maximum number of concurrent runs of the host.
  public var maxConcurrentRuns: Int
  /// The maximum number of live requests of an identifier.
  public var maxPending: Int
  /// The shortest interval of a submitted repeating request, unless ``limits`` override it; shorter intervals are raised to it. Also how
  /// long a paced request waits after the last run of its identifier began.
  public var minimumInterval: Duration
  /// The retry policy for requests without one, unless ``limits`` override it.
  public var retry: RetryPolicy
  /// How long a request waits after a run that snoozed without a time.
  public var snooze = Duration.seconds(1)
  /// How long before its time a request may be claimed, so that its handler does not wait for a commit. Zero means that it is recorded when
  /// it is due.
  public var claimAhead = Duration.zero
  /// The identifiers that may register; nil means no restriction.
  public var permitted: [IdentifierPattern]?
  /// Whether every request for an unregistered identifier is parked; otherwise only one whose identifier ``permitted`` names in full.
  public var parksUnregistered = false
  /// The identifiers whose plugins are not loaded before somebody approves what they may do. Their requests are parked.
  public var awaitingApproval: Set<TaskIdentifier> = []
  /// How long ended runs are kept.
  public var historyAge: Duration
  /// How many ended runs are kept.
  public var historyCount: Int
  /// The number of tokens of each named resource.
  public var resources: [String: Int] = [:]
  /// How often runs of the whole host may begin; nil means no limit.
  public var rate: Rate?
  /// How often events may wake the requests of one identifier; nil means no limit. Further events are merged into the next permitted
  /// wake-up.
  public var eventQuota: Rate?
  /// The maintenance windows, by name.
  public var windows: [String: MaintenanceWindow] = [:]
  /// The limits of individual identifiers.
  public var limits: [TaskIdentifier: PluginLimits] = [:]
  /// The limits of all other identifiers.
  public var otherLimits = PluginLimits()
  /// Loads the rules of a time zone; called on the scheduler's thread.
  public var timeZones: @Sendable (String) throws(ZoneDirectory.Failure) -> TimeZoneRules = { name throws(ZoneDirectory.Failure) in
    try ZoneDirectory().rules(of: name)
  }

  /// Whom to tell of incidents.
  public var notices = NoticePolicy()
  /// The identifiers of whose runs observers are told when they are handed out.
  public var announced: Set<TaskIdentifier> = []
  /// How traces are made of requests that are submitted without one; nil: there are none, and observers are not told of submissions.
  public var traces: TraceSampling?
  /// When a machine that rests is left alone; nil if it is not.
  public var idleStages: IdleStages?
  /// Where limits come from that the configuration does not mention.
  public private(set) var profile = ThrottlingProfile.server

  /// Fills what is not limited with the limits of a profile.
  public mutating func fill(from profile: ThrottlingProfile) {
    self.profile = profile
    eventQuota = eventQuota ?? profile.eventQuota
    otherLimits.fill(from: profile)
    limits = limits.mapValues { limits in
      var limits = limits
      limits.fill(from: profile)
      return limits
    }
  }

  /// The trace of a run; nil if its request was submitted without one, and the host makes none.
  public func trace(of run: RunID, request: RequestID, attempt: Int, isRepeating: Bool, _ traceparent: TraceParent?) -> RunTrace? {
    (traceparent ?? traces?.root(of: request)).map { RunTrace(of: run, attempt: attempt, isRepeating: isRepeating, parent: $0) }
  }

  // These three are looked up several times for each request. Called, they would need a copy of the whole policy.

  /// The limits of an identifier.
  @inline(__always) func limits(of identifier: TaskIdentifier) -> PluginLimits { limits[identifier] ?? otherLimits }

  /// The retry policy for requests of an identifier that have none.
  @inline(__always) public func retry(of identifier: TaskIdentifier) -> RetryPolicy { limits(of: identifier).retry ?? retry }

  /// The ``minimumInterval`` of an identifier.
  @inline(__always) func minimumInterval(of identifier: TaskIdentifier) -> Duration {
    limits(of: identifier).minimumInterval ?? minimumInterval
  }

  /// Creates a policy; the defaults are those of the configuration file.
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
}
