import CalendarTime
import StoreTestSupport
import TaskModel

@testable import TaskScheduler

/// A random life of a host, drawn from a seed, which is checked after every step against what the host promises.
final class Walk {
  let seed: UInt64
  var random: SeededGenerator
  let host: ProofHost
  var known: [RequestID: WalkKnowledge] = [:]
  /// The live requests, and some that have ended.
  var ids: [RequestID] = []
  var conditions = Conditions.all
  /// When runs began, by whose limit, on the boot clock.
  var starts: [(identifier: TaskIdentifier, key: String?, at: Int64)] = []
  /// What counts against plugins, without sentences.
  var pluginHealth: [TaskIdentifier: PluginHealth] = [:]
  /// The runs that were handed out when their plugin misbehaved: they clear nothing.
  var olderThanFailure: Set<RunID> = []
  var steps = 0
  /// The run that is being ended, and how.
  var ending: (run: RunID, RunEnding)?
  /// What happened last.
  var event = ""
  /// The latest moment the calendar has shown.
  var latest = ProofWorld.start
  var tally = WalkTally()

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    host = try ProofHost(ProofWorld.policy(&random), ProofWorld.contracts, now: ProofWorld.start)
    host.began = { [unowned self] in try began($0, at: $1) }
    host.ended = { [unowned self] in try ended($0) }
    try host.set(ProofWorld.report(conditions, now: host.now))
  }

  func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  func chance(_ one: Int) -> Bool { number(0..<one) == 0 }
  func pick<Value>(_ values: [Value]) -> Value { values[number(0..<values.count)] }

  /// One event, then the checks.
  func step() throws {
    steps += 1
    do { try happen() } catch is RequestRefusal {
      tally.refused += 1
    } catch let error as StoreError {
      guard error == .full("as the test wishes") else { throw ProofFailure("\(event): \(error)") }
      tally.failedCommits += 1
    }
    latest = max(latest, host.now)
    try host.turn()
    trace(event)
    try check()
  }

  /// Whether each step is printed: of a walk that is repeated by its seed.
  var isTraced = false

  func trace(_ line: @autoclosure () -> String) { if isTraced { print("\(steps) \(host.now.unixMilliseconds): \(line())") } }

  private func happen() throws {
    let fails = chance(20)
    switch number(0..<100) {
    case 0..<30: try submit(fails: fails)
    case 30..<58: try end(fails: fails)
    case 58..<72: pass()
    case 72..<75: try change("cancel", fails) { try $0.cancel(try self.someone(), $1, now: self.host.now) }
    case 75:
      try change("cancelPending", fails) { core, transaction in
        _ = try core.cancelPending(of: [self.pick(ProofWorld.identifiers)], transaction, now: self.host.now)
      }
    case 76: try change("cancelAll", fails) { _ = try $0.cancelAll(tag: self.pick(["a", "b"]), identifier: nil, $1, now: self.host.now) }
    case 77: try retry(fails)
    case 78: try snooze(fails)
    case 79..<83: try notify(fails)
    case 83: try simulate(fails)
    case 84: try release(fails)
    case 85..<87: suspend()
    case 87..<92: try loseCondition()
    case 92..<95: try setCalendar()
    case 95..<98: try restart()
    case 98:
      event = "drain"
      try host.drain()
    default: try prune()
    }
  }

  private func someone() throws -> RequestID {
    guard !ids.isEmpty else { throw RequestRefusal(.notFound, "nobody is there") }
    return pick(ids)
  }

  /// A change by the host's operators; what it does to live requests is read from the store afterwards.
  private func change(_ name: String, _ fails: Bool, _ body: @escaping (SchedulerCore, any StoreTransaction) throws -> some Any) throws {
    event = name
    try host.turn(fails: fails) { _ = try body($0, $1) }
    try readStops()
  }

  /// Which runs were asked to stop by a change to their request.
  func readStops() throws {
    for order in host.orders.values where try host.record(order.request).stopRequested != nil { known[order.request]?.isStopped = true }
  }

  // MARK: Events

  private func submit(fails: Bool) throws {
    event = "submit"
    let requests = (0..<(chance(6) ? 3 : 1)).map { draw(position: $0) }
    event = "submit \(requests)"
    let before = (known, ids)
    do {
      try host.turn(fails: fails) { [self] core, transaction in
        // What is submitted may begin in the same turn.
        for (request, submission) in zip(requests, try core.submit(requests, transaction, now: host.now)) {
          try learn(request, submission, transaction)
        }
      }
    } catch {
      (known, ids) = before
      throw error
    }
    try readStops()
  }

  private func learn(_ request: TaskRequest, _ submission: Submission, _ transaction: any StoreTransaction) throws {
    guard let record = try transaction.request(submission.id) else { return }
    let wasStarted = known[submission.id]?.occurrence
    switch submission.disposition {
    case .created, .replaced, .appended:
      guard known[submission.id] == nil || !ids.contains(submission.id) else { return }
      ids.append(submission.id)
      tally.submitted += 1
    case .updated: tally.updated += 1
    case .kept: return
    }
    guard !submission.isRepeated else { return }
    var new = known[submission.id] ?? WalkKnowledge(limit: 1, isRepeating: false, floor: host.now, clock: .wall)
    new.limit = record.request.retry?.attempts ?? 0
    new.isRepeating = record.isRepeating
    (new.clock, new.earliest) = (record.request.clock, record.request.earliestBegin)
    new.floor = floor(of: request, record)
    if submission.disposition == .updated {
      // Its course may have changed in many ways.
      new.floor = WallTime(unixMilliseconds: .min)
      new.wasLaunched = true
      new.wasUpdated = true
    }
    new.occurrence = wasStarted ?? new.occurrence
    known[submission.id] = new
  }

  /// Before when a request that was just submitted does not begin.
  private func floor(of request: TaskRequest, _ record: RequestRecord) -> WallTime {
    if request.event != nil { return .distantFuture }
    let earliest = max(request.earliestBegin ?? host.now, host.now)
    guard case .cron(let cron) = request.repetition?.schedule, let expression = try? CronExpression(cron.expression),
      let zone = try? ProofWorld.zone(cron.timeZone)
    else { return earliest }
    let schedule = CronSchedule(expression, in: zone, daylight: cron.daylight)
    // The times after the moment, and the moment itself.
    let seconds = Int(((earliest.unixMilliseconds - 1) / 1000))
    return WallTime(unixMilliseconds: Int64(schedule.next(after: seconds) ?? 0) * 1000)
  }

  private func end(fails: Bool) throws {
    let live = host.orders.keys.filter(host.hasBegun).sorted()
    guard !live.isEmpty else { return }
    let run = pick(live)
    let stop = host.expirations[run] ?? (chance(12) ? .budget : nil)
    var endings: [RunEnding] = [.success, .success, .noop, .retry, .retry, .snooze, .failure].map { .returned($0, stop: stop) }
    endings.append(.crashed)
    if let stop { endings.append(.forced(stop)) }
    let ending = pick(endings)
    event = "end \(ending)"
    var report = RunReport()
    report.handlerTime = chance(8) ? .milliseconds(3) : .microseconds(300)
    if chance(6) { report.retryAfter = .seconds(number(1..<300)) }
    self.ending = (run, ending)
    defer { self.ending = nil }
    do { try host.end(run, ending, report, fails: fails) } catch StoreError.full("as the test wishes") {
      // The host keeps it, and records it when the store works again.
      tally.failedCommits += 1
      try host.turn()
    }
  }

  private func pass() {
    event = "time passes"
    tally.passed += 1
    if chance(3), let next = host.core.nextTurn(now: host.now), next < .distantFuture {
      host.pass(to: next)
    } else {
      host.pass(.milliseconds(pick([1, 3, 50, 1000, 61_000, 600_000, 3_600_000])))
    }
  }

  private func retry(_ fails: Bool) throws {
    event = "revive"
    let failed = try host.store.commit { try $0.failed(of: nil) }
    guard !failed.isEmpty else { return }
    let id = pick(failed)
    let before = (known, ids)
    do {
      try host.turn(fails: fails) { [self] core, transaction in
        if chance(3) {
          _ = try core.retryAll(identifier: nil, transaction, now: host.now)
        } else {
          _ = try core.retry(id, transaction, now: host.now)
        }
        // What is retried may begin in the same turn.
        for id in failed where try transaction.request(id)?.state != .failed { retried(id) }
      }
    } catch {
      (known, ids) = before
      throw error
    }
  }

  private func retried(_ id: RequestID) {
    guard var knowledge = known[id] else { return }
    (knowledge.spent, knowledge.losses, knowledge.floor) = (0, 0, host.now)
    known[id] = knowledge
    if !ids.contains(id) { ids.append(id) }
    tally.retried += 1
  }

  private func snooze(_ fails: Bool) throws {
    event = "snooze"
    let id = try someone()
    let until = host.now + .seconds(number(1..<4000))
    // An operator may choose an earlier time than the one it has, if that is not its own.
    let snoozed = try host.turn(fails: fails) { try $0.snooze(id, until: until, $1, now: self.host.now) }
    guard let floor = known[id]?.floor else { return }
    known[id]?.floor = min(floor, snoozed.record.due)
  }

  private func notify(_ fails: Bool) throws {
    let name = pick(["mail", "door"])
    event = "notify \(name)"
    let waiting = try host.store.commit { try $0.waiting(forEvent: name) }
    // What it wakes may begin in the same turn.
    let before = known
    for record in waiting {
      if record.state == .running || record.state == .claimed && record.run.map(host.hasBegun) ?? false {
        known[record.id]?.eventCame = true
      } else {
        known[record.id]?.floor = min(host.now, before[record.id]?.floor ?? host.now)
      }
    }
    do {
      let receipt = try host.turn(fails: fails) { [self] core, transaction in
        try core.notify(name, payload: chance(2) ? [1] : nil, transaction, now: host.now)
      }
      try promise(receipt.waiting == waiting.count, "\(receipt.waiting) requests wait for \(name), not \(waiting.count)")
      tally.events += 1
    } catch {
      known = before
      throw error
    }
  }

  private func simulate(_ fails: Bool) throws {
    event = "simulateLaunch"
    let identifier = pick(ProofWorld.identifiers)
    let before = (known, ids)
    do {
      try host.turn(fails: fails) { [self] core, transaction in
        let record = try core.simulateLaunch(identifier, transaction, now: host.now)
        if let floor = known[record.id]?.floor {
          known[record.id]?.floor = min(host.now, floor)
          known[record.id]?.wasLaunched = true
          return
        }
        known[record.id] = WalkKnowledge(limit: host.policy.retry.attempts, isRepeating: false, floor: host.now, clock: .wall)
        ids.append(record.id)
      }
    } catch {
      (known, ids) = before
      throw error
    }
  }

  private func release(_ fails: Bool) throws {
    event = "release"
    let identifier = pick(ProofWorld.identifiers)
    let before = pluginHealth[identifier]
    pluginHealth[identifier] = nil
    do { _ = try host.turn(fails: fails) { core, transaction in try core.release(identifier, transaction) } } catch {
      pluginHealth[identifier] = before
      throw error
    }
  }

  private func suspend() {
    event = "suspend or resume"
    guard let handler = host.core.handlers[pick(ProofWorld.identifiers)] else { return }
    handler.suspension = handler.suspension == nil ? "for once" : nil
  }

  private func loseCondition() throws {
    event = "conditions"
    conditions.formSymmetricDifference(pick(Conditions.named).condition)
    if chance(3) { conditions = .all }
    try host.set(ProofWorld.report(conditions, now: host.now))
  }

  private func setCalendar() throws {
    let distance = Duration.seconds(pick([-90_000, -3600, -60, 60, 3600, 90_000]))
    let slept = distance > .zero && chance(2)
    event = "the calendar is set by \(distance)\(slept ? " after sleep" : "")"
    tally.jumps += 1
    let before = known
    for (id, knowledge) in known {
      if !slept, knowledge.clock == .boot {
        if knowledge.floor < .distantFuture { known[id]?.floor = knowledge.floor + distance }
        known[id]?.occurrence = knowledge.occurrence.map { $0 < .distantFuture ? $0 + distance : $0 }
      } else if distance < .zero, knowledge.isRepeating {
        // What repeats by the calendar is planned anew, and a time that comes once more is an occurrence with all its attempts.
        known[id]?.floor = WallTime(unixMilliseconds: .min)
        known[id]?.wasSetBack = true
      } else if !slept, !knowledge.isRepeating, knowledge.floor < .distantFuture, knowledge.earliest == nil || knowledge.hasRun {
        // What only waits goes on waiting for as long, if it is not due by now.
        let isDue = distance > .zero && knowledge.floor <= host.now
        if !isDue { known[id]?.floor = knowledge.floor + distance }
      }
    }
    let heldBefore = pluginHealth
    if !slept {
      // A hold is a delay: over before, it is over now.
      for (identifier, health) in pluginHealth { pluginHealth[identifier]?.heldUntil = health.heldUntil.map { $0 + distance } }
    }
    do { try host.setCalendar(by: distance, slept: slept) } catch {
      known = before
      pluginHealth = heldBefore
      throw error
    }
  }

  private func restart() throws {
    let live = host.orders.keys.filter(host.hasBegun).sorted()
    let guilty = chance(2) && !live.isEmpty ? pick(live) : nil
    let reboot = chance(3)
    event = "restart\(guilty == nil ? "" : " by a crash")\(reboot ? " with the machine" : "")"
    tally.restarts += 1
    if chance(2) { host.pass(.seconds(number(0..<7200))) }
    forgetStarts(reboot: reboot)
    for identifier in pluginHealth.keys {
      // A calendar that was set back since would hold it for longer than ever meant.
      if let until = pluginHealth[identifier]?.heldUntil { pluginHealth[identifier]?.heldUntil = min(until, host.now + .seconds(480)) }
    }
    if let guilty, let order = host.orders[guilty] { recordFailure(order.contract.identifier, tookHost: true) }
    try host.restart(crashed: guilty.map { [$0: "signal 11"] } ?? [:], reboot: reboot)
  }

  /// A host that begins reads from their calendar times what runs began before.
  func forgetStarts(reboot: Bool) { if reboot || tally.jumps > 0 { starts = [] } }

  private func prune() throws {
    event = "prune"
    _ = try host.store.commit { try $0.prune(before: host.now + .seconds(-3600), keeping: 50, limit: 20) }
    ids = try ids.filter { try host.store.request($0) != nil }
  }
}
