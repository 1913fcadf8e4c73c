import CalendarTime
import StoreTestSupport
import TaskModel

@testable import TaskScheduler

/// A week of a busy host: the one in which Berlin's clocks are set forward and Lord Howe's back.
final class BusyWeek {
  /// 2026-03-29T00:00:00Z.
  static let start = WallTime(unixMilliseconds: 1_774_742_400_000)
  let end: WallTime
  /// The host is down then: a reboot in the middle of the week.
  let downFrom: WallTime
  let downUntil: WallTime

  /// What repeats by the calendar, and what CalendarTime says of its week.
  struct Cron {
    let rule: CronRule
    let expected: [WallTime]
    /// The occurrences whose run succeeded, in that order.
    var ran: [WallTime] = []
    /// The longest that one began after its time, while the host was up.
    var latest = Duration.zero
  }

  /// What repeats at an interval.
  struct Every {
    let interval: Duration
    let anchor: WallTime
    var ran: [WallTime] = []
    var latest = Duration.zero
  }

  private let host: ProofHost
  private var random = SeededGenerator(seed: 20_260_329)
  private var ends = ForecastEnds()
  private(set) var crons: [RequestID: Cron] = [:]
  private(set) var everies: [RequestID: Every] = [:]
  private(set) var oneShots: Set<RequestID> = []
  private(set) var outcomes: [RunOutcome: Int] = [:]
  private(set) var begun = 0
  private(set) var turns = 0
  private var isNetworkUp = true
  private var stopped: Set<RunID> = []
  private var occurrences: [RunID: WallTime] = [:]
  private static let identifiers = (0..<200).map { TaskIdentifier.sample("org.example.n\($0)") }

  /// - Parameter length: A week; or as much of its beginning as there is time for.
  init(_ length: Duration = .seconds(7 * 86_400)) throws {
    end = Self.start + length
    downFrom = Self.start + length / 2 + .seconds(17)
    downUntil = downFrom + .seconds(1500)
    var policy = SchedulingPolicy(maxConcurrentRuns: 48, minimumInterval: .seconds(30))
    policy.timeZones = ProofWorld.zone
    policy.claimAhead = .milliseconds(3)
    let contracts = Self.identifiers.enumerated().map { index, identifier in
      HandlerContract(identifier: identifier, kind: .refresh, budget: .seconds(30), grace: .seconds(5), maxConcurrentRuns: 1 + index % 3)
    }
    host = try ProofHost(policy, contracts, now: Self.start)
    host.began = { [unowned self] in try began($0, at: $1) }
    host.ended = { [unowned self] in ended($0) }
    try host.set(ProofWorld.report(.all, now: host.now))
    try submitCrons()
    try submitEveries()
  }

  // MARK: The queue

  /// 70 identifiers with a cron expression, in ten zones, with every policy.
  private func submitCrons() throws {
    let zones = [
      "Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "UTC", "Asia/Kolkata", "Europe/London", "Australia/Sydney", "Asia/Tokyo",
      "Pacific/Auckland", "Europe/Lisbon",
    ]
    let expressions = [
      "*/5 * * * *", "30 2 * * *", "0 */2 * * *", "15 1,2,3 * * sun", "45 1 * * *", "*/20 8-18 * * mon-fri", "@hourly",
    ]
    for index in 0..<70 {
      let daylight = DaylightPolicy(
        gap: DaylightPolicy.Gap.allCases[index % 2], repeated: DaylightPolicy.Repeated.allCases[index % 3])
      let rule = CronRule(expressions[index % expressions.count], timeZone: zones[index % zones.count], daylight: daylight)
      let request = TaskRequest(
        identifier: Self.identifiers[index], repetition: RepeatRule(.cron(rule), missed: .all(limit: 1000, spread: .seconds(1))))
      // Ahead of the turn in which it may begin.
      try host.turn { [self] core, transaction in
        let id = try core.submit(request, transaction, now: host.now).id
        crons[id] = Cron(rule: rule, expected: try Self.times(rule, until: end))
      }
    }
  }

  /// CalendarTime's own list.
  private static func times(_ rule: CronRule, until end: WallTime) throws -> [WallTime] {
    let schedule = CronSchedule(try CronExpression(rule.expression), in: try ProofWorld.zone(rule.timeZone), daylight: rule.daylight)
    var times: [WallTime] = []
    var moment = Int(start.unixMilliseconds / 1000) - 1
    while let next = schedule.next(after: moment), Int64(next) * 1000 < end.unixMilliseconds {
      times.append(WallTime(unixMilliseconds: Int64(next) * 1000))
      moment = next
    }
    return times
  }

  /// 60 identifiers that come at an interval of 1 minute to 6 hours, some with conditions and flex.
  private func submitEveries() throws {
    for index in 0..<60 {
      let interval = Duration.seconds(index < 5 ? 60 : 300 + index * 360)
      var request = TaskRequest(
        identifier: Self.identifiers[70 + index], retry: RetryPolicy(attempts: 3, initial: .seconds(30)),
        repetition: RepeatRule(every: interval))
      if index % 4 == 1 { request.gates.flex = .seconds(30) }
      if index % 5 == 2 { request.gates.conditions = .network }
      if index % 5 == 3 { request.gates.onLostCondition = .finish }
      try host.turn { [self] core, transaction in
        let submission = try core.submit(request, transaction, now: host.now)
        everies[submission.id] = Every(interval: interval, anchor: submission.nextStart)
      }
    }
  }

  private func submitOneShot() throws {
    let identifier = Self.identifiers[130 + Int.random(in: 0..<70, using: &random)]
    var request = TaskRequest(
      identifier: identifier, earliestBegin: host.now + .seconds(Int.random(in: -60..<7200, using: &random)),
      priority: Int.random(in: -10...10, using: &random), retry: RetryPolicy(attempts: 4, initial: .seconds(30)))
    if Int.random(in: 0..<4, using: &random) == 0 { request.gates.conditions = .network }
    if Int.random(in: 0..<4, using: &random) == 0 { request.gates.concurrencyKey = "k\(Int.random(in: 0..<5, using: &random))" }
    try host.turn { [self] core, transaction in oneShots.insert(try core.submit(request, transaction, now: host.now).id) }
  }

  // MARK: The time that passes

  func run() throws {
    var nextArrival = Self.start
    var nextCondition = Self.start + .seconds(1800)
    var isUp = true
    while true {
      turns += 1
      let wake = [host.core.nextTurn(now: host.now), ends.first, host.held.values.min(), nextArrival, nextCondition].compactMap { $0 }
        .min()
      guard let wake, wake < end else { break }
      if isUp, wake >= downFrom {
        isUp = false
        try reboot()
        continue
      }
      host.pass(to: max(wake, host.now))
      if wake == nextArrival {
        try submitOneShot()
        nextArrival = host.now + .seconds(Int.random(in: 5..<85, using: &random))
      } else if wake == nextCondition {
        isNetworkUp.toggle()
        nextCondition = host.now + .seconds(isNetworkUp ? 5400 : 600)
        try host.set(ProofWorld.report(isNetworkUp ? .all : Conditions.all.subtracting(.network), now: host.now))
        // They return within their grace.
        for run in host.expirations.keys where stopped.insert(run).inserted { ends.insert(run, at: host.now + .seconds(1)) }
      } else {
        try endRuns()
      }
    }
  }

  private func endRuns() throws {
    let runs = ends.remove(by: host.now).filter { host.orders[$0] != nil }
    try host.end(Set(runs).sorted().map { ending(of: $0) })
  }

  /// Most go well; crons always, so that each occurrence succeeds once.
  private func ending(of run: RunID) -> (run: RunID, ending: RunEnding, report: RunReport) {
    var report = RunReport()
    report.handlerTime = .seconds(1)
    let stop = host.expirations[run]
    guard let request = host.orders[run]?.request, crons[request] == nil else { return (run, .returned(.success, stop: stop), report) }
    if stop != nil { return (run, .returned(.retry, stop: stop), report) }
    switch Int.random(in: 0..<1000, using: &random) {
    case 0..<60: return (run, .returned(.retry, stop: nil), report)
    case 60..<70: return (run, .returned(.failure, stop: nil), report)
    case 70..<90: return (run, .returned(.snooze, stop: nil), report)
    case 90..<93: return (run, .crashed, report)
    case 93..<95: return (run, .forced(.budget), report)
    case 95..<300: return (run, .returned(.noop, stop: nil), report)
    default: return (run, .returned(.success, stop: nil), report)
    }
  }

  private func reboot() throws {
    host.pass(to: downUntil)
    ends = ForecastEnds()
    stopped = []
    try host.restart(reboot: true)
  }

  private func began(_ order: RunOrder, at time: WallTime) throws {
    begun += 1
    let identifier = order.contract.identifier
    let seconds = Int.random(in: 1..<25, using: &random)
    ends.insert(order.run, at: time + .seconds(crons[order.request] == nil ? seconds : min(seconds, 10)))
    guard crons[order.request] != nil || everies[order.request] != nil else { return }
    guard let occurrence = try host.record(order.request).occurrence else {
      throw ProofFailure("\(identifier) repeats without an occurrence")
    }
    occurrences[order.run] = occurrence
    let late = occurrence > downUntil || time < downFrom ? time - occurrence : .zero
    if let cron = crons[order.request] { crons[order.request]?.latest = max(cron.latest, late) }
    guard let every = everies[order.request] else { return }
    everies[order.request]?.ran.append(occurrence)
    if order.attempt == 1 { everies[order.request]?.latest = max(every.latest, late) }
  }

  private func ended(_ run: RunRecord) {
    if let outcome = run.outcome { outcomes[outcome, default: 0] += 1 }
    let occurrence = occurrences.removeValue(forKey: run.id)
    if run.outcome == .succeeded, let occurrence { crons[run.request]?.ran.append(occurrence) }
  }

  /// Lets what waits end, without anything new.
  func finish() throws {
    for id in Array(crons.keys) + everies.keys {
      try? host.turn { [self] core, transaction in _ = try core.cancel(id, transaction, now: host.now) }
    }
    for identifier in Self.identifiers { try host.turn { core, transaction in _ = try core.release(identifier, transaction) } }
    try host.set(ProofWorld.report(.all, now: host.now))
    while let next = [host.core.nextTurn(now: host.now), ends.first, host.held.values.min()].compactMap({ $0 }).min() {
      host.pass(to: max(next, host.now))
      try endRuns()
      for identifier in Self.identifiers where host.core.pluginHealth[identifier]?.isQuarantined == true {
        try host.turn { core, transaction in _ = try core.release(identifier, transaction) }
      }
    }
  }

  /// The requests that are in a state.
  func count(_ state: RequestState) throws -> Int { try host.store.counts()[state, default: 0] }
  var liveRuns: Int { host.orders.count }
}
