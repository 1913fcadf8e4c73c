import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@testable import TaskScheduler

/// The scheduling engine on a real store, with a calendar that the test sets. What it orders is written down, nothing is run.
final class World {
  let store: FailingStore
  private var engine: SchedulingEngine
  var core: SchedulerCore { engine.core }
  /// What the last turn led to.
  private(set) var lastTurn = EngineTurn()
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
  private(set) var events: [HostEvent] = []
  private let directory: TemporaryDirectory
  private var policy: SchedulingPolicy
  private var launcher = LauncherModel()
  /// What the launcher answered when it was asked for runs: it arrives in the next turn.
  private var answers: [EngineInput] = []
  /// Whether it calls handlers as soon as it is given runs, and says so where that counts.
  var beginsAtOnce = true
  /// Whether what the launcher answers does not arrive.
  var losesAnswers = false

  init(_ policy: SchedulingPolicy = SchedulingPolicy(), handlers: [HandlerContract] = [.sample()]) throws {
    directory = try TemporaryDirectory()
    self.policy = policy
    store = FailingStore(try SQLiteRequestStore(path: directory.file("requests.sqlite")))
    let core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: 0, now: now, random: SeededGenerator(seed: 1))
    engine = SchedulingEngine(core, store: store)
    try open(handlers)
  }

  @discardableResult private func open(
    _ handlers: [HandlerContract], schedules: [ScheduleName: ScheduledRequest] = [:], crashed: [RunID: String] = [:],
    begun: Set<RunID> = []
  ) throws -> Int {
    let opening = try engine.open(handlers, schedules: schedules, crashed: crashed, begun: begun, now: now, at: Self.moment)
    collect(opening.turn)
    return opening.lost
  }

  /// Budgets and waits are no matter here.
  private static let moment = MonotonicTime(nanoseconds: 0)

  /// Whatever happened in the world, its store is whole at the end.
  deinit {
    store.close()
    let found = try? StoreInspection.of(StorePlace(database: directory.file("requests.sqlite"), marks: [])).findings
    for finding in found ?? [] { Issue.record("the store: \(finding.observed)") }
  }

  // MARK: Turns

  /// One turn: the change, and what can be started then, in one commit. Then as many as it takes until the change is made.
  @discardableResult func turn<Value>(_ change: @escaping (SchedulerCore, any StoreTransaction) throws -> Value) throws -> Value {
    var result: Result<Value, RequestRefusal>?
    try turn([.write(Write({ result = $0 }) { core, transaction, _ in try change(core, transaction) })])
    while result == nil { try turn() }
    return try #require(result).get()
  }

  /// One turn with what arrived, and what can be started then; and those in which the launcher answers what it is asked for.
  func turn(_ arrived: [EngineInput] = []) throws {
    engine.retryStore()
    let inputs = beginHeld() + answers + arrived
    answers = []
    do { lastTurn = try engine.turn(inputs, now: now, at: Self.moment) } catch {
      ask(error.withdrawals)
      throw error.error
    }
    collect(lastTurn)
    for answer in lastTurn.answers { answer() }
    while !answers.isEmpty { try turn() }
  }

  /// The launcher is asked for runs.
  private func ask(_ runs: [RunID]) {
    guard !losesAnswers else { return }
    answers += runs.map { launcher.withdraw($0) ? .withdrawn($0) : .began($0, now) }
  }

  /// Those whose time has come begin; those that something holds by now are to be taken back.
  private func beginHeld() -> [EngineInput] {
    var late: [EngineInput] = []
    for (id, due) in held where due <= now {
      held[id] = nil
      guard let order = orders[id] else { continue }
      if core.beginHeld(order.run, now: now) {
        start(order)
      } else {
        late.append(.withdrawn(order.run))
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

  /// The launcher tells that a run of a request has begun.
  func tellBegin(_ id: RequestID) throws {
    let run = try #require(orders[id]?.run)
    try turn([.began(run, now)])
  }

  /// Whether the handler of a request has been called, as the launcher knows.
  func hasBegun(_ id: RequestID) -> Bool { orders[id].map { launcher.hasBegun($0.run) } ?? false }

  private func collect(_ turn: EngineTurn) {
    for entry in turn.ended + turn.neverBegun + turn.released.map(\.entry) where orders[entry.request]?.run == entry.run {
      _ = launcher.end(entry.run)
      orders[entry.request] = nil
      held[entry.request] = nil
    }
    ask(turn.withdrawals)
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
    handlers: [HandlerContract] = [.sample()], schedules: [ScheduleName: ScheduledRequest] = [:], crashed: [RunID: String] = [:],
    begun: Set<RunID>? = nil
  ) throws -> Int {
    let begun = begun ?? launcher.begunAhead
    (orders, held, answers) = ([:], [:], [])
    launcher = LauncherModel()
    let core = SchedulerCore(
      policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: now, random: SeededGenerator(seed: 2))
    core.completions = engine.core.completions
    engine = SchedulingEngine(core, store: store)
    let lost = try open(handlers, schedules: schedules, crashed: crashed, begun: begun)
    try turn()
    return lost
  }

  /// Puts a plan in force once what is handed out ahead is back, and has a turn then.
  @discardableResult func adopt(
    _ policy: SchedulingPolicy, handlers: [HandlerContract] = [.sample()], schedules: [ScheduleName: ScheduledRequest] = [:],
    isRehearsal: Bool = false
  ) throws -> AdoptedPlan {
    engine.prepareAdoption()
    defer { engine.abandonAdoption() }
    while !engine.isReadyToAdopt { try turn() }
    let plan = SchedulingPlan(policy: policy, contracts: handlers, schedules: schedules)
    let result: Result<AdoptedPlan, RequestRefusal>
    do { (result, lastTurn) = try engine.adopt(plan, isRehearsal: isRehearsal, now: now, at: Self.moment) } catch {
      ask(error.withdrawals)
      throw error.error
    }
    collect(lastTurn)
    let adopted = try result.get()
    if !isRehearsal { self.policy = policy }
    try turn()
    return adopted
  }

  // MARK: What tests do

  @discardableResult func submit(_ request: TaskRequest = .sample()) throws -> Submission {
    try turn { core, transaction in try core.submit(request, transaction, now: self.now) }
  }

  @discardableResult func cancel(_ id: RequestID) throws -> RequestRecord {
    try turn { core, transaction in try core.cancel(id, transaction, now: self.now) }
  }

  @discardableResult func retry(_ id: RequestID) throws -> RequestRecord {
    try turn { core, transaction in try core.retry(id, transaction, now: self.now) }
  }

  @discardableResult func release(_ identifier: TaskIdentifier = .sample()) throws -> PluginHealth {
    try turn { core, transaction in try core.release(identifier, transaction) }
  }

  /// What counts against a plugin, in memory; the store must agree.
  func health(_ identifier: TaskIdentifier = .sample()) throws -> PluginHealth {
    let stored = try store.commit { try $0.pluginHealth() }
    #expect(stored[identifier] == core.pluginHealth[identifier])
    return core.pluginHealth[identifier] ?? PluginHealth()
  }

  /// Why a request is not running.
  func gates(_ id: RequestID) throws -> [String] { core.gates(of: try record(id), now: now) }

  /// Ends the run of a request.
  func end(_ id: RequestID, _ ending: RunEnding, _ report: RunReport = RunReport()) throws {
    let order = try #require(orders[id], "the request does not run")
    try turn([.ended(order.run, ending, report)])
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
    try turn([.withdrawn(run)])
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
