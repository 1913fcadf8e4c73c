import CalendarTime
import MemoryStore
import StoreTestSupport
import TaskModel

@testable import TaskScheduler

/// The scheduling engine on a store in memory, with clocks that the test sets. Does with a turn what the scheduler's thread does with it.
final class ProofHost {
  let store = FailingStore(MemoryRequestStore(origin: 7))
  let policy: SchedulingPolicy
  let contracts: [HandlerContract]
  private var engine: SchedulingEngine
  var core: SchedulerCore { engine.core }
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
  /// What the launcher answered when it was asked for runs: it arrives in the next turn.
  private var answers: [EngineInput] = []

  init(_ policy: SchedulingPolicy, _ contracts: [HandlerContract], now: WallTime) throws {
    self.policy = policy
    self.contracts = contracts
    self.now = now
    let core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: 0, now: now, random: SeededGenerator(seed: 1))
    engine = SchedulingEngine(core, store: store)
    try open(crashed: [:])
  }

  private func open(crashed: [RunID: String], begun: Set<RunID> = []) throws {
    let opening = try engine.open(
      contracts, schedules: [:], crashed: crashed, begun: begun, clocks: reference, now: now, at: Self.moment)
    for run in opening.turn.history { try ended(run) }
  }

  /// Budgets and waits are no matter here.
  private static let moment = MonotonicTime(nanoseconds: 0)

  private var reference: ClockReference { ClockReference(boot: "\(boot)", offset: offset) }

  // MARK: Turns

  /// One turn: the change, and what can be started then, in one commit. Then as many as it takes until the change is made. A refusal undoes
  /// the change alone. A commit that fails undoes all.
  @discardableResult func turn<Value>(
    fails: Bool = false, _ change: @escaping (SchedulerCore, any StoreTransaction) throws -> Value
  ) throws -> Value {
    var result: Result<Value, RequestRefusal>?
    let write = Write({ result = $0 }) { core, transaction, _ throws -> Value in
      // Nothing else refuses a change: where memory and store disagree, the turn fails.
      do { return try change(core, transaction) } catch let error where !(error is RequestRefusal || error is ClaimedAhead) {
        throw ProofFailure("\(error)")
      }
    }
    try turn([.write(write)], fails: fails)
    while result == nil { try turn() }
    guard let result else { throw ProofFailure("the change was not answered") }
    return try result.get()
  }

  /// One turn with what arrived, and what can be started then; and those in which the launcher answers what it is asked for.
  func turn(_ arrived: [EngineInput] = [], fails: Bool = false) throws {
    engine.retryStore()
    let inputs = try beginHeld() + answers + arrived
    answers = []
    let turn: EngineTurn
    store.fail(with: fails ? .full("as the test wishes") : nil)
    defer { store.fail(with: nil) }
    do { turn = try engine.turn(inputs, now: now, at: Self.moment) } catch {
      ask(error.withdrawals)
      throw error.error
    }
    try carryOut(turn)
    for answer in turn.answers { answer() }
    while !answers.isEmpty { try self.turn() }
  }

  /// The launcher is asked for runs.
  private func ask(_ runs: [RunID]) { answers += runs.map { launcher.withdraw($0) ? .withdrawn($0) : .began($0, now) } }

  /// Whether a run's handler has been called.
  func hasBegun(_ run: RunID) -> Bool { launcher.hasBegun(run) }

  /// Gives an order to the launcher.
  private func start(_ order: RunOrder) throws { if launcher.start(order) { try tellBegin(order) } }

  /// The launcher has begun a run.
  private func tellBegin(_ order: RunOrder) throws {
    try began(order, now)
    if order.tellsBegin { core.begin(order.run, at: now, now: now) }
  }

  private func carryOut(_ turn: EngineTurn) throws {
    try promise(turn.history.count == turn.ended.count, "of the runs \(turn.ended), only \(turn.history) have an outcome")
    for entry in turn.ended + turn.released.map(\.entry) {
      orders[entry.run] = nil
      held[entry.run] = nil
      expirations[entry.run] = nil
    }
    for record in turn.history { try ended(record) }
    // What the launcher began in the place of what ended.
    try tellNext()
    ask(turn.withdrawals)
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
  private func beginHeld() throws -> [EngineInput] {
    var late: [EngineInput] = []
    for run in held.keys.sorted() {
      guard let due = held[run], due <= now, let order = orders[run] else { continue }
      held[run] = nil
      if core.beginHeld(run, now: now) { try start(order) } else { late.append(.withdrawn(run)) }
    }
    return late
  }

  // MARK: What happens

  /// Ends a run. Where the commit fails, the next turn records it.
  func end(_ run: RunID, _ ending: RunEnding, _ report: RunReport = RunReport(), fails: Bool = false) throws {
    try end([(run, ending, report)], fails: fails)
  }

  /// What begins in the place of what has ended, once that is told.
  private var next: [RunOrder] = []

  /// Ends runs in one turn.
  func end(_ ends: [(run: RunID, ending: RunEnding, report: RunReport)], fails: Bool = false) throws {
    var inputs: [EngineInput] = ends.map { .ended($0.run, $0.ending, $0.report) }
    for end in ends {
      switch end.ending {
      case .crashed, .forced: inputs += launcher.crash(end.run).map { .withdrawn($0.run) }
      case .returned, .lost: if let order = launcher.end(end.run) { next.append(order) }
      }
    }
    do { try turn(inputs, fails: fails) } catch {
      try tellNext()
      throw error
    }
  }

  private func tellNext() throws {
    let begun = next.filter { orders[$0.run] != nil }
    next = []
    for order in begun { try tellBegin(order) }
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
    try turn { core, transaction in try core.clockChanged(self.reference, slept: false, transaction, now: self.now) }
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
    (launcher, answers, next) = (LauncherModel(), [], [])
    if reboot {
      boot += 1
      offset &+= 12_345
    }
    let conditions = core.conditions
    let core = SchedulerCore(
      policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: now,
      random: SeededGenerator(seed: UInt64(boot)))
    engine = SchedulingEngine(core, store: store)
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
