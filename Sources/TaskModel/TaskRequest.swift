/// A wish that a task be run: what an application or a plugin submits.
public struct TaskRequest: Sendable, Hashable {
  /// Whose handler.
  public var identifier: TaskIdentifier
  /// Bytes for the handler, JSON by convention; at most ``Limits/payloadBytes``.
  public var payload: [UInt8]
  /// Not before; a hint, never a promise. nil: now.
  public var earliestBegin: WallTime?
  /// What it needs of the machine.
  public var conditions: Conditions
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

  /// A request that is due now, once.
  public init(
    identifier: TaskIdentifier, payload: [UInt8] = [], earliestBegin: WallTime? = nil, conditions: Conditions = [], priority: Int = 0,
    uniqueKey: String? = nil, onConflict: ConflictPolicy = .none, retry: RetryPolicy? = nil, repetition: RepeatRule? = nil,
    tags: [String] = []
  ) {
    self.identifier = identifier
    self.payload = payload
    self.earliestBegin = earliestBegin
    self.conditions = conditions
    self.priority = priority
    self.uniqueKey = uniqueKey
    self.onConflict = onConflict
    self.retry = retry
    self.repetition = repetition
    self.tags = tags
  }

  /// With what the unique key begins of a request that the configuration's `schedule` stands for.
  public static let scheduleKeyPrefix = "config:"

  /// Whether it stands for the `schedule` of its identifier in the configuration: it is the operator's, not the plugin's.
  public var isSchedule: Bool { uniqueKey == Self.scheduleKeyPrefix + identifier.rawValue }
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

  /// The answer as given.
  public init(id: RequestID, disposition: Disposition, nextStart: WallTime, notes: [String] = []) {
    self.id = id
    self.disposition = disposition
    self.nextStart = nextStart
    self.notes = notes
  }
}
