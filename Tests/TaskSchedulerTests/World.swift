import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@testable import TaskScheduler

/// The scheduler's core on a real store, with a calendar that the test sets. What the core orders is written down, nothing is run.
final class World {
  let store: FailingStore
  private(set) var core: SchedulerCore
  /// What the calendar shows.
  var now = WallTime.testStart
  /// The runs that were handed out or are held, and have not ended, by their request.
  private(set) var orders: [RequestID: RunOrder] = [:]
  /// The requests in the order their runs were handed to the launcher.
  private(set) var begun: [RequestID] = []
  /// When held orders are to begin.
  private(set) var held: [RequestID: WallTime] = [:]
  /// The runs that were asked to stop.
  private(set) var expirations: [RunID: StopReason] = [:]
  /// What observers were told.
  private(set) var events: [SchedulerEvent] = []
  private let directory: TemporaryDirectory
  private let policy: SchedulingPolicy
  private var launcher = LauncherModel()
  /// The runs that the launcher was asked for and will answer about.
  private(set) var asked: [RunID] = []
  /// Whether it answers by itself, in the next turn.
  var answersAtOnce = true
  /// Whether it calls handlers as soon as it is given runs, and says so where that counts.
  var beginsAtOnce = true

  init(_ policy: SchedulingPolicy = SchedulingPolicy(), handlers: [HandlerContract] = [.sample()]) throws {
    directory = try TemporaryDirectory()
    self.policy = policy
    store = FailingStore(try SQLiteRequestStore(path: directory.file("requests.sqlite")))
    core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: 0, now: now, random: SeededGenerator(seed: 1))
    core.register(handlers)
  }

  deinit { store.close() }

  // MARK: Turns

  /// One turn: the change, and what can be started then, in one commit. A refusal undoes the change alone, as on the scheduler's thread.
  @discardableResult func turn<Value>(_ change: (SchedulerCore, any StoreTransaction) throws -> Value) throws -> Value {
    let late = beginHeld()
    core.beginTurn()
    let result: Result<Value, RequestRefusal>?
    do {
      result = try store.commit { transaction in
        for run in late { try core.release(run, transaction, now: now) }
        if answersAtOnce { try answer(transaction) }
        try core.recordBegins(transaction)
        let result = try settle(transaction, change)
        try core.dispatch(transaction, now: now)
        try core.takeBackWhereDue(transaction, now: now)
        try core.findWatches(transaction)
        return result
      }
    } catch {
      core.undoTurn(now: now)
      core.changesAreMade()
      for run in late { if let claim = core.claims[run] { held[claim.entry.request] = now } }
      throw error
    }
    if answersAtOnce {
      for run in asked where launcher.withdraw(run) { forget(run) }
      asked = []
    }
    collect(core.turn)
    guard let result else { return try turn(change) }
    while answersAtOnce, !asked.isEmpty { try turn { _, _ in } }
    return try result.get()
  }

  /// Those whose time has come begin; those that something holds by now are to be taken back.
  private func beginHeld() -> [RunID] {
    var late: [RunID] = []
    for (id, due) in held where due <= now {
      held[id] = nil
      guard let order = orders[id] else { continue }
      if core.beginHeld(order.run, now: now) {
        start(order)
      } else {
        late.append(order.run)
      }
    }
    return late
  }

  /// The launcher is given a run.
  private func start(_ order: RunOrder) {
    _ = launcher.start(order)
    begun.append(order.request)
    if order.tellsBegin, beginsAtOnce { core.begin(order.run, at: now, now: now) }
  }

  /// The launcher answers what it was asked.
  private func answer(_ transaction: any StoreTransaction) throws {
    for run in asked {
      if launcher.hasBegun(run) { core.begin(run, at: now, now: now) } else { try core.release(run, transaction, now: now) }
    }
  }

  private func forget(_ run: RunID) { orders = orders.filter { $0.value.run != run } }

  /// The launcher tells that a run of a request has begun.
  func tellBegin(_ id: RequestID) throws {
    let run = try #require(orders[id]?.run)
    try turn { core, transaction in try core.hearBegin(run, at: now, transaction) }
  }

  /// Whether the handler of a request has been called, as the launcher knows.
  func hasBegun(_ id: RequestID) -> Bool { orders[id].map { launcher.hasBegun($0.run) } ?? false }

  /// A turn that changes nothing but starts what can be started.
  func turn() throws { try turn { _, _ in } }

  /// The change of a turn by itself.
  func settle<Value>(
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

  private func collect(_ turn: Turn) {
    for entry in turn.ended + turn.neverBegun + turn.released.map(\.entry) where orders[entry.request]?.run == entry.run {
      _ = launcher.end(entry.run)
      orders[entry.request] = nil
      held[entry.request] = nil
    }
    asked += turn.withdrawals
    for order in turn.orders {
      orders[order.request] = order
      start(order)
    }
    for hold in turn.held {
      orders[hold.order.request] = hold.order
      held[hold.order.request] = hold.due
    }
    for (run, reason) in turn.expirations { expirations[run] = reason }
    events += turn.events
  }

  /// The host dies and a new one opens the same store: what ran is lost, or `crashed` with the host.
  ///
  /// - Returns: How many runs were lost.
  @discardableResult func restart(
    handlers: [HandlerContract] = [.sample()], schedules: [TaskIdentifier: ScheduledRequest] = [:], crashed: [RunID: String] = [:],
    begun: Set<RunID>? = nil
  ) throws -> Int {
    let begun = begun ?? launcher.begunAhead
    orders = [:]
    held = [:]
    asked = []
    launcher = LauncherModel()
    core = SchedulerCore(
      policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: now, random: SeededGenerator(seed: 2))
    core.register(handlers)
    return try turn { core, transaction in
      let lost = try core.recover(transaction, crashed: crashed, begun: begun, now: now)
      try core.reconcile(schedules, transaction, now: now)
      return lost
    }
  }

  // MARK: What tests do

  @discardableResult func submit(_ request: TaskRequest = .sample()) throws -> Submission {
    try turn { core, transaction in try core.submit(request, transaction, now: now) }
  }

  @discardableResult func cancel(_ id: RequestID) throws -> RequestRecord {
    try turn { core, transaction in try core.cancel(id, transaction, now: now) }
  }

  @discardableResult func revive(_ id: RequestID) throws -> RequestRecord {
    try turn { core, transaction in try core.revive(id, transaction, now: now) }
  }

  @discardableResult func release(_ identifier: TaskIdentifier = .sample()) throws -> Standing {
    try turn { core, transaction in try core.release(identifier, transaction) }
  }

  /// What counts against a plugin, in memory; the store must agree.
  func standing(_ identifier: TaskIdentifier = .sample()) throws -> Standing {
    let stored = try store.commit { try $0.standings() }
    #expect(stored[identifier] == core.standings[identifier])
    return core.standings[identifier] ?? Standing()
  }

  /// Why a request is not running.
  func gates(_ id: RequestID) throws -> [String] { core.gates(of: try record(id), now: now) }

  /// Ends the run of a request.
  func end(_ id: RequestID, _ ending: RunEnding, _ report: RunReport = RunReport()) throws {
    let order = try #require(orders[id], "the request does not run")
    try turn { core, transaction in try core.end(order.run, ending, report, transaction, now: now) }
  }

  /// The handler of a request returns.
  func finish(_ id: RequestID, _ result: TaskResult, stop: StopReason? = nil, retryAfter: Duration? = nil, took: Duration? = nil) throws {
    var report = RunReport()
    report.retryAfter = retryAfter
    report.handlerTime = took
    try end(id, .returned(result, stop: stop), report)
  }

  /// Lets the calendar go on, and has a turn then.
  func advance(_ duration: Duration) throws {
    now = now + duration
    try turn()
  }

  /// Lets the calendar go on until a request is due, and has a turn then.
  func advance(to time: WallTime) throws {
    now = max(now, time)
    try turn()
  }

  /// The launcher gives the run of a request back that it could not begin.
  func giveBack(_ id: RequestID) throws {
    let run = try #require(orders[id]?.run)
    try turn { core, transaction in try core.release(run, transaction, now: now) }
  }

  /// A request as stored.
  func record(_ id: RequestID) throws -> RequestRecord { try #require(try store.request(id)) }

  /// The runs of a request that have ended, the first one first.
  func runs(_ id: RequestID) throws -> [RunRecord] {
    var query = RunQuery()
    query.request = id
    return try store.runs(query).reversed()
  }

  func isRunning(_ id: RequestID) -> Bool { orders[id] != nil }
}
