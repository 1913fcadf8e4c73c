import CalendarTime
import MemoryStore
import StoreTestSupport
import TaskModel

@testable import TaskScheduler

/// The scheduler's core on a store in memory, with clocks that the test sets. Does with a turn what the scheduler's thread does with it.
final class ProofHost {
  let store: any RequestStore = MemoryRequestStore(origin: 7)
  let policy: SchedulingPolicy
  let contracts: [HandlerContract]
  private(set) var core: SchedulerCore
  /// What the calendar shows.
  private(set) var now: WallTime
  /// What the calendar shows less what the boot clock shows.
  private(set) var offset: Int64 = 0
  private var boot = 1
  /// The runs that the launcher has or that are held.
  private(set) var orders: [RunID: RunOrder] = [:]
  /// When held runs are to begin.
  private(set) var held: [RunID: WallTime] = [:]
  /// The runs that were asked to stop.
  private(set) var expirations: [RunID: StopReason] = [:]
  /// Told of each run with when it begins, once that is durable.
  var began: (RunOrder, WallTime) throws -> Void = { _, _ in }
  /// Told of each run that has ended, once that is durable.
  var ended: (RunRecord) throws -> Void = { _ in }
  private var launcher = LauncherModel()
  /// The runs that the launcher was asked for: it answers in the next turn.
  private var asked: [RunID] = []

  init(_ policy: SchedulingPolicy, _ contracts: [HandlerContract], now: WallTime) throws {
    self.policy = policy
    self.contracts = contracts
    self.now = now
    core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: 0, now: now, random: SeededGenerator(seed: 1))
    try open(crashed: [:])
  }

  private func open(crashed: [RunID: String], begun: Set<RunID> = []) throws {
    core.register(contracts)
    core.beginTurn()
    try store.commit { transaction in
      try core.clockChanged(reference, transaction, now: now)
      _ = try core.recover(transaction, crashed: crashed, begun: begun, now: now)
      try core.reconcile([:], transaction, now: now)
    }
    core.committed(core.turn)
    if core.limits.needsHistory {
      var query = RunQuery()
      query.limit = 20_000
      core.limits.restore(try store.runs(query), now: now) { [store] run in (try? store.request(run.request))?.request.gates.concurrencyKey
      }
    }
    for run in core.turn.history { try ended(run) }
  }

  private var reference: ClockReference { ClockReference(boot: "\(boot)", offset: offset) }

  // MARK: Turns

  /// One turn: the change, and what can be started then, in one commit. A refusal undoes the change alone. A commit that fails undoes all.
  @discardableResult func turn<Value>(fails: Bool = false, _ change: (SchedulerCore, any StoreTransaction) throws -> Value) throws -> Value
  {
    core.storeTrouble = nil
    let late = try beginHeld()
    core.beginTurn()
    let result: Result<Value, RequestRefusal>?
    do {
      result = try store.commit { transaction in
        for run in late { try core.release(run, transaction, now: now) }
        try answer(transaction)
        try core.recordBegins(transaction)
        let result = try settle(transaction, change)
        try core.dispatch(transaction, now: now)
        try core.takeBackWhereDue(transaction, now: now)
        try core.findWatches(transaction)
        if fails { throw StoreError.full("as the test wishes") }
        return result
      }
    } catch {
      core.undoTurn(now: now)
      for run in late { held[run] = now }
      core.storeTrouble = error
      core.changesAreMade()
      throw error
    }
    for run in asked where launcher.withdraw(run) { orders[run] = nil }
    asked = []
    core.committed(core.turn)
    try carryOut(core.turn)
    guard let result else { return try turn(change) }
    while !asked.isEmpty { try turn { _, _ in } }
    return try result.get()
  }

  /// The launcher answers what it was asked.
  private func answer(_ transaction: any StoreTransaction) throws {
    for run in asked {
      if launcher.hasBegun(run) { core.begin(run, at: now, now: now) } else { try core.release(run, transaction, now: now) }
    }
  }

  /// Whether a run's handler has been called.
  func hasBegun(_ run: RunID) -> Bool { launcher.hasBegun(run) }

  /// Gives an order to the launcher.
  private func start(_ order: RunOrder) throws { if launcher.start(order) { try tellBegin(order) } }

  /// The launcher has begun a run.
  private func tellBegin(_ order: RunOrder) throws {
    try began(order, now)
    if order.tellsBegin { core.begin(order.run, at: now, now: now) }
  }

  /// A turn that changes nothing but starts what can be started.
  func turn() throws { try turn { _, _ in } }

  private func settle<Value>(
    _ transaction: any StoreTransaction, _ change: (SchedulerCore, any StoreTransaction) throws -> Value
  ) throws -> Result<Value, RequestRefusal>? {
    while true {
      let before = core.turn.mark
      do {
        let value = try transaction.savepoint { try change(core, transaction) }
        core.changesAreMade()
        return .success(value)
      } catch let refusal as RequestRefusal {
        core.takeBack(to: before)
        core.changesAreMade()
        return .failure(refusal)
      } catch let ahead as ClaimedAhead {
        core.takeBack(to: before)
        try core.takeBack(of: ahead.identifier, forChange: true, transaction, now: now)
        if core.awaits(ahead.identifier) { return nil }
      }
    }
  }

  private func carryOut(_ turn: Turn) throws {
    for entry in turn.ended + turn.released.map(\.entry) {
      orders[entry.run] = nil
      held[entry.run] = nil
      expirations[entry.run] = nil
    }
    for record in turn.history { try ended(record) }
    // What the launcher began in the place of what ended.
    for order in next where orders[order.run] != nil { try tellBegin(order) }
    next = []
    asked += turn.withdrawals
    for order in turn.orders {
      orders[order.run] = order
      try start(order)
    }
    for hold in turn.held {
      orders[hold.order.run] = hold.order
      held[hold.order.run] = hold.due
    }
    for (run, reason) in turn.expirations { stop(run, reason) }
  }

  /// A run is asked to stop.
  private func stop(_ run: RunID, _ reason: StopReason) {
    if orders[run] != nil, expirations[run] == nil { expirations[run] = reason }
  }

  /// Those whose time has come begin.
  ///
  /// - Returns: Those that something holds by now are to be taken back.
  private func beginHeld() throws -> [RunID] {
    var late: [RunID] = []
    for run in held.keys.sorted() {
      guard let due = held[run], due <= now, let order = orders[run] else { continue }
      held[run] = nil
      if core.beginHeld(run, now: now) { try start(order) } else { late.append(run) }
    }
    return late
  }

  // MARK: What happens

  /// Ends a run. Where the launcher tells of the end too late to be recorded, it tells again.
  func end(_ run: RunID, _ ending: RunEnding, _ report: RunReport = RunReport(), fails: Bool = false) throws {
    try end([(run, ending, report)], fails: fails)
  }

  /// What begins in the place of what has ended, once that is told.
  private var next: [RunOrder] = []

  /// Ends runs in one turn.
  func end(_ ends: [(run: RunID, ending: RunEnding, report: RunReport)], fails: Bool = false) throws {
    let before = launcher
    var given: [RunID] = []
    for end in ends {
      switch end.ending {
      case .crashed, .forced: given += launcher.crash(end.run).map(\.run)
      case .returned, .lost: if let order = launcher.end(end.run) { next.append(order) }
      }
    }
    do {
      try turn(fails: fails) { core, transaction in
        for end in ends { try core.end(end.run, end.ending, end.report, transaction, now: now) }
        for run in given { try core.release(run, transaction, now: now) }
      }
    } catch {
      (launcher, next) = (before, [])
      throw error
    }
  }

  /// Time passes.
  func pass(_ duration: Duration) { now = now + duration }

  /// Time passes until then.
  func pass(to time: WallTime) { now = max(now, time) }

  /// The calendar is set, or with `slept` the machine has slept that long.
  func setCalendar(by distance: Duration, slept: Bool) throws {
    now = now + distance
    // What is held begins at its time on a clock that nobody sets.
    if !slept { held = held.mapValues { $0 + distance } }
    if !slept { offset += distance.wholeMilliseconds }
    try turn { core, transaction in try core.clockChanged(reference, transaction, now: now) }
  }

  /// The machine is as the report says.
  func set(_ report: ConditionReport) throws {
    core.conditions = report
    for run in core.runsThatLost(report) { stop(run, .conditions) }
    try turn()
  }

  /// The host begins no more runs; what is held is given back.
  func drain() throws {
    core.isDraining = true
    for run in core.live.keys { stop(run, .draining) }
    try turn()
  }

  /// The host dies, or has stopped, and another opens its books.
  func restart(crashed: [RunID: String] = [:], reboot: Bool = false) throws {
    let begun = launcher.begunAhead
    (orders, held, expirations) = ([:], [:], [:])
    (launcher, asked, next) = (LauncherModel(), [], [])
    if reboot {
      boot += 1
      offset &+= 12_345
    }
    let conditions = core.conditions
    core = SchedulerCore(
      policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: now,
      random: SeededGenerator(seed: UInt64(boot)))
    core.conditions = conditions
    try open(crashed: crashed, begun: begun)
    try turn()
  }

  // MARK: What is there

  /// A request as stored.
  func record(_ id: RequestID) throws -> RequestRecord {
    guard let record = try store.request(id) else { throw ProofFailure("request \(id) is gone") }
    return record
  }
}
