public import TaskModel

/// A request from the operator's configuration.
public struct ScheduledRequest: Sendable, Hashable {
  /// When it repeats.
  public var repetition: RepeatRule
  /// The event at which it repeats; nil if it repeats by time.
  public var event: EventTrigger?
  /// Its constraints besides time.
  public var gates: RunConstraints
  /// How much later than its times it may start, see ``TaskRequest/jitter``.
  public var jitter: Duration
  /// The payload of its runs.
  public var payload: [UInt8] = []
  /// Its priority, see ``TaskRequest/priority``.
  public var priority = 0
  /// Its tags.
  public var tags: [String] = []
  /// Its retry policy; nil for that of the identifier.
  public var retry: RetryPolicy?

  /// Creates a scheduled request.
  public init(_ repetition: RepeatRule, event: EventTrigger? = nil, gates: RunConstraints = .none, jitter: Duration = .zero) {
    self.repetition = repetition
    self.event = event
    self.gates = gates
    self.jitter = jitter
  }

  /// Creates a scheduled request that repeats every `interval`.
  public init(every interval: Duration) { self.init(RepeatRule(every: interval)) }

  /// What is submitted for it, except for the retry policy of the identifier.
  public func submission(of name: ScheduleName) -> TaskRequest {
    var request = TaskRequest(
      identifier: name.identifier, payload: payload, priority: priority, uniqueKey: name.uniqueKey, onConflict: .keep, retry: retry,
      repetition: repetition, tags: tags, event: event)
    (request.gates, request.jitter) = (gates, jitter)
    return request
  }
}

extension SchedulerCore {
  /// Makes the stored requests of `schedule` lines match the configuration.
  func reconcile(_ schedules: [ScheduleName: ScheduledRequest], _ transaction: any StoreTransaction, now: WallTime) throws {
    var missing = schedules
    for var record in try transaction.holders(ofKeysBeginningWith: TaskRequest.scheduleKeyPrefix) {
      guard let name = record.request.scheduleName else { continue }
      guard let schedule = missing.removeValue(forKey: name) else {
        if record.state == .running {
          try requestStop(&record, .cancelled, transaction)
        } else {
          try cancelWaiting(&record, message: "its schedule is no longer in the configuration", transaction, now: now)
        }
        continue
      }
      try bring(&record, inLineWith: schedule, name, transaction, now: now)
    }
    // A plugin that is missing now keeps its stored schedule until it returns.
    for (name, schedule) in missing.sorted(by: { $0.key.description < $1.key.description }) where handlers[name.identifier] != nil {
      _ = try submit(schedule.submission(of: name), by: .operatorsConfiguration, transaction, now: now)
    }
  }

  func bring(
    _ record: inout RequestRecord, inLineWith schedule: ScheduledRequest, _ name: ScheduleName, _ transaction: any StoreTransaction,
    now: WallTime
  ) throws {
    var wanted = schedule.submission(of: name)
    settleTenant(of: &wanted)
    // One that is damaged is written anew.
    let hasPayload = try legiblePayload(of: record.id, transaction) == wanted.payload
    guard let changed = try aligned(record, hasPayload: hasPayload, with: wanted, of: schedule.repetition, now: now) else { return }
    record = changed
    try transaction.rewrite(record)
    turn.changes += 1
    if record.state == .pending { becamePending(record) }
    note(record)
  }

  /// The stored request of a schedule as the configuration wants it; nil if it is so already.
  ///
  /// - Parameter hasPayload: Whether its payload is the wanted one.
  func aligned(
    _ stored: RequestRecord, hasPayload: Bool, with configured: TaskRequest, of rule: RepeatRule, now: WallTime
  ) throws(RequestRefusal) -> RequestRecord? {
    var (record, wanted) = (stored, configured)
    wanted.gates.keepLastHost(of: stored.request.gates)
    let retry = wanted.retry ?? policy.retry(of: wanted.identifier)
    guard
      record.request.repetition != rule || record.request.event != wanted.event || record.request.gates != wanted.gates
        || record.request.retry != retry || record.request.jitter != wanted.jitter || record.request.priority != wanted.priority
        || record.request.tags != wanted.tags || !hasPayload
    else { return nil }
    try occurrences.check(rule)
    let before = offset(of: record)
    record.request.jitter = wanted.jitter
    let offset = offset(of: record)
    if record.request.repetition != rule {
      let next = rule.interval.map { min(record.due.moved(by: .zero - before), now + $0) } ?? occurrences.following(rule, now)
      record.occurrence = next
      record.due = next.moved(by: offset)
      record.missedLeft = 0
    } else if rule.schedule != .event, let occurrence = record.occurrence, record.due == occurrence.moved(by: before) {
      record.due = occurrence.moved(by: offset)
    }
    record.request.repetition = rule
    record.request.event = wanted.event
    record.request.clock = rule.clock
    record.request.gates = wanted.gates
    record.request.retry = retry
    (record.request.payload, record.request.priority, record.request.tags) = (wanted.payload, wanted.priority, wanted.tags)
    return record
  }
}
