import Failpoints
import HostThreads
import Synchronization
public import TaskModel

/// Drives the scheduling engine on a thread of its own, which is also the one that writes to the store.
///
/// Submissions, outcomes, claims and what plugins keep that wait at the same moment share one commit and its sync; answers, runs and
/// events follow when that is durable. The thread sleeps until the next request is due or something is sent to it.
public final class Scheduler: @unchecked Sendable {  // reason: the core belongs to the thread, the rest is touched with `monitor` held
  let store: any RequestStore
  let clock: any HostClock
  let launcher: any Launcher
  private let observe: @Sendable (Notice) -> Void
  private let healthChanged: @Sendable (TaskIdentifier, PluginHealth) -> Void
  let monitor = Monitor()
  let engine: SchedulingEngine
  var core: SchedulerCore { engine.core }
  let policy: SchedulingPolicy

  private let liveRuns = Atomic(0)

  /// How many runs are live; a moment old.
  public var liveRunCount: Int { liveRuns.load(ordering: .relaxed) }

  // With `monitor` held.
  var commands: [Command] = []
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
  var retryAt: MonotonicTime?
  private var retryDelay = firstRetry
  private static let firstRetry = Duration.seconds(1)
  var drainDeadline: MonotonicTime?
  /// Claimed, to begin at their time; the last first.
  private(set) var held: [(begin: MonotonicTime, order: RunOrder)] = []
  var drained: [@Sendable () -> Void] = []
  var endedSincePruning = 0
  var prunedAt: MonotonicTime
  var isPruning = true
  private var awaitedConditions: Conditions = []
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
  ///   - healthChanged: Told of each plugin whose health has changed, once that is durable; called as `observe` is.
  public init(
    policy: SchedulingPolicy, store: any RequestStore, launcher: any Launcher, clock: any HostClock,
    observe: @escaping @Sendable (Notice) -> Void,
    healthChanged: @escaping @Sendable (TaskIdentifier, PluginHealth) -> Void = { _, _ in }
  ) throws(StoreError) {
    self.policy = policy
    self.store = store
    self.clock = clock
    self.launcher = launcher
    self.observe = observe
    self.healthChanged = healthChanged
    let core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: clock.wallTime)
    engine = SchedulingEngine(core, store: store)
    prunedAt = clock.monotonicTime
  }

  /// Seals the registry, settles what the host before left behind, and begins to run what is due.
  ///
  /// - Parameters:
  ///   - contracts: The handlers there are.
  ///   - schedules: The requests that the configuration asks for.
  ///   - changes: What plugins asked for while they launched, to be carried out in this order.
  ///   - rejection: Why a submission's payload is refused, or nil. Called on the scheduler's thread; returns promptly.
  ///   - crashed: The runs that took the host before along, with the signal and the stack, as its crash memory names them. They end
  ///     `crashed`, and count against their plugins.
  ///   - begun: The runs that had begun of those that the host before had handed out ahead, as its crash memory names them.
  ///   - clocks: What the wall clock and the boot clock are to each other now; nil: that is not known, and delays follow the wall clock.
  /// - Returns: How many other runs were lost with the host before, and the launch submissions that were refused.
  public func start(
    contracts: [HandlerContract], schedules: [TaskIdentifier: ScheduledRequest], changes: [LaunchChange] = [],
    rejection: @escaping @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }, crashed: [RunID: String] = [:],
    begun: Set<RunID> = [], clocks: ClockReference? = nil
  ) throws(StoreError) -> (lost: Int, refused: [(TaskRequest, RequestRefusal)]) {
    core.rejection = rejection
    let opening = try engine.open(
      contracts, schedules: schedules, changes: changes, crashed: crashed, begun: begun, clocks: clocks, now: clock.wallTime,
      at: clock.monotonicTime)
    if let watches = opening.turn.watches, !watches.isEmpty { observe(.filesAwaited(watches)) }
    tellHealth(opening.turn)
    monitor.locked { isServing = true }
    do { try HostThread.start("scheduler", precise: true) { [self] in serve() } } catch {
      monitor.locked { isServing = false }
      throw StoreError.other(error.description)
    }
    return (opening.lost, opening.refused)
  }

  /// Ends the thread and waits until it has ended; drain first. What was sent and not begun, and what is sent from then on, is refused.
  public func stop() {
    monitor.locked {
      isOver = true
      monitor.broadcast()
      while isServing { monitor.wait() }
    }
  }

  // MARK: Sent from other threads, see Scheduler+Command and Scheduler+Requests

  /// Sends something to the thread.
  func send(_ command: Command) {
    monitor.lock()
    guard !hasEnded else {
      monitor.unlock()
      return refuse(command)
    }
    commands.append(command)
    let isQuiet = if case .input(.began) = command { !awaitsBegins } else { false }
    if !isQuiet, !isCalled {
      isCalled = true
      monitor.signal()
    }
    monitor.unlock()
  }

  /// The thread has ended: nobody waits for ever. On the sender's thread, or on the scheduler's last legs.
  private func refuse(_ command: Command) {
    switch command {
    case .input(.write(let write)): write.fail(Self.hasStopped)
    case .inspect(let body): afterwards.locked { body(core, clock.wallTime) }
    case .drain(_, let completion): completion()
    case .input, .force, .conditions: break
    }
  }

  private static let hasStopped = RequestRefusal(.unavailable, "the host has stopped: submit again when it is back")

  // MARK: The thread

  private func serve() {
    while let batch = nextBatch() {
      settle(inputs(of: batch))
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
    engine.refuseParked(Self.hasStopped)
    for command in left { refuse(command) }
    for completion in drained { completion() }
    drained.removeAll()
    monitor.locked {
      isServing = false
      monitor.broadcast()
    }
  }

  /// Waits for commands or for the next thing to do. Nil: it is over.
  private func nextBatch() -> [Command]? {
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

  /// Carries out what needs no turn of its own; returns what the turn takes in.
  private func inputs(of batch: [Command]) -> [EngineInput] {
    var inputs = beginHeld()
    inputs.reserveCapacity(inputs.count + batch.count)
    for command in batch {
      switch command {
      case .input(let input): inputs.append(input)
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
    }
    return inputs
  }

  /// One turn, if there is anything to do.
  private func settle(_ inputs: [EngineInput]) {
    if let retryAt, clock.monotonicTime >= retryAt {
      self.retryAt = nil
      engine.retryStore()
    }
    let now = clock.wallTime
    guard !inputs.isEmpty || engine.hasWork(now: now) else { return }
    let turn: EngineTurn
    do { turn = try engine.turn(inputs, now: now, at: clock.monotonicTime) } catch { return failed(error) }
    if retryDelay > Self.firstRetry { recovered() }
    noteSize(of: turn)
    carryOut(turn)
  }

  private func carryOut(_ turn: EngineTurn) {
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
    tellHealth(turn)
    endedSincePruning += turn.ended.count
  }

  private func tellHealth(_ turn: EngineTurn) {
    for change in turn.pluginHealth { healthChanged(change.identifier, change.health ?? PluginHealth()) }
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
  private func beginHeld() -> [EngineInput] {
    let (now, wallTime) = (clock.monotonicTime, clock.wallTime)
    var orders: [RunOrder] = []
    var late: [EngineInput] = []
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

  private func failed(_ turn: FailedTurn) {
    launcher.withdraw(turn.withdrawals)
    let wasWorking = retryDelay == Self.firstRetry
    retryAt = clock.monotonicTime + retryDelay
    retryDelay = min(retryDelay * 2, .seconds(30))
    if wasWorking { observe(.storeFailed(turn.error)) }
  }

  private func recovered() {
    retryAt = nil
    retryDelay = Self.firstRetry
    observe(.storeRecovered)
  }
}
