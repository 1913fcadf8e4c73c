import CalendarTime
import SchedulingLimits
import StoreTestSupport
import TaskModel

@testable import TaskScheduler

// What a walk works out by itself, to compare with what the host does.

extension Walk {
  /// A run has begun: nothing begins before its time, past a closed gate or beyond a limit.
  func began(_ order: RunOrder, at time: WallTime) throws {
    tally.starts += 1
    let now = host.now
    let record = try host.record(order.request)
    trace("begins at \(time.unixMilliseconds): \(record)")
    try promise(
      record.state == (order.isAhead ? .claimed : .running) && record.run == order.run,
      "\(order.run) began and is not its request's present run")
    guard var knowledge = known[record.id] else { throw ProofFailure("\(record.id) began, which nobody submitted") }
    try promise(!host.core.isDraining, "\(record.id) began while the host drains")
    try promise(time >= knowledge.floor, "\(record.id) began at \(time), before \(knowledge.floor)")
    try promise(
      record.due <= time && time <= now + host.policy.claimAhead, "\(record.id), due \(record.due), began at \(time) when it is \(now)")

    let isByEvent = record.request.repetition?.schedule == .event
    if knowledge.isRepeating, !isByEvent, record.occurrence != knowledge.occurrence {
      knowledge.occurrence = record.occurrence
      // The occurrence whose attempts these are lies ahead again, under another time.
      if !knowledge.wasSetBack { knowledge.spent = 0 }
    }
    if knowledge.wasLaunched || knowledge.wasSetBack, order.attempt == 1 { knowledge.spent = 0 }
    knowledge.wasSetBack = false
    // An update keeps the attempts spent, allows others, and may move the occurrence.
    if knowledge.wasUpdated {
      knowledge.spent = record.attemptsSpent
      knowledge.limit = max(knowledge.limit, knowledge.spent + 1)
    }
    try promise(
      order.attempt == knowledge.spent + 1 && record.attemptsSpent == knowledge.spent,
      "\(record.id) began its attempt \(order.attempt), after \(knowledge.spent) were spent")
    try promise(knowledge.spent < knowledge.limit, "\(record.id) began its attempt \(order.attempt) of \(knowledge.limit)")
    try promise(!knowledge.isStopped, "\(record.id) began though it was asked to stop")
    known[record.id] = knowledge

    let identifier = record.request.identifier
    try promise(host.core.handlers[identifier]?.suspension == nil, "\(record.id) began while its plugin is suspended")
    // An operator may launch it past every other gate; it counts all the same.
    guard host.core.live[order.run]?.isSimulated != true else { return count(identifier, record.gates.concurrencyKey, at: time) }

    // A deadline that has passed on a calendar that was set back since is still one that has passed.
    let isLate = record.request.deadline.map { record.isRelaxed && $0 <= latest || $0 <= now } ?? false
    let gates = isLate ? record.request.gates.relaxed : record.request.gates
    try promise(conditions.isSuperset(of: gates.conditions), "\(record.id) began without \(gates.conditions.subtracting(conditions).names)")
    if let window = gates.window {
      try promise(host.policy.windows[window]?.isOpen(at: now) == true, "\(record.id) began while the window \(window) is closed")
    }
    try promise(pluginHealth[identifier]?.isHeld(at: now) != true, "\(record.id) began while its plugin is held back")
    count(identifier, gates.concurrencyKey, at: time)
    try checkRates(identifier, gates.concurrencyKey, at: time)
  }

  private func count(_ identifier: TaskIdentifier, _ key: String?, at time: WallTime) {
    starts.append((identifier, key, time.unixMilliseconds - host.offset))
  }

  /// In no stretch of time of a rate's length there are more starts than it counts.
  private func checkRates(_ identifier: TaskIdentifier, _ key: String?, at time: WallTime) throws {
    let now = time.unixMilliseconds - host.offset
    let limits = host.policy.limits[identifier]
    if let rate = host.policy.rate {
      let recent = starts.count { $0.at > now - rate.period.wholeMilliseconds }
      try promise(recent <= rate.count, "\(recent) runs began within \(rate)")
    }
    if let rate = limits?.rate {
      let recent = starts.count { $0.identifier == identifier && $0.at > now - rate.period.wholeMilliseconds }
      try promise(recent <= rate.count, "\(recent) runs of \(identifier) began within \(rate)")
    }
    if let rate = limits?.ratePerKey, let key {
      let recent = starts.count { $0.identifier == identifier && $0.key == key && $0.at > now - rate.period.wholeMilliseconds }
      try promise(recent <= rate.count, "\(recent) runs of \(identifier) with the key \(key) began within \(rate)")
    }
  }

  /// A run has ended: what its request is now, and when it may begin again.
  func ended(_ run: RunRecord) throws {
    guard let outcome = run.outcome, var knowledge = known[run.request] else { throw ProofFailure("\(run.id) ended and is not known") }
    tally.ends[outcome, default: 0] += 1
    trace("ended: \(run)")
    if let (id, ending) = ending, id == run.id { judge(run.identifier, id, ending) }
    let record = try host.record(run.request)
    let wasByEvent = record.request.repetition?.schedule == .event
    try promise(
      !knowledge.isStopped || outcome == .cancelled, "\(run.request) was asked to stop and its run ended \(outcome.rawValue)")
    try promise(
      run.attempt == knowledge.spent + 1, "the run of \(run.request) is attempt \(run.attempt), after \(knowledge.spent) were spent")
    let losses = outcome == .lost ? knowledge.losses + 1 : 0
    let spends = [.retried, .expired, .crashed].contains(outcome)
    // The table "How a run ends, and what its request does then".
    let final: RequestState? =
      switch outcome {
      case .succeeded, .noop: .succeeded
      case .failed: .failed
      case .cancelled: .cancelled
      case .retried, .expired, .crashed: knowledge.spent + 1 >= knowledge.limit ? .failed : nil
      case .lost: losses >= 5 ? .failed : nil
      case .snoozed, .stopped: nil
      }
    knowledge.losses = losses
    knowledge.hasRun = true
    if let final, final == .cancelled || !knowledge.isRepeating {
      try promise(record.state == final, "\(run.request) is \(record.state.rawValue) after its run ended \(outcome.rawValue)")
      knowledge.spent = final == .succeeded ? 0 : knowledge.spent + (spends ? 1 : 0)
      knowledge.floor = .distantFuture
    } else {
      let allowed: Set<RequestState> = [.pending, .claimed, .running]
      try promise(allowed.contains(record.state), "\(run.request) is \(record.state.rawValue) after its run ended \(outcome.rawValue)")
      if final != nil { knowledge.spent = 0 } else if spends { knowledge.spent += 1 }
      knowledge.floor = floor(of: record, after: run, isFinal: final != nil, knowledge, isByEvent: wasByEvent)
      if final != nil {
        knowledge.eventCame = false
        knowledge.wasLaunched = false
      }
    }
    known[run.request] = knowledge
  }

  private func floor(
    of record: RequestRecord, after run: RunRecord, isFinal: Bool, _ knowledge: WalkKnowledge, isByEvent: Bool
  ) -> WallTime {
    let now = host.now
    // An update while it ran may have changed its course.
    guard !knowledge.wasUpdated, !knowledge.wasSetBack else { return WallTime(unixMilliseconds: .min) }
    if isFinal {
      if isByEvent { return knowledge.eventCame ? now : .distantFuture }
      if case .all = record.request.repetition?.missed { return now }
      return next(record, knowledge.occurrence)
    }
    var time = now
    switch run.outcome {
    case .snoozed: time = now + (run.report.retryAfter ?? host.policy.snooze)
    case .retried, .expired, .crashed:
      let retry = record.request.retry ?? RetryPolicy()
      time = now + (run.report.retryAfter ?? retry.delay(afterAttempt: run.attempt, jitter: -1))
    default: return now
    }
    return knowledge.isRepeating && !isByEvent ? min(time, next(record, knowledge.occurrence)) : time
  }

  /// The occurrence after the one that a run was for.
  private func next(_ record: RequestRecord, _ occurrence: WallTime?) -> WallTime {
    guard let rule = record.request.repetition, let occurrence else { return WallTime(unixMilliseconds: .min) }
    if occurrence > host.now { return occurrence }
    switch rule.schedule {
    case .every(let interval):
      let step = interval.wholeMilliseconds
      let passed = host.now.unixMilliseconds - occurrence.unixMilliseconds
      return occurrence + .milliseconds((passed / step + 1) * step)
    case .cron(let cron):
      guard let expression = try? CronExpression(cron.expression), let zone = try? ProofWorld.zone(cron.timeZone) else { return occurrence }
      let schedule = CronSchedule(expression, in: zone, daylight: cron.daylight)
      let seconds = Int(host.now.unixMilliseconds / 1000)
      return WallTime(unixMilliseconds: Int64(schedule.next(after: seconds) ?? 0) * 1000)
    case .event: return .distantFuture
    }
  }

  // MARK: PluginHealth

  /// What an ending means to the plugin.
  private func judge(_ identifier: TaskIdentifier, _ run: RunID, _ ending: RunEnding) {
    switch ending {
    case .crashed: recordFailure(identifier)
    case .forced(.budget), .forced(.stalled), .forced(.conditions), .forced(.draining):
      if !olderThanFailure.contains(run) { recordFailure(identifier) }
    case .returned(.success, _), .returned(.noop, _):
      guard let health = pluginHealth[identifier], !health.isQuarantined, !olderThanFailure.contains(run) else { return }
      pluginHealth[identifier]?.failures = 0
      pluginHealth[identifier]?.heldUntil = nil
    case .returned, .forced, .lost: break
    }
  }

  func recordFailure(_ identifier: TaskIdentifier, tookHost: Bool = false) {
    olderThanFailure.formUnion(host.orders.values.filter { $0.contract.identifier == identifier }.map(\.run))
    var health = pluginHealth[identifier] ?? PluginHealth()
    health.failures += 1
    health.hostCrashes += tookHost ? 1 : 0
    if health.failures >= 5 || health.hostCrashes >= 3 {
      health.heldUntil = nil
      health.quarantinedSince = health.quarantinedSince ?? host.now
    } else {
      health.heldUntil = host.now + .seconds([60, 120, 240, 480][health.failures - 1])
    }
    pluginHealth[identifier] = health
  }
}
