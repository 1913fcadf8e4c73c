import MemoryStore
import TaskModel

/// A forecast in progress.
final class ForecastRun {
  private let basis: ForecastBasis
  private let queue: ForecastQueue
  private let aliases: ForecastAliases
  private var to: WallTime
  /// Whether runs of an identifier are among the results. All take part: they compete for the same places.
  private let isWanted: (TaskIdentifier) -> Bool
  /// The forecast ends when this request has begun; nil means it ends at `to`.
  private let target: RequestID?
  private let store: MemoryRequestStore
  private let engine: SchedulingEngine
  private var core: SchedulerCore { engine.core }
  /// The simulated time.
  private(set) var now: WallTime
  private var ends = ForecastEnds()
  private var entries: ForecastEntries
  /// The requests that have begun a run, or were running at the start of the forecast.
  private var served: Set<RequestID> = []
  /// Requests whose runs rest on an assumption.
  private var assumed: Set<RequestID> = []
  private(set) var isTruncated = false
  /// The assumed ends of runs that have already taken longer than usual.
  private var lateEnds: [WallTime] = []
  private var notes: [String] = []
  /// The remaining steps: a turn costs 100, plus one for each lane and 50 for each question to the store. Without a limit, very many lanes
  /// would take minutes, and so would a request that repeats every millisecond and never starts.
  private(set) var steps: Int
  /// The steps of one question to the store.
  private static let question = 50
  private var turns = 0
  /// The approximate number of lanes.
  private var lanes = 1

  /// - Parameter steps: The maximum number of steps; ten million take about a second.
  init(
    _ basis: ForecastBasis, _ queue: ForecastQueue, to: WallTime, limit: Int = 0, target: RequestID? = nil, steps: Int = 10_000_000,
    isWanted: @escaping (TaskIdentifier) -> Bool = { _ in true }
  ) throws {
    var queue = queue
    aliases = ForecastAliases(&queue)
    (self.basis, self.queue, self.to, self.steps) = (basis, queue, to, steps)
    self.target = target.map(aliases.alias)
    self.isWanted = isWanted
    entries = ForecastEntries(limit: limit)
    now = basis.from
    store = MemoryRequestStore(origin: aliases.origin)
    let highest = queue.requests.reduce(0) { max($0, $1.id.sequence, $1.run?.sequence ?? 0) }
    var policy = basis.policy
    policy.claimAhead = .zero
    let core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: highest, now: basis.awakeSince)
    engine = SchedulingEngine(core, store: store)
    core.register(basis.contracts)
    core.limits = basis.limits
    core.isDraining = basis.isDraining
    core.load(basis.pluginHealth, now: now)
    core.pauses = basis.pauses
    for (identifier, reason) in basis.suspensions { core.handlers[identifier]?.suspension = reason }
    core.conditions = basis.conditions.map(assume)
    try fill()
  }

  /// Makes conditions that are not observed count as held.
  private func assume(_ report: ConditionReport) -> ConditionReport {
    var report = report
    for index in report.states.indices where !report.states[index].isWatched && !report.states[index].isOverridden {
      report.states[index].holds = true
      report.states[index].settlesAt = nil
    }
    return report
  }

  private func fill() throws {
    let there = Set(queue.requests.map(\.id))
    try store.commit { transaction in
      for record in queue.requests where !record.state.isFinal {
        var record = record
        if record.state == .claimed { try record.apply(.released) }
        // The scheduler works while listings are read: leave out records that contradict each other.
        guard (try? transaction.savepoint { try transaction.insert(record) }) != nil else { continue }
        switch record.state {
        case .running: begin(record)
        case .blocked:
          assumed.insert(record.id)
          try transaction.insert(edges(of: record, there), of: record.id)
        default: break
        }
        if !record.gates.conditions.isEmpty { assumed.insert(record.id) }
      }
      for lane in try transaction.lanesWithPending() { _ = core.handlers[lane.identifier]?.lane(lane.gates) }
    }
  }

  /// The edges of a blocked request; without an entry in the queue, those that its record names.
  private func edges(of record: RequestRecord, _ there: Set<RequestID>) -> [DependencyRecord] {
    if let edges = queue.edges[record.id] { return edges }
    var edges: [DependencyRecord] = record.request.after.compactMap { dependency in
      guard case .request(let id) = dependency.predecessor, there.contains(id) || id == record.blockedBy else { return nil }
      return DependencyRecord(predecessor: id, onFailure: dependency.onFailure)
    }
    if let predecessor = record.blockedBy, !edges.contains(where: { $0.predecessor == predecessor }) {
      edges.append(DependencyRecord(predecessor: predecessor, onFailure: .ignore))
    }
    return edges
  }

  /// Adds a run that is live when the forecast begins.
  private func begin(_ record: RequestRecord) {
    guard let run = record.run else { return }
    let identifier = record.request.identifier
    let started = record.started ?? now
    let entry = LiveRunEntry(
      run: run, request: record.id, identifier: identifier, attempt: record.attempt, started: started, due: record.due,
      isRepeating: record.isRepeating, gates: record.gates, stopRequested: record.stopRequested)
    core.live[run] = entry
    core.slotTaken(entry)
    served.insert(record.id)
    let end = queue.end(of: identifier, started: started, budget: core.handlers[identifier]?.contract.budget, now: now)
    ends.insert(run, at: end.at)
    if end.isLate { lateEnds.append(end.at) }
  }

  // MARK: Simulated time

  /// Moves the end time to a later one; ``go()`` then continues where it stopped.
  func extend(to time: WallTime) { to = max(to, time) }

  /// Counts work outside the forecast.
  func spend(_ count: Int) { steps -= count }

  func go() throws {
    guard now < to else { return }
    try turn([])
    while let next = [core.nextTurn(now: now), ends.first, nextSettlement].compactMap({ $0 }).min(), next < to {
      if let target, served.contains(target) { return }
      guard steps > 0 else {
        isTruncated = true
        return
      }
      // No moment occurs twice: each turn starts everything it can.
      let moment = max(now + .milliseconds(1), next)
      guard moment < to else { break }
      now = moment
      try turn(ends.remove(by: now))
    }
    // With a target, the forecast may be extended.
    if target == nil { now = max(now, to) }
  }

  /// When the next condition settles if the machine stays as it is.
  private var nextSettlement: WallTime? { core.conditions?.states.compactMap(\.settlesAt).min() }

  private func settleConditions() {
    guard var report = core.conditions, let next = nextSettlement, next <= now else { return }
    for index in report.states.indices where report.states[index].settlesAt.map({ $0 <= now }) == true {
      report.states[index].holds.toggle()
      report.states[index].settlesAt = nil
    }
    core.conditions = report
  }

  private func turn(_ ended: [RunID]) throws {
    settleConditions()
    let before = core.laneQuestions
    let ends = ended.map { EngineInput.ended($0, .returned(.success, stop: core.live[$0]?.stopRequested), RunReport()) }
    for entry in try engine.turn(ends, now: now, at: MonotonicTime(nanoseconds: 0)).started { try note(entry) }
    if turns.isMultiple(of: 256) { lanes = core.handlers.values.reduce(1) { $0 + 1 + $1.lanes.count } }
    turns += 1
    // Where tenants take turns, each is compared with the others.
    steps -= lanes * (core.hasFairness ? 30 : 1) + 100 + Self.question * (core.laneQuestions - before)
  }

  private func note(_ entry: LiveRunEntry) throws {
    core.limits.began(entry.run, at: entry.started)
    let record = entry.isRepeating ? try store.request(entry.request) : nil
    // Later runs of a request with an event are unknown.
    if isWanted(entry.identifier) {
      entries.append(
        Forecast.Entry(
          at: entry.started, identifier: entry.identifier, request: entry.request, occurrence: record?.occurrence,
          duration: queue.durations[entry.identifier], assumed: assumed.contains(entry.request)))
    }
    served.insert(entry.request)
    ends.insert(entry.run, at: entry.started + queue.duration(entry.identifier))
  }

  // MARK: Results

  /// The assumption about runs that have taken longer than usual and end by `time`; nil if there are none.
  func assumptionOfLateRuns(by time: WallTime) -> String? {
    let count = lateEnds.count { $0 <= time }
    guard count > 0 else { return nil }
    return count == 1
      ? "a run that has taken longer than usual goes on for as long again, within its budget"
      : "\(count) runs that have taken longer than usual go on for as long again, within their budgets"
  }

  /// When the target begins, and the runs that begin before it; nil if it does not begin.
  var start: (at: WallTime, before: Set<RequestID>)? {
    guard let index = entries.firsts.firstIndex(where: { $0.request == target }) else { return nil }
    return (entries.firsts[index].at, Set(entries.firsts[..<index].map { aliases.name(of: $0.request) }))
  }

  func result() throws -> Forecast {
    let reached = now
    let (endedEarly, held) = try store.commit { transaction throws -> (Bool, [Forecast.Held]) in
      if isTruncated { try addUnreached(transaction) }
      return (isTruncated, try self.held(transaction))
    }
    let (found, counts, omitted) = entries.result()
    isTruncated = endedEarly || omitted != nil
    let completeUntil = min(endedEarly ? reached : to, omitted ?? to)
    addNotes(found, endedEarly: endedEarly, omits: omitted != nil)
    return Forecast(
      from: basis.from, to: to, entries: found, counts: counts, completeUntil: completeUntil, held: held, notes: notes,
      isTruncated: isTruncated
    ).named(by: aliases)
  }

  /// Adds the requests that are due later than an early end: that they begin on time is an assumption.
  private func addUnreached(_ transaction: any StoreTransaction) throws {
    var unreached: [Forecast.Entry] = []
    for old in queue.requests where !served.contains(old.id) && isWanted(old.request.identifier) {
      guard let record = try transaction.request(old.id), record.state == .pending, record.due > now, record.due < to else { continue }
      unreached.append(
        Forecast.Entry(
          at: record.due, identifier: record.request.identifier, request: record.id, duration: queue.durations[record.request.identifier],
          assumed: true))
    }
    for entry in unreached.sorted(by: { ($0.at, $0.request) < ($1.at, $1.request) }) {
      served.insert(entry.request)
      entries.append(entry)
    }
  }

  private func held(_ transaction: any StoreTransaction) throws -> [Forecast.Held] {
    var held: [Forecast.Held] = []
    for old in queue.requests where !served.contains(old.id) && isWanted(old.request.identifier) {
      guard let record = try transaction.request(old.id), !record.state.isFinal, record.state != .running else { continue }
      let edges = try transaction.edges(of: record.id)
      let gates = core.explanation(of: record, edges: edges, now: now).gates
      // A request that is due later is not held.
      let kinds = Set(gates.map(\.kind))
      guard !kinds.isEmpty, !(record.due > now && record.due < .distantFuture && kinds.isSubset(of: ["time", "backoff"])) else { continue }
      let reasons = gates.filter { $0.kind != "time" && $0.kind != "backoff" }.map(\.sentence).joined(separator: "; ")
      let reason = edges.reduce(reasons) { $0.replacing($1.predecessor.description, with: aliases.name(of: $1.predecessor).description) }
      held.append(Forecast.Held(request: record.id, identifier: record.request.identifier, reason: reason))
    }
    return held
  }

  private func addNotes(_ entries: [Forecast.Entry], endedEarly: Bool, omits: Bool) {
    if !entries.isEmpty { notes.append("runs are assumed to take their usual time and to succeed") }
    if let late = assumptionOfLateRuns(by: to) { notes.append("it is assumed that \(late)") }
    if let report = basis.conditions, !assumed.isEmpty {
      notes.append("conditions are assumed to stay as they are")
      let needed = queue.requests.reduce(into: Conditions()) { $0.formUnion($1.gates.conditions) }
      let unknown = report.states.filter { !$0.isWatched && !$0.isOverridden && needed.contains($0.condition) }.flatMap(\.condition.names)
      if !unknown.isEmpty {
        notes.append("\(unknown.joined(separator: " and ")) \(unknown.count == 1 ? "is" : "are") not observed now and assumed to hold")
      }
    }
    let unmeasured = Set(entries.map(\.identifier)).subtracting(queue.durations.keys).count
    if unmeasured > 0 {
      notes.append(
        "the usual duration is unknown for \(unmeasured == 1 ? "one identifier" : "\(unmeasured) identifiers"): 1 s is assumed")
    }
    if queue.requests.contains(where: { $0.request.event != nil }) { notes.append("it is assumed that no events arrive") }
    if omits { notes.append("it lists \(entries.count) runs: each request's first before later ones") }
    let more = self.entries.omittedRequests
    if more > 0 { notes.append("\(more) more \(more == 1 ? "request would run" : "requests would run"): a higher limit lists them") }
    if endedEarly {
      notes.append("it ends early: there is too much to work through; what is due later is listed once, at its time")
    }
  }
}
