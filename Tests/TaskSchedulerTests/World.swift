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
  /// The runs that were begun or are held, and have not ended, by their request.
  private(set) var orders: [RequestID: RunOrder] = [:]
  /// The requests in the order their runs were begun.
  private(set) var begun: [RequestID] = []
  /// When held orders are to begin.
  private(set) var held: [RequestID: WallTime] = [:]
  /// The runs that were asked to stop.
  private(set) var expirations: [RunID: StopReason] = [:]
  /// What observers were told.
  private(set) var events: [SchedulerEvent] = []
  private let directory: TemporaryDirectory
  private let policy: SchedulingPolicy

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
    core.beginTurn()
    let result: Result<Value, RequestRefusal>
    do {
      result = try store.commit { transaction in
        let result = try settle(transaction, change)
        try core.dispatch(transaction, now: now)
        try core.findWatches(transaction)
        return result
      }
    } catch {
      core.undoTurn()
      throw error
    }
    collect(core.turn)
    return try result.get()
  }

  /// A turn that changes nothing but starts what can be started.
  func turn() throws { try turn { _, _ in } }

  /// The change of a turn by itself.
  func settle<Value>(
    _ transaction: any StoreTransaction, _ change: (SchedulerCore, any StoreTransaction) throws -> Value
  ) throws -> Result<Value, RequestRefusal> {
    let before = core.turn.mark
    do { return .success(try transaction.savepoint { try change(core, transaction) }) } catch let refusal as RequestRefusal {
      core.takeBack(to: before)
      return .failure(refusal)
    }
  }

  private func collect(_ turn: Turn) {
    for entry in turn.ended where orders[entry.request]?.run == entry.run {
      orders[entry.request] = nil
      held[entry.request] = nil
    }
    for order in turn.orders {
      orders[order.request] = order
      begun.append(order.request)
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
    handlers: [HandlerContract] = [.sample()], schedules: [TaskIdentifier: ScheduledRequest] = [:], crashed: [RunID: String] = [:]
  ) throws -> Int {
    orders = [:]
    held = [:]
    core = SchedulerCore(
      policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: now, random: SeededGenerator(seed: 2))
    core.register(handlers)
    return try turn { core, transaction in
      let lost = try core.recover(transaction, crashed: crashed, now: now)
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
