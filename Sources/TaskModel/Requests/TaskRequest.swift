/// A wish that a task be run: what an application or a plugin submits.
public struct TaskRequest: Sendable, Hashable {
  /// Whose handler.
  public var identifier: TaskIdentifier
  /// Bytes for the handler, JSON by convention; at most ``Limits/payloadBytes``.
  public var payload: [UInt8]
  /// Not before; a hint, never a promise. nil: now.
  public var earliestBegin: WallTime?
  /// Whether it names no time and waits for `minimum_interval` after its identifier's last run began. Only a submission says so: from it
  /// ``earliestBegin`` is made, which is what is kept.
  public var isPaced = false
  /// What it needs besides its time: of the machine, of limits.
  public var gates: LaneGates
  /// What its submitter says its run does when a condition is lost; nil: the operator says it for its handler. The scheduler writes what
  /// comes of it into ``gates``; this is nil then.
  public var onLostCondition: LostConditionPolicy?
  /// −10 … 10; higher goes first.
  public var priority: Int
  /// Of live requests of an identifier only one holds a key; nil: it holds none.
  public var uniqueKey: String?
  /// What to do when the key is held.
  public var onConflict: ConflictPolicy
  /// nil: the operator's defaults.
  public var retry: RetryPolicy?
  /// nil: it runs once.
  public var repetition: RepeatRule?
  /// For listing and cancelling.
  public var tags: [String]
  /// From then on only network and power count of its conditions, and no window and no quota; nil: they count for ever.
  public var deadline: WallTime?
  /// Which clock its times follow.
  public var clock: DueClock
  /// The event it waits for; nil: it waits for its time alone.
  public var event: EventTrigger?
  /// The requests that must end first.
  public var after: [Dependency]
  /// A submission with the key of an earlier one is answered as that one was, and does nothing; nil: each submission counts.
  public var idempotencyKey: String?
  /// For how long from its submission the unique key is held even after the request has ended; nil: only while it lives.
  public var uniqueWindow: Duration?

  /// A request that is due now, once.
  public init(
    identifier: TaskIdentifier, payload: [UInt8] = [], earliestBegin: WallTime? = nil, conditions: Conditions = [], priority: Int = 0,
    uniqueKey: String? = nil, onConflict: ConflictPolicy = .none, retry: RetryPolicy? = nil, repetition: RepeatRule? = nil,
    tags: [String] = [], deadline: WallTime? = nil, clock: DueClock = .wall, event: EventTrigger? = nil, after: [Dependency] = [],
    idempotencyKey: String? = nil, uniqueWindow: Duration? = nil
  ) {
    self.identifier = identifier
    self.payload = payload
    self.earliestBegin = earliestBegin
    gates = LaneGates(conditions: conditions)
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

  /// What it needs of the machine.
  public var conditions: Conditions {
    get { gates.conditions }
    set { gates.conditions = newValue }
  }

  /// With what the unique key begins of a request that the configuration's `schedule` stands for.
  public static let scheduleKeyPrefix = "config:"

  /// Whether it stands for the `schedule` of its identifier in the configuration: it is the operator's, not the plugin's.
  public var isSchedule: Bool { uniqueKey == Self.scheduleKeyPrefix + identifier.rawValue }
}

/// Which clock a request's times follow.
public enum DueClock: String, Sendable, CaseIterable {
  /// The calendar: a change of it moves the request's start. For times of day.
  case wall
  /// The clock that runs from the machine's start, through suspends: setting the calendar does not move the start. For delays and
  /// intervals.
  case boot
}

/// What a submission led to.
public struct Submission: Sendable, Hashable {
  /// The request that now stands for it: the holder's where it was kept.
  public var id: RequestID
  /// What was done.
  public var disposition: Disposition
  /// The effective earliest start.
  public var nextStart: WallTime
  /// What the submitter should know: parked without a handler, an interval that was raised, …
  public var notes: [String]
  /// Whether this is the answer to an earlier submission with the same idempotency key.
  public var isRepeated: Bool
  /// The schedule as it is kept: with what was clamped, and the defaults filled in; nil: it is not at hand.
  public var effective: EffectiveSchedule?

  /// The answer as given.
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

/// When a request will run, as the host keeps it.
public struct EffectiveSchedule: Sendable, Hashable {
  /// The earliest next start; ``WallTime/distantFuture``: it waits for an event or a predecessor.
  public var nextStart: WallTime
  /// The latest next start that the flex allows.
  public var latestStart: WallTime
  /// How it repeats; nil: it runs once.
  public var repetition: RepeatRule?
  /// From then on only network and power count.
  public var deadline: WallTime?
  /// Which clock its times follow.
  public var clock: DueClock

  /// The schedule of a request as it is kept.
  public init(_ record: RequestRecord) {
    nextStart = record.due
    latestStart = record.due + record.gates.flex
    repetition = record.request.repetition
    deadline = record.request.deadline
    clock = record.request.clock
  }
}
