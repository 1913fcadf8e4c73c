import Failpoints
import TaskModel

/// The work of the scheduler's thread.
///
/// Submissions, outcomes, claims and plugin state that wait at the same time share one commit and its sync. Answers, runs and events
/// follow once it is durable. The thread sleeps until the next request is due or a command arrives.
final class SchedulerThread {
  let scheduler: Scheduler
  private(set) var launcher: any Launcher
  private let observe: @Sendable (Scheduler.Notice) -> Void
  let engine: SchedulingEngine
  let core: SchedulerCore
  let store: any RequestStore
  let clock: any HostClock

  var retryAt: MonotonicTime?
  private var retryDelay = firstRetry
  private static let firstRetry = Duration.seconds(1)
  /// When a drain expires the live runs; nil once it has, and while the host does not drain.
  var drainDeadline: MonotonicTime?
  /// The runs that hold execution assertions: a drain expires them only when they hold none any more.
  var spared: Set<RunID> = []
  /// Claimed runs that wait for their time, latest first; of those with the same time, the worst rank first.
  private var held: [HeldRun] = []
  /// Until when no further held runs are given to their threads early.
  private var earlyUntil = MonotonicTime(nanoseconds: 0)
  /// How long before its time a held run is given to its thread: a worker's takes a fifth of a millisecond to wake.
  private static let earliness = Duration.microseconds(400)
  /// How many runs at most wait awake, because each keeps a core busy.
  private static let mostEarly = 2
  var drained: [@Sendable () -> Void] = []
  var endedSincePruning = 0
  var prunedAt: MonotonicTime
  var isPruning = true
  /// The plan that is to be put in force.
  private var adoption: Scheduler.Adoption?
  private var awaitedConditions: Conditions = []
  private var awaitedWake: WallTime?
  /// When to give back memory that large turns left unused; nil if none did.
  var trimAt: MonotonicTime?
  /// When an idle host makes the store release its caches; nil once it has.
  var restAt: MonotonicTime?

  init(_ scheduler: Scheduler, _ launcher: any Launcher, _ observe: @escaping @Sendable (Scheduler.Notice) -> Void) {
    self.scheduler = scheduler
    self.launcher = launcher
    self.observe = observe
    engine = scheduler.engine
    core = scheduler.engine.core
    store = scheduler.store
    clock = scheduler.clock
    prunedAt = scheduler.clock.monotonicTime
  }

  /// Runs turns until the scheduler stops.
  func serve() {
    while let batch = scheduler.nextBatch(by: nextWake(), awaitsBegins: core.awaits(nil) || core.limits.awaitsBegins) {
      settle(inputs(of: batch))
      adoptIfReady()
      tellAwaited()
      tellWake()
      scheduler.noteLive(core.live.count)
      endDrainIfDue()
      pruneIfIdle()
      trimIfDue()
    }
    for completion in drained { completion() }
    adoption?.completion(.failure(Scheduler.hasStopped))
  }

  private func nextWake() -> MonotonicTime {
    if core.mayDispatch(now: clock.wallTime) || core.hasDuty(now: clock.wallTime) || (isPruning && retryAt == nil) {
      return MonotonicTime(nanoseconds: 0)
    }
    let turn = core.nextTurn(now: clock.wallTime).map(clock.monotonicTime(at:))
    // Whether its conditions hold is learned once the request is due.
    let look = core.agenda.nextDue(needingMoreThan: awaitedConditions, after: clock.wallTime).map(clock.monotonicTime(at:))
    return [turn, look, retryAt, trimAt, restAt, drainDeadline, nextBegin].compactMap(\.self).min() ?? .distantFuture
  }

  /// When the next held run is given to its thread.
  private var nextBegin: MonotonicTime? {
    held.last.map { $0.begin < earlyUntil + Self.earliness ? $0.begin : $0.begin + (.zero - Self.earliness) }
  }

  /// Carries out commands that need no turn; returns the inputs of the turn.
  private func inputs(of batch: [Scheduler.Command]) -> [EngineInput] {
    var inputs = beginHeld()
    inputs.reserveCapacity(inputs.count + batch.count)
    for command in batch {
      switch command {
      case .input(let input): inputs.append(input)
      case .inspect(let body): body(core, clock.wallTime)
      case .conditions(let report): take(report)
      case .expire(let identifier, let completion): completion(expire(identifier))
      case .drain(let deadline, let completion):
        core.isDraining = true
        core.drainingSince = core.drainingSince ?? clock.wallTime
        Failpoint.drainingBegun.hit()
        drainDeadline = min(drainDeadline ?? deadline, deadline)
        drained.append(completion)
        // Try a failed store again at once.
        if retryAt != nil { retryAt = clock.monotonicTime }
      case .spare(let runs):
        let released = spared.subtracting(runs)
        spared = runs
        if core.isDraining, drainDeadline == nil { expireForDrain(released.filter { core.live[$0] != nil }) }
      case .force:
        drainDeadline = nil
        core.isForced = true
        for run in core.live.keys { launcher.force(run, reason: .draining) }
      case .forceLeased:
        core.leaseIsOver = true
        core.forsaken.formUnion(core.fencingTokens.keys)
        launcher.withdraw(core.claims.values.filter { $0.entry.request.origin == core.fleet }.map(\.entry.run))
        forceLeased(core.live.values)
      case .adopt(let adoption): prepare(adoption)
      }
    }
    return inputs
  }

  private func forceLeased(_ entries: some Sequence<LiveRunEntry>) {
    for entry in entries where entry.request.origin == core.fleet { launcher.force(entry.run, reason: .conditions) }
  }

  /// Expires the identifier's live runs as if their budget were spent. Returns these runs.
  private func expire(_ identifier: TaskIdentifier) -> Result<[RunID], RequestRefusal> {
    do throws(RequestRefusal) {
      let runs = try core.runsToExpire(of: identifier)
      for run in runs { launcher.expire(run, reason: .budget) }
      return .success(runs)
    } catch { return .failure(error) }
  }

  /// Runs one turn if there is anything to do.
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
    if !turn.orders.isEmpty {
      Failpoint.runRecorded.hit()
      begin(turn.orders)
      Failpoint.runOrdered.hit()
    }
    if !turn.held.isEmpty {
      held += turn.held.map {
        HeldRun(begin: clock.monotonicTime(at: $0.due), due: $0.due, rank: core.claims[$0.order.run]?.rank ?? .max, order: $0.order)
      }
      held.sort { ($0.due, $0.rank, $0.order.run) > ($1.due, $1.rank, $1.order.run) }
      Failpoint.runHeld.hit()
    }
    if !turn.unheld.isEmpty { held.removeAll { turn.unheld.contains($0.order.run) } }
    if !turn.withdrawals.isEmpty { launcher.withdraw(turn.withdrawals) }
    if !turn.expirations.isEmpty { Failpoint.stopRecorded.hit() }
    for (run, reason) in turn.expirations { launcher.expire(run, reason: reason) }
    // These runs began although the drain's time is over: they were asked back too late.
    if core.isDraining, drainDeadline == nil { expireForDrain(turn.begun.map(\.entry.run)) }
    if core.leaseIsOver { forceLeased(turn.begun.map(\.entry)) }
    // Before the answers: these may wait until the fleet's database has it.
    if !turn.surrendered.isEmpty { observe(.surrendered(turn.surrendered)) }
    for answer in turn.answers {
      Failpoint.beforeAnswer.hit()
      answer()
      Failpoint.afterAnswer.hit()
    }
    for (identifier, interval) in turn.paced { observe(.paced(identifier, interval: interval)) }
    for state in turn.objectives { observe(.objective(state)) }
    for incident in turn.found { observe(.incident(incident)) }
    for (rule, step) in turn.told { observe(.told(rule: rule, step)) }
    for pause in turn.endedPauses { observe(.pauseEnded(pause)) }
    for request in turn.submitted { observe(.submitted(request)) }
    for record in turn.history { observe(.ended(record)) }
    // What became of a request of the fleet is told once its database has it.
    let given = Set(turn.surrendered.map(\.record.id))
    for event in turn.events {
      if event.tellsEnd, let request = event.request, given.contains(request) { continue }
      observe(.event(event))
    }
    if let watches = turn.watches { observe(.filesAwaited(watches)) }
    for change in turn.pluginHealth { observe(change.notice) }
    endedSincePruning += turn.ended.count
  }

  /// Begins runs. If a plugin's crash or forced stop is queued but not recorded yet, its runs are given back, because recording it will hold
  /// the plugin.
  private func begin(_ orders: [RunOrder]) {
    let struck = Set(scheduler.failuresToCome.compactMap { core.live[$0]?.identifier ?? core.claims[$0]?.entry.identifier })
    guard !struck.isEmpty else {
      launcher.start(orders)
      return announce(orders)
    }
    let sound = orders.filter { !struck.contains($0.contract.identifier) }
    if !sound.isEmpty { launcher.start(sound) }
    announce(sound)
    for order in orders where struck.contains(order.contract.identifier) { scheduler.send(.input(.withdrawn(order.run))) }
  }

  private func announce(_ orders: [RunOrder]) {
    guard !core.policy.announced.isEmpty else { return }
    for order in orders where core.policy.announced.contains(order.contract.identifier) {
      observe(.began(RunReference(run: order.run, request: order.request, identifier: order.contract.identifier)))
    }
  }

  // MARK: Plans

  private func prepare(_ next: Scheduler.Adoption) {
    guard adoption == nil else {
      return next.completion(.failure(RequestRefusal(.conflict, "another plan is on its way into force")))
    }
    adoption = next
    engine.prepareAdoption()
  }

  /// Puts the plan in force once everything that was handed out ahead is back.
  private func adoptIfReady() {
    guard let adoption else { return }
    guard !core.isDraining else { return refuse(adoption, RequestRefusal(.unavailable, "the host is draining")) }
    if let trouble = core.storeTrouble { return refuse(adoption, RequestRefusal(trouble)) }
    guard engine.isReadyToAdopt else { return }
    let (result, turn): (Result<AdoptedPlan, RequestRefusal>, EngineTurn)
    do {
      (result, turn) = try engine.adopt(
        adoption.plan, isRehearsal: adoption.isRehearsal, now: clock.wallTime, at: clock.monotonicTime)
    } catch {
      failed(error)
      return refuse(adoption, RequestRefusal(error.error))
    }
    self.adoption = nil
    if case .success = result, !adoption.isRehearsal {
      launcher = adoption.plan.adopted() ?? launcher
    }
    noteSize(of: turn)
    carryOut(turn)
    adoption.completion(result)
  }

  private func refuse(_ adoption: Scheduler.Adoption, _ refusal: RequestRefusal) {
    self.adoption = nil
    engine.abandonAdoption()
    adoption.completion(.failure(refusal))
  }

  // MARK: Conditions

  private func tellAwaited() {
    let awaited = core.awaitedConditions(now: clock.wallTime)
    guard awaited != awaitedConditions else { return }
    awaitedConditions = awaited
    observe(.conditionsAwaited(awaited))
  }

  private func tellWake() {
    let wake = core.nextWake(now: clock.wallTime)
    guard wake != awaitedWake else { return }
    awaitedWake = wake
    observe(.wakeAwaited(wake))
  }

  /// Handles changed conditions: expires the runs that require a lost condition. The turn that follows starts the runs that may begin now.
  private func take(_ report: ConditionReport) {
    for event in HostEvents.regained(from: core.conditions, to: report) where core.mayAwait(event) {
      scheduler.raise(event)
    }
    let gained = report.held.subtracting(core.conditions?.held ?? [])
    core.conditions = report
    if !gained.isDisjoint(with: core.fleetAwaits.conditions) { core.fleetAwaits.gained() }
    let lost = core.runsThatLost(report)
    if !lost.isEmpty { Failpoint.conditionLost.hit() }
    for run in lost { launcher.expire(run, reason: .conditions) }
  }

  // MARK: Runs handed out ahead of their time

  private struct HeldRun {
    /// ``due`` on the clock of waits, as exactly as the clocks were read: equal times may differ by nanoseconds.
    let begin: MonotonicTime
    let due: WallTime
    let rank: Int64
    let order: RunOrder
  }

  /// Begins the held runs whose time has come. Returns inputs that give back those that something holds back now.
  private func beginHeld() -> [EngineInput] {
    let (now, wallTime) = (clock.monotonicTime, clock.wallTime)
    var orders: [RunOrder] = []
    var late: [EngineInput] = []
    var early = now < earlyUntil ? 0 : Self.mostEarly
    while let next = held.last, next.begin <= (early > 0 ? now + Self.earliness : now) {
      var order = held.removeLast().order
      guard core.beginHeld(order.run, now: wallTime) else {
        late.append(.withdrawn(order.run))
        continue
      }
      if next.begin > now {
        order.notBefore = next.begin
        earlyUntil = max(earlyUntil, next.begin)
        early -= 1
      }
      orders.append(order)
    }
    guard !orders.isEmpty else { return late }
    Failpoint.heldRunDue.hit()
    begin(orders)
    return late
  }

  // MARK: Store failures

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

extension HostEvent {
  /// Whether it tells that a run has ended, or what its request is then.
  fileprivate var tellsEnd: Bool {
    switch self {
    case .run(let run): run.outcome != nil
    case .request(let record): record.state != .running && record.state != .claimed
    case .progress, .work, .log, .assertion: false
    }
  }
}
