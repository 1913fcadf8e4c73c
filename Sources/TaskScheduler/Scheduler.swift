import DequeModule
import Failpoints
import HostThreads
import Synchronization
public import TaskModel

/// Runs the scheduler's core on a thread of its own, which is also the one that writes to the store.
///
/// Submissions, outcomes, claims and what plugins keep that wait at the same moment share one commit and its sync; answers, runs and
/// events follow when that is durable. The thread sleeps until the next request is due or something is sent to it.
public final class Scheduler: @unchecked Sendable {  // reason: the core belongs to the thread, the rest is touched with `monitor` held
  let store: any RequestStore
  let clock: any HostClock
  let launcher: any Launcher
  private let observe: @Sendable (Notice) -> Void
  private let standingChanged: @Sendable (TaskIdentifier, Standing) -> Void
  let monitor = Monitor()
  let core: SchedulerCore
  let policy: SchedulingPolicy

  private let liveRuns = Atomic(0)

  /// How many runs are live; a moment old.
  public var liveRunCount: Int { liveRuns.load(ordering: .relaxed) }

  // With `monitor` held.
  var commands = Deque<Command>()
  /// Whether one of them is for the thread to look at now.
  private var isCalled = false
  /// Whether begins are: they are the answers to what was asked, or a rate counts them.
  private var awaitsBegins = false
  private var isOver = false
  private var isServing = false
  private var hasEnded = false
  /// Held while something is looked at after the thread has ended.
  private let afterwards = Monitor()

  // The thread's own.
  var unrecorded: [Command] = []
  var parked: [ParkedWrite] = []
  var retryAt: MonotonicTime?
  private var retryDelay = Duration.seconds(1)
  var drainDeadline: MonotonicTime?
  /// Claimed, to begin at their time; the last first.
  private(set) var held: [(begin: MonotonicTime, order: RunOrder)] = []
  var drained: [@Sendable () -> Void] = []
  var endedSincePruning = 0
  var prunedAt: MonotonicTime
  var isPruning = true
  private var awaitedConditions: Conditions = []
  private var endedRuns = EndedRuns()
  /// When memory that large turns have left unused is given back; nil: there is none.
  var trimAt: MonotonicTime?
  /// When the host has been idle for so long that the store gives its memory back; nil: it has.
  var restAt: MonotonicTime?
  /// After so long without a turn, the store gives back what it keeps to be fast. Set before the start.
  var rest = Duration.seconds(30)

  /// Opens the books: requests whose runs were lost with the host before become pending again. Nothing runs before ``start()``.
  ///
  /// - Parameters:
  ///   - observe: See ``Notice``.
  ///   - standingChanged: Told of each plugin whose standing has changed, once that is durable; called as `observe` is.
  public init(
    policy: SchedulingPolicy, store: any RequestStore, launcher: any Launcher, clock: any HostClock,
    observe: @escaping @Sendable (Notice) -> Void,
    standingChanged: @escaping @Sendable (TaskIdentifier, Standing) -> Void = { _, _ in }
  ) throws(StoreError) {
    self.policy = policy
    self.store = store
    self.clock = clock
    self.launcher = launcher
    self.observe = observe
    self.standingChanged = standingChanged
    core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: clock.wallTime)
    prunedAt = clock.monotonicTime
  }

  /// Seals the registry, settles what the host before left behind, and begins to run what is due.
  ///
  /// - Parameters:
  ///   - contracts: The handlers there are.
  ///   - schedules: The requests that the configuration asks for.
  ///   - changes: What plugins asked for while they launched, to be carried out in this order.
  ///   - objection: Why a submission's payload is refused, or nil. Called on the scheduler's thread; returns promptly.
  ///   - crashed: The runs that took the host before along, with the signal and the stack, as its crash memory names them. They end
  ///     `crashed`, and count against their plugins.
  ///   - begun: The runs that had begun of those that the host before had handed out ahead, as its crash memory names them.
  ///   - clocks: What the wall clock and the boot clock are to each other now; nil: that is not known, and delays follow the wall clock.
  /// - Returns: How many other runs were lost with the host before, and the launch submissions that were refused.
  public func start(
    contracts: [HandlerContract], schedules: [TaskIdentifier: ScheduledRequest], changes: [LaunchChange] = [],
    objection: @escaping @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }, crashed: [RunID: String] = [:],
    begun: Set<RunID> = [], clocks: ClockReference? = nil
  ) throws(StoreError) -> (lost: Int, refused: [(TaskRequest, RequestRefusal)]) {
    core.register(contracts)
    core.objection = objection
    let now = clock.wallTime
    let result = try store.commit { transaction in
      if let clocks { try core.clockChanged(clocks, transaction, now: now) }
      let lost = try core.recover(transaction, crashed: crashed, begun: begun, now: now)
      try core.reconcile(schedules, transaction, now: now)
      Failpoint.scheduleReconciled.hit()
      var refused: [(TaskRequest, RequestRefusal)] = []
      for change in changes {
        switch change {
        case .submit(let request):
          do { _ = try transaction.savepoint { try core.submit(request, transaction, now: now) } } catch let refusal as RequestRefusal {
            refused.append((request, refusal))
          }
        case .cancel(let identifiers): _ = try core.cancelPending(of: identifiers, transaction, now: now)
        }
      }
      core.turn.changedWatches = true
      try core.findWatches(transaction)
      return (lost, refused)
    }
    if let watches = core.turn.watches, !watches.isEmpty { observe(.filesAwaited(watches)) }
    core.committed(core.turn)
    Failpoint.booksOpened.hit()
    tellStandings(core.turn)
    if core.limits.needsHistory {
      var query = RunQuery()
      query.limit = Self.historyForLimits
      core.limits.restore(try store.runs(query), now: now) { [store] run in (try? store.request(run.request))?.request.gates.concurrencyKey
      }
    }
    monitor.locked { isServing = true }
    do { try HostThread.start("scheduler", precise: true) { [self] in serve() } } catch {
      monitor.locked { isServing = false }
      throw StoreError.other(error.description)
    }
    return result
  }

  /// Ends the thread and waits until it has ended; drain first. What was sent and not begun, and what is sent from then on, is refused.
  public func stop() {
    monitor.locked {
      isOver = true
      monitor.broadcast()
      while isServing { monitor.wait() }
    }
  }

  /// Ended runs that are looked at to know what is used of rates and quotas.
  private static let historyForLimits = 20_000

  // MARK: Sent from other threads, see Scheduler+Command and Scheduler+Requests

  /// Sends something to the thread.
  func send(_ command: Command) {
    monitor.lock()
    guard !hasEnded else {
      monitor.unlock()
      return refuse(command)
    }
    commands.append(command)
    let isQuiet = if case .began = command { !awaitsBegins } else { false }
    if !isQuiet, !isCalled {
      isCalled = true
      monitor.signal()
    }
    monitor.unlock()
  }

  /// The thread has ended: nobody waits for ever. On the sender's thread, or on the scheduler's last legs.
  private func refuse(_ command: Command) {
    switch command {
    case .write(let write): write.fail(RequestRefusal(.unavailable, "the host has stopped: submit again when it is back"))
    case .inspect(let body): afterwards.locked { body(core, clock.wallTime) }
    case .drain(_, let completion): completion()
    case .ended, .began, .withdrawn, .force, .conditions: break
    }
  }

  // MARK: The thread

  private func serve() {
    while let batch = nextBatch() {
      let late = beginHeld()
      settle(late + batch.filter(takesTransaction))
      tellAwaited()
      liveRuns.store(core.live.count, ordering: .relaxed)
      endDrainIfDue()
      pruneIfIdle()
      trimIfDue()
    }
    let left = monitor.locked {
      hasEnded = true
      defer { commands.removeAll() }
      return commands
    }
    for parked in parked { refuse(.write(parked.write)) }
    parked.removeAll()
    for command in left { refuse(command) }
    for completion in drained { completion() }
    drained.removeAll()
    monitor.locked {
      isServing = false
      monitor.broadcast()
    }
  }

  /// Waits for commands or for the next thing to do. Nil: it is over.
  private func nextBatch() -> Deque<Command>? {
    let wakeAt = nextWake()
    monitor.lock()
    defer { monitor.unlock() }
    awaitsBegins = core.awaits(nil) || core.limits.awaitsBegins
    // What came before begins were waited for.
    if awaitsBegins, !commands.isEmpty { isCalled = true }
    while !isCalled, !isOver, wakeAt > clock.monotonicTime {
      if !monitor.wait(until: wakeAt) { break }
    }
    guard !isOver else { return nil }
    isCalled = false
    defer { commands.removeAll(keepingCapacity: true) }
    return commands
  }

  private func nextWake() -> MonotonicTime {
    if core.mayDispatch(now: clock.wallTime) || core.hasDuty(now: clock.wallTime) || (isPruning && retryAt == nil) {
      return MonotonicTime(nanoseconds: 0)
    }
    var wake = core.nextTurn(now: clock.wallTime).map(clock.monotonicTime(at:)) ?? .distantFuture
    if let retryAt { wake = min(wake, retryAt) }
    if let trimAt { wake = min(wake, trimAt) }
    if let restAt { wake = min(wake, restAt) }
    if let drainDeadline { wake = min(wake, drainDeadline) }
    if let next = held.last { wake = min(wake, next.begin) }
    return wake
  }

  /// Carries out what needs no transaction; returns whether the command needs one.
  private func takesTransaction(_ command: Command) -> Bool {
    switch command {
    case .write, .ended, .began, .withdrawn: return true
    case .inspect(let body): body(core, clock.wallTime)
    case .conditions(let report): take(report)
    case .drain(let deadline, let completion):
      core.isDraining = true
      core.drainingSince = core.drainingSince ?? clock.wallTime
      Failpoint.drainingBegun.hit()
      drainDeadline = min(drainDeadline ?? deadline, deadline)
      drained.append(completion)
      // A store that works again is not waited for.
      if retryAt != nil { retryAt = clock.monotonicTime }
    case .force:
      drainDeadline = nil
      for run in core.live.keys { launcher.force(run, reason: .draining) }
    }
    return false
  }

  /// One turn: everything that waits, and what can be started, in one commit.
  private func settle(_ writes: Deque<Command>) {
    if let retryAt, clock.monotonicTime >= retryAt {
      self.retryAt = nil
      core.storeTrouble = nil
    }
    let now = clock.wallTime
    let outcomes = unrecorded
    let hasOutcomes = !outcomes.isEmpty && retryAt == nil
    guard !writes.isEmpty || hasOutcomes || core.mayDispatch(now: now) || core.hasDuty(now: now) else { return }
    core.beginTurn()
    var waiting: [ParkedWrite] = []
    do {
      try store.commit { transaction in
        waiting = parked
        for command in outcomes { try perform(command, &waiting, transaction, now: now) }
        for command in writes { try perform(command, &waiting, transaction, now: now) }
        try performParked(&waiting, transaction, now: now)
        try core.recordBegins(transaction, before: now + (.zero - HandlerState.patience))
        try core.dispatch(transaction, now: now)
        try core.takeBackWhereDue(transaction, now: now)
        try core.findWatches(transaction)
      }
    } catch {
      return failed(writes, error)
    }
    unrecorded.removeAll()
    parked = waiting
    if retryAt != nil || retryDelay > .seconds(1) { recovered() }
    core.committed(core.turn)
    noteSize(of: core.turn)
    carryOut(core.turn)
  }

  private func perform(
    _ command: Command, _ waiting: inout [ParkedWrite], _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    switch command {
    case .ended(let run, let ending, let report):
      // A run that is not its request's present one has nothing to say any more.
      do { try core.end(run, ending, report, transaction, now: now) } catch StoreError.fenced { return core.abandon(run, now: now) }
      if case .returned(_, _?) = ending, let entry = core.turn.ended.last(where: { $0.run == run }) { noteExpired(entry) }
    case .began(let run, let time): try core.hearBegin(run, at: time, transaction)
    case .withdrawn(let run):
      do { try core.release(run, transaction, now: now) } catch StoreError.fenced { core.abandon(run, now: now) }
    case .write(let write):
      // What a change looks at is recorded: a run that has begun may make it itself.
      try core.recordBegins(transaction)
      let before = core.turn.mark
      do {
        core.turn.answers.append(try transaction.savepoint { try write.perform(core, transaction, now) })
      } catch let ahead as ClaimedAhead {
        core.takeBack(to: before)
        try core.takeBack(of: ahead.identifier, forChange: true, transaction, now: now)
        waiting.append(ParkedWrite(write: write, identifier: ahead.identifier))
      } catch let refusal as RequestRefusal {
        refuse(write, refusal, before)
      } catch let error as StoreError where error == .fenced || error.isLimit {
        refuse(write, RequestRefusal(error), before)
      } catch let error as IllegalTransition {
        refuse(write, RequestRefusal(.conflict, "\(error)"), before)
      }
    case .inspect, .drain, .force, .conditions: break
    }
  }

  /// A run that had expired has returned.
  private func noteExpired(_ entry: LiveRunEntry) {
    guard let grace = core.handlers[entry.identifier]?.contract.grace else { return }
    let now = clock.monotonicTime
    endedRuns.note(entry.run, of: entry.request, until: now + grace, now: now)
  }

  /// Throws `fenced` unless the run may submit and cancel: it is its request's present one, or it expired, has returned, and its grace is
  /// not over. On the thread.
  func checkMaySubmit(_ run: RunID, of request: RequestID, _ transaction: any StoreTransaction) throws {
    if endedRuns.contains(run, of: request, now: clock.monotonicTime) { return }
    _ = try transaction.requestRunning(as: run, of: request)
  }

  /// Makes the changes whose requests are back, before anything is handed out again.
  private func performParked(_ waiting: inout [ParkedWrite], _ transaction: any StoreTransaction, now: WallTime) throws {
    while let position = waiting.firstIndex(where: { !core.awaits($0.identifier) }) {
      let parked = waiting.remove(at: position)
      try perform(.write(parked.write), &waiting, transaction, now: now)
    }
    if waiting.isEmpty { core.changesAreMade() }
  }

  /// The savepoint undid what the change wrote; this undoes what it changed in memory.
  private func refuse(_ write: Write, _ refusal: RequestRefusal, _ before: Turn.Mark) {
    core.takeBack(to: before)
    Failpoint.submissionRefused.hit()
    core.turn.answers.append { write.fail(refusal) }
  }

  private func carryOut(_ turn: Turn) {
    if !turn.ended.isEmpty { Failpoint.outcomeRecorded.hit() }
    if !turn.orders.isEmpty { Failpoint.runRecorded.hit() }
    if !turn.orders.isEmpty {
      begin(turn.orders)
      Failpoint.runOrdered.hit()
    }
    if !turn.held.isEmpty {
      held += turn.held.map { (clock.monotonicTime(at: $0.due), $0.order) }
      held.sort { $0.begin > $1.begin }
      Failpoint.runHeld.hit()
    }
    if !turn.unheld.isEmpty { held.removeAll { turn.unheld.contains($0.order.run) } }
    if !turn.withdrawals.isEmpty { launcher.withdraw(turn.withdrawals) }
    if !turn.expirations.isEmpty { Failpoint.stopRecorded.hit() }
    for (run, reason) in turn.expirations { launcher.expire(run, reason: reason) }
    // What began in spite of that was asked back too late.
    if core.isDraining, drainDeadline == nil { for claim in turn.begun { launcher.expire(claim.entry.run, reason: .draining) } }
    for answer in turn.answers {
      Failpoint.beforeAnswer.hit()
      answer()
      Failpoint.afterAnswer.hit()
    }
    for (identifier, interval) in turn.paced { observe(.paced(identifier, interval: interval)) }
    for record in turn.history { observe(.ended(record)) }
    for event in turn.events { observe(.event(event)) }
    if let watches = turn.watches { observe(.filesAwaited(watches)) }
    tellStandings(turn)
    endedSincePruning += turn.ended.count
  }

  private func tellStandings(_ turn: Turn) {
    for change in turn.standings { standingChanged(change.identifier, change.standing ?? Standing()) }
  }

  // MARK: Conditions

  private func tellAwaited() {
    let awaited = core.awaitedConditions(now: clock.wallTime)
    guard awaited != awaitedConditions else { return }
    awaitedConditions = awaited
    observe(.conditionsAwaited(awaited))
  }

  /// The machine has changed: runs that require what does not hold any more are asked to stop. What may begin now begins in this turn.
  private func take(_ report: ConditionReport) {
    core.conditions = report
    let lost = core.runsThatLost(report)
    if !lost.isEmpty { Failpoint.conditionLost.hit() }
    for run in lost { launcher.expire(run, reason: .conditions) }
  }

  // MARK: Runs that are handed out ahead of their time

  /// Begins the runs whose time has come.
  ///
  /// - Returns: Those that something holds by now come back.
  private func beginHeld() -> Deque<Command> {
    let (now, wallTime) = (clock.monotonicTime, clock.wallTime)
    var orders: [RunOrder] = []
    var late: Deque<Command> = []
    while let next = held.last, next.begin <= now {
      let order = held.removeLast().order
      if core.beginHeld(order.run, now: wallTime) { orders.append(order) } else { late.append(.withdrawn(order.run)) }
    }
    guard !orders.isEmpty else { return late }
    Failpoint.heldRunDue.hit()
    begin(orders)
    return late
  }

  // MARK: A store that fails

  /// Nothing of the turn happened. Outcomes are kept until they can be recorded; who waits for a change is told.
  private func failed(_ writes: Deque<Command>, _ error: StoreError) {
    core.undoTurn(now: clock.wallTime)
    let wasWorking = core.storeTrouble == nil && retryDelay == .seconds(1)
    core.storeTrouble = error
    core.storeTroubleSince = core.storeTroubleSince ?? clock.wallTime
    launcher.withdraw(core.askAllBack())
    for parked in parked { parked.write.fail(RequestRefusal(error)) }
    parked.removeAll()
    core.changesAreMade()
    for command in writes {
      switch command {
      case .ended, .began, .withdrawn: unrecorded.append(command)
      case .write(let write): write.fail(RequestRefusal(error))
      case .inspect, .drain, .force, .conditions: break
      }
    }
    retryAt = clock.monotonicTime + retryDelay
    retryDelay = min(retryDelay * 2, .seconds(30))
    if wasWorking { observe(.storeFailed(error)) }
  }

  private func recovered() {
    retryAt = nil
    retryDelay = .seconds(1)
    core.storeTrouble = nil
    core.storeTroubleSince = nil
    observe(.storeRecovered)
  }
}

extension StoreError {
  fileprivate var isLimit: Bool {
    if case .limit = self { true } else { false }
  }
}
