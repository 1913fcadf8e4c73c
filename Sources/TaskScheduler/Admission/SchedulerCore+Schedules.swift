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

  /// Creates a scheduled request.
  public init(_ repetition: RepeatRule, event: EventTrigger? = nil, gates: RunConstraints = .none, jitter: Duration = .zero) {
    self.repetition = repetition
    self.event = event
    self.gates = gates
    self.jitter = jitter
  }

  /// Creates a scheduled request that repeats every `interval`.
  public init(every interval: Duration) { self.init(RepeatRule(every: interval)) }
}

extension SchedulerCore {
  /// Makes the stored requests of `schedule` lines match the configuration.
  func reconcile(_ schedules: [TaskIdentifier: ScheduledRequest], _ transaction: any StoreTransaction, now: WallTime) throws {
    var missing = schedules
    for var record in try transaction.holders(ofKeysBeginningWith: TaskRequest.scheduleKeyPrefix) {
      let identifier = record.request.identifier
      guard record.request.isSchedule else { continue }
      guard let schedule = missing.removeValue(forKey: identifier) else {
        if record.state == .running {
          try requestStop(&record, .cancelled, transaction)
        } else {
          try cancelWaiting(&record, message: "its schedule is no longer in the configuration", transaction, now: now)
        }
        continue
      }
      try bring(&record, inLineWith: schedule, transaction, now: now)
    }
    // A plugin that is missing now keeps its stored schedule until it returns.
    for (identifier, schedule) in missing where handlers[identifier] != nil {
      var request = TaskRequest(
        identifier: identifier, uniqueKey: TaskRequest.scheduleKeyPrefix + identifier.rawValue, onConflict: .keep,
        repetition: schedule.repetition)
      request.event = schedule.event
      request.gates = schedule.gates
      request.jitter = schedule.jitter
      _ = try submit(request, by: .operatorsConfiguration, transaction, now: now)
    }
  }

  private func bring(
    _ record: inout RequestRecord, inLineWith schedule: ScheduledRequest, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    let rule = schedule.repetition
    let retry = policy.retry(of: record.request.identifier)
    guard
      record.request.repetition != rule || record.request.event != schedule.event || record.request.gates != schedule.gates
        || record.request.retry != retry || record.request.jitter != schedule.jitter
    else { return }
    try occurrences.check(rule)
    let before = offset(of: record)
    record.request.jitter = schedule.jitter
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
    record.request.event = schedule.event
    record.request.clock = rule.clock
    record.request.gates = schedule.gates
    record.request.retry = retry
    try transaction.rewrite(record)
    turn.changes += 1
    if record.state == .pending { becamePending(record) }
    note(record)
  }
}
