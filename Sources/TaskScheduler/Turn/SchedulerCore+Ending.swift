import Failpoints
import TaskModel

extension SchedulerCore {
  /// Ends a run: records its outcome in the history, and changes its request by the transition table.
  func end(_ run: RunID, _ ending: RunEnding, _ report: RunReport, _ transaction: any StoreTransaction, now: WallTime) throws {
    begin(run, endedAs: ending, report, now: now)
    guard let entry = live[run] else { return }
    var report = report
    (report.due, report.trace) = (entry.due, entry.trace)
    if !entry.isRepeating, entry.stopRequested == nil, ending.isPlainSuccess, entry.identifier != completions?.identifier {
      let isUnrecorded = unrecorded.remove(run) != nil
      if isUnrecorded {
        turn.recorded.append(run)
        note(entry.record)
      }
      let began = isUnrecorded ? entry.started : nil
      try transaction.apply(.ended(run, ending.outcome, message: report.message, began: began, at: now), to: entry.request)
      Failpoint.outcomeWritten.hit()
      var record = entry.record
      record.started = max(entry.started, report.began ?? entry.started)
      record.ended = max(now, record.started)
      record.outcome = ending.outcome
      record.report = report
      try transaction.append(record)
      countEnded(entry.identifier)
      if awaitsHost { turn.changedWatches = true }
      if !pluginHealth.isEmpty { try resetHealth(entry, transaction) }
      note(record)
      if isObserved, let request = try transaction.request(entry.request) { note(request) }
      try settleDependants(of: entry.request, ended: .succeeded, output: report.output, transaction, now: now)
      raise(HostEvents.succeeded(entry.identifier))
    } else {
      if unrecorded.contains(run) { try recordBegin(of: entry, transaction) }
      let record = try transaction.requestRunning(as: run, of: entry.request)
      try conclude(record, run: run, ending: ending, report: report, transaction, now: now)
      try judge(entry, ending, report, transaction, now: now)
    }
    live.removeValue(forKey: run)
    slotFreed(entry, took: report.handlerTime, now: now)
    handlers[entry.identifier]?.shortage = nil
    turn.ended.append(entry)
    if limits.hasQuota(entry.identifier) { turn.unmeasured.append(entry) }
  }

  /// Frees the slot of a run whose request no longer accepts its outcome.
  func abandon(_ run: RunID, now: WallTime) {
    if let claim = forget(run, now: now) { turn.released.append(claim) }
    guard let entry = live.removeValue(forKey: run) else { return }
    if unrecorded.remove(run) != nil { turn.recorded.append(run) }
    limits.began(run, at: now)
    slotFreed(entry, took: nil, now: now)
    turn.ended.append(entry)
  }

  /// Records any ending; also used for runs of the previous host process.
  func conclude(
    _ record: RequestRecord, run: RunID, ending: RunEnding, report: RunReport, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    var record = record
    let outcome = ending.stopped(by: record.stopRequested).outcome
    let policy = record.request.retry ?? policy.retry(of: record.request.identifier)
    // A person started a continued task and sees that it took too long: do not start it again on its own.
    let isFinal = outcome == .expired && handler(ofRunsOf: record.request.identifier)?.contract.kind == .continued
    let guards = RequestGuards(
      attemptsLeft: record.attempt < policy.attempts && !isFinal, lossesLeft: record.losses.adding(saturating: 1) < Limits.lossesInARow,
      repeating: record.isRepeating)
    let started = report.began ?? record.started ?? now
    var history = RunRecord(
      id: run, request: record.id, identifier: record.request.identifier, host: host(for: record.id), attempt: record.attempt,
      started: min(started, now), ended: now, outcome: outcome, report: report)
    // A run is stopped once: what its handler was told stands, even if its request is cancelled during the grace.
    history.report.stopReason = report.stopReason ?? record.stopRequested
    // A run of the previous host process.
    history.report.trace =
      report.trace
      ?? self.policy.trace(
        of: run, request: record.id, attempt: record.attempt, isRepeating: record.isRepeating, record.request.traceparent)
    try transaction.append(history)

    let transition = try record.apply(.ended(outcome), guards: guards)
    if case .nextOccurrence = transition.due {
      try goOn(&record, transaction, now: self.now(for: record.id, now))
    } else {
      record.due = due(
        of: record, transition.due, after: history.attempt, retry: policy, report: report, now: self.now(for: record.id, now))
    }
    var told = Told.nobody
    if transition.isFinal, record.stopRequested != .replaced {
      let end: RequestState = transition.state.isFinal ? transition.state : outcome.isSuccess ? .succeeded : .failed
      told = try tellEnd(of: record, as: end, output: report.output, transaction, now: now)
    }
    // Who waited knows that it failed: nobody has to look after it.
    if transition.state == .failed, told.isTold { try record.apply(.discarded) }
    record.stopRequested = nil
    record.setAside = nil
    record.lastOutcome = outcome
    record.lastMessage = told.note(report.message)
    if transition.state.isFinal {
      record.ended = now
      record.paused = nil
    }
    try transaction.update(record)

    let identifier = record.request.identifier
    try noteAwaitedFile(of: record, output: report.output, transaction)
    if record.state == .pending {
      becamePending(record)
    } else {
      countEnded(identifier)
    }
    // Observers see the run's end before the request's next state.
    note(history)
    note(record)
    if record.state.isFinal {
      try settleDependants(of: record.id, ended: transition.state, output: report.output, transaction, now: now)
    }
    switch outcome {
    case .succeeded, .noop: raise(HostEvents.succeeded(identifier))
    case .cancelled, .snoozed, .stopped: break
    case .failed, .retried, .expired, .crashed, .lost:
      guard transition.isFinal else { break }
      raise(HostEvents.failed(identifier))
      if !told.isTold { noteFailed(record, run: history, report.message, now: now) }
    }
  }

  /// Moves a request whose current occurrence has ended to its next one; its next event may have no payload.
  func goOn(_ record: inout RequestRecord, _ transaction: any StoreTransaction, now: WallTime) throws {
    if record.request.event != nil, record.eventDue == nil { try transaction.setEventPayload(nil, of: record.id) }
    advance(&record, now: now)
  }

  /// Notes in memory that a request is pending.
  func becamePending(_ record: RequestRecord) {
    handlers[record.request.identifier]?.becamePending(record)
    if record.gates.wakes { hasWaking = true }
    if !record.isRelaxed, let deadline = record.request.deadline { nextDeadline.note(deadline) }
  }

  /// Counts a live request that has ended.
  func countEnded(_ identifier: TaskIdentifier) {
    countLive(identifier, by: -1)
  }

  /// The longest delay that a handler may ask for.
  private static let longestWait = Duration.seconds(366 * 86_400)

  private func due(
    of record: RequestRecord, _ due: RequestTransition.Due, after attempt: Int, retry: RetryPolicy, report: RunReport, now: WallTime
  ) -> WallTime {
    let time: WallTime
    switch due {
    case .unchanged, .nextOccurrence: return record.due
    case .now: return max(now, record.due)
    case .afterSnooze: time = now + (report.retryAfter.map { min($0, Self.longestWait) } ?? policy.snooze)
    case .afterBackoff:
      time = now + (report.retryAfter.map { min($0, Self.longestWait) } ?? retry.delay(afterAttempt: attempt, jitter: jitter()))
    }
    // A retry never outlasts its occurrence.
    guard let rule = record.request.repetition, rule.schedule != .event, let occurrence = record.occurrence else { return time }
    let offset = offset(of: record)
    return min(time, occurrences.next(rule, after: occurrence, now: now.moved(by: .zero - offset)).moved(by: offset))
  }
}

extension RunEnding {
  /// Whether the run returned SUCCESS or NOOP and nobody asked it to stop.
  var isPlainSuccess: Bool { self == .returned(.success, stop: nil) || self == .returned(.noop, stop: nil) }

  /// The ending after its request was cancelled or replaced, whether or not the handler knew; unchanged if `reason` is nil.
  func stopped(by reason: StopReason?) -> RunEnding {
    guard let reason else { return self }
    switch self {
    case .returned(let result, _): return .returned(result, stop: reason)
    case .forced: return .forced(reason)
    case .crashed, .lost: return .forced(reason)
    }
  }
}
