/// A request to run a task, submitted by an application or a plugin.
public struct TaskRequest: Sendable, Hashable {
  /// The task identifier.
  public var identifier: TaskIdentifier
  /// Bytes for the handler, JSON by convention; at most ``Limits/payloadBytes``.
  public var payload: [UInt8]
  /// The earliest start: a hint, not a promise. Nil means now.
  public var earliestBegin: WallTime?
  /// Whether the request waits for `minimum_interval` after its identifier's last run started instead of naming a time. Set only in a
  /// submission; the host stores the resulting ``earliestBegin``.
  public var isPaced = false
  /// The earliest start as a time from the submission, on the boot clock, instead of ``earliestBegin``; nil for none. Set only in a
  /// submission; the host stores the resulting ``earliestBegin``.
  public var delay: Duration?
  /// Whether no host has checked the request and completed it with the operator's settings: an application submitted it in SQL. The host that
  /// takes it does so.
  public var isUnchecked = false
  /// What the request needs besides its time: conditions of the machine and limits.
  public var gates: RunConstraints
  /// What a run does when a condition is lost; nil means the operator's setting for the handler. The scheduler writes the result into
  /// ``gates`` and sets this to nil.
  public var onLostCondition: LostConditionPolicy?
  /// −10 … 10; a higher priority goes first.
  public var priority: Int
  /// The unique key, which only one live request of an identifier can hold; nil for none.
  public var uniqueKey: String?
  /// What the submission does when another request holds the key.
  public var onConflict: ConflictPolicy
  /// The retry policy; nil means the operator's defaults.
  public var retry: RetryPolicy?
  /// When the request repeats; nil if it runs once.
  public var repetition: RepeatRule?
  /// Tags for listing and cancelling.
  public var tags: [String]
  /// The time after which, of the conditions, only network and power apply, and no window or quota; nil for no deadline.
  public var deadline: WallTime?
  /// The clock that the request's times follow.
  public var clock: DueClock
  /// The event that the request waits for; nil if it waits for its time alone.
  public var event: EventTrigger?
  /// The requests that must end first.
  public var after: [Dependency]
  /// The idempotency key. A submission with the key of an earlier one does nothing and gets the same answer; nil means each submission
  /// counts.
  public var idempotencyKey: String?
  /// How long after submission the unique key stays held, even if the request has ended; nil means only while the request is live.
  public var uniqueWindow: Duration?
  /// How much later than its times it may start. Which share of it, is fixed for a request on a host and differs between hosts, so that not
  /// all of them start at once.
  public var jitter = Duration.zero
  /// The trace in which it was submitted; nil for none. Runs get a ``RunTrace`` that follows from it.
  public var traceparent: TraceParent?
  /// The plugin that submitted it, by one of its identifiers, if a ``CompletionRule`` is about the request's identifier; nil for clients. The
  /// host sets it: no payload, tag or field of a submission says it.
  public var owner: TaskIdentifier?
  /// Whether nobody is told of its end, because its owner has cancelled it. The host sets it.
  public var isUntold = false

  /// Creates a request that is due now and runs once.
  public init(
    identifier: TaskIdentifier, payload: [UInt8] = [], earliestBegin: WallTime? = nil, conditions: Conditions = [], priority: Int = 0,
    uniqueKey: String? = nil, onConflict: ConflictPolicy = .none, retry: RetryPolicy? = nil, repetition: RepeatRule? = nil,
    tags: [String] = [], deadline: WallTime? = nil, clock: DueClock = .wall, event: EventTrigger? = nil, after: [Dependency] = [],
    idempotencyKey: String? = nil, uniqueWindow: Duration? = nil
  ) {
    self.identifier = identifier
    self.payload = payload
    self.earliestBegin = earliestBegin
    gates = RunConstraints(conditions: conditions)
    self.priority = priority
    self.uniqueKey = uniqueKey
    self.onConflict = onConflict
    self.retry = retry
    self.repetition = repetition
    self.tags = tags
    self.deadline = deadline
    self.clock = clock
    self.event = event
    self.after = after
    self.idempotencyKey = idempotencyKey
    self.uniqueWindow = uniqueWindow
  }

  /// The machine conditions that the request requires.
  public var conditions: Conditions {
    get { gates.conditions }
    set { gates.conditions = newValue }
  }

  /// Whether it has a unique or an idempotency key.
  public var hasKeys: Bool { uniqueKey != nil || idempotencyKey != nil }

  /// The beginning of the tag that marks a plugin's transfer, before its ``owner``. The host alone gives it.
  public static let ownerTag = "plugin:"

  /// The beginning of the tag of a request that tells of another one's end, before that one's id: see ``CompletionRule``. The host alone
  /// gives it.
  public static let endedTag = "transfer:"

  /// The beginning of the idempotency keys of plugins where those of all submitters are in one table, as in a fleet. The host alone gives it.
  public static let pluginKeyPrefix = "plugin:"

  /// The prefix of the unique key of a request that comes from the configuration, see ``ScheduleName``.
  public static let scheduleKeyPrefix = "config:"

  /// The schedule of the configuration that the request stands for; nil if it was submitted.
  public var scheduleName: ScheduleName? { ScheduleName(key: uniqueKey, of: identifier) }

  /// Whether the request comes from a schedule in the configuration. It then belongs to the operator, not to the plugin.
  public var isSchedule: Bool { scheduleName != nil }
}

/// The clock that a request's times follow.
public enum DueClock: String, Sendable, CaseIterable {
  /// The calendar, for times of day. Setting it moves the request's start.
  case wall
  /// The clock that runs from the machine's start, through suspends, for delays and intervals. Setting the calendar does not move the
  /// start.
  case boot
}

/// The result of a submission.
public struct Submission: Sendable, Hashable {
  /// The request that now represents the submission: the holder if that was kept.
  public var id: RequestID
  /// What the submission did.
  public var disposition: Disposition
  /// The effective earliest start.
  public var nextStart: WallTime
  /// Notes for the submitter: the request waits for a handler, its interval was raised, …
  public var notes: [String]
  /// Whether this is the answer to an earlier submission with the same idempotency key.
  public var isRepeated: Bool
  /// The stored schedule, with clamped values and defaults; nil if it is not available.
  public var effective: EffectiveSchedule?
  /// Whether the host keeps it for the fleet, whose database is away.
  public var isParked = false

  /// Creates a result.
  public init(
    id: RequestID, disposition: Disposition, nextStart: WallTime, notes: [String] = [], isRepeated: Bool = false,
    effective: EffectiveSchedule? = nil
  ) {
    self.id = id
    self.disposition = disposition
    self.nextStart = nextStart
    self.notes = notes
    self.isRepeated = isRepeated
    self.effective = effective
  }
}

/// When a stored request will run.
public struct EffectiveSchedule: Sendable, Hashable {
  /// The earliest next start; ``WallTime/distantFuture`` if the request waits for an event or a predecessor.
  public var nextStart: WallTime
  /// The latest next start that the flex allows.
  public var latestStart: WallTime
  /// How the request repeats; nil if it runs once.
  public var repetition: RepeatRule?
  /// The time after which only network and power apply.
  public var deadline: WallTime?
  /// The clock that the request's times follow.
  public var clock: DueClock

  /// Creates the schedule of a stored request.
  public init(_ record: RequestRecord) {
    nextStart = record.due
    latestStart = record.due + record.gates.flex
    repetition = record.request.repetition
    deadline = record.request.deadline
    clock = record.request.clock
  }
}
