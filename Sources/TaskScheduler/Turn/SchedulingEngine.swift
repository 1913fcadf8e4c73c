import Failpoints
import TaskModel

/// Runs the scheduler's turns: takes the inputs, decides, commits, and returns the effects.
///
/// It is the only implementation of a turn: the scheduler's thread, forecasts, the test kit and the proofs use it. It has no thread and no
/// clock.
final class SchedulingEngine {
  let core: SchedulerCore
  private let store: any RequestStore
  /// Inputs that a failed commit did not record and that nobody sends again: they come first in the next turn.
  private(set) var unrecorded: [EngineInput] = []
  private var parked: [ParkedWrite] = []
  /// Whether a plan waits for all requests that are handed out ahead: until then, nothing more is.
  private(set) var awaitsAdoption = false

  /// The maximum number of ended runs to read when restoring rates and quotas.
  private static let historyForLimits = 20_000

  /// Creates an engine for `core`, on the store for which `core` was made.
  init(_ core: SchedulerCore, store: any RequestStore) {
    self.core = core
    self.store = store
  }

  // MARK: The first turn

  /// The result of the first turn.
  struct Opening {
    /// The number of runs lost with the previous host process, without those that crashed it.
    let lost: Int
    /// The launch submissions that were refused.
    let refused: [(TaskRequest, RequestRefusal)]
    let turn: EngineTurn
  }

  /// Seals the registry and settles what the previous host process left behind; see
  /// ``Scheduler/start(_:contracts:awaitingApproval:schedules:changes:rejection:completions:crashed:begun:moved:clocks:observe:)``. Starts nothing. If it throws, discard the engine.
  func open(
    _ contracts: [HandlerContract], schedules: [ScheduleName: ScheduledRequest], changes: [PluginLaunchChange] = [],
    crashed: [RunID: String] = [:], begun: Set<RunID> = [], moved: [RequestID: RequestID] = [:], clocks: ClockReference? = nil,
    now: WallTime, at moment: MonotonicTime
  ) throws(StoreError) -> Opening {
    core.register(contracts)
    core.awakeSince = now
    core.notices = try core.noticeBook(core.policy.notices, store)
    core.beginTurn(at: moment)
    core.turn.changedWatches = true
    var refused: [(TaskRequest, RequestRefusal)] = []
    let lost = try store.commit { transaction in
      let hasBooted = try clocks.map { clocks in
        let known = try transaction.clockReference()
        try core.clockChanged(clocks, slept: true, transaction, now: now)
        return known?.boot != clocks.boot
      }
      let lost = try core.recover(transaction, crashed: crashed, begun: begun, now: now)
      try core.findAwaitedRetries(transaction, now: now)
      try core.letGo(of: moved, transaction, now: now)
      try core.reconcile(schedules, transaction, now: now)
      Failpoint.scheduleReconciled.hit()
      refused = try carryOut(changes, transaction, now: now)
      core.raise(HostEvents.launched)
      if hasBooted == true { core.raise(HostEvents.booted) }
      var waiting: [ParkedWrite] = []
      try deliverRaised(&waiting, transaction, now: now)
      try core.tellNotices(transaction, now: now)
      try core.findWatches(transaction)
      return lost
    }
    let turn = core.committed(now: now)
    Failpoint.booksOpened.hit()
    if core.limits.needsHistory {
      var query = RunQuery()
      query.limit = Self.historyForLimits
      core.limits.restore(try store.runs(query), now: now) { [store] run in (try? store.request(run.request))?.request.gates.concurrencyKey
      }
    }
    return Opening(lost: lost, refused: refused, turn: turn)
  }

  /// Carries out what plugins asked for while they launched.
  ///
  /// - Returns: The refused submissions.
  private func carryOut(
    _ changes: [PluginLaunchChange], _ transaction: any StoreTransaction, now: WallTime
  ) throws -> [(TaskRequest, RequestRefusal)] {
    var refused: [(TaskRequest, RequestRefusal)] = []
    for change in changes {
      switch change.change {
      case .submit(let request):
        do {
          try attempt(transaction) {
            if change.isForFleet { return try core.park(request, launching: change.plugin, transaction, now: now) }
            _ = try core.submit(request, by: .plugin(change.plugin), transaction, now: now)
          }
        } catch let refusal as RequestRefusal { refused.append((request, refusal)) }
      case .cancel(let identifiers): _ = try core.cancelPending(of: identifiers, transaction, now: now)
      }
    }
    return refused
  }

  // MARK: Plans

  /// Takes back what is handed out ahead, in the next turns, and hands out nothing more until ``adopt(_:isRehearsal:now:at:)``.
  func prepareAdoption() { awaitsAdoption = true }

  /// Whether ``adopt(_:isRehearsal:now:at:)`` may be called.
  var isReadyToAdopt: Bool { awaitsAdoption && core.claims.isEmpty }

  /// The plan is not put in force.
  func abandonAdoption() {
    awaitsAdoption = false
    if parked.isEmpty { core.changesAreMade() }
  }

  /// Puts a plan in force, in a turn of its own: if that is refused or fails, everything is as before. Starts nothing.
  ///
  /// - Parameter isRehearsal: Whether it is undone once it has worked.
  func adopt(
    _ plan: SchedulingPlan, isRehearsal: Bool, now: WallTime, at moment: MonotonicTime
  ) throws(FailedTurn) -> (result: Result<AdoptedPlan, RequestRefusal>, turn: EngineTurn) {
    defer { abandonAdoption() }
    core.beginTurn(at: moment)
    let before = core.inForce
    var result = Result<AdoptedPlan, RequestRefusal>.success(AdoptedPlan())
    do {
      let next = try prepared(plan, now: now)
      try store.commit { transaction in
        try core.surrenderForsaken(transaction)
        try core.recordBegins(transaction)
        do {
          let refused = try attempt(transaction) {
            try core.adopt(next, transaction, now: now)
            let refused = try carryOut(plan.changes, transaction, now: now)
            if isRehearsal { throw Rehearsed() }
            return refused
          }
          result = .success(AdoptedPlan(refused: refused))
        } catch is Rehearsed {
          core.inForce = before
        } catch {
          guard let refusal = Self.refusal(for: error) else { throw error }
          core.inForce = before
          result = .failure(refusal)
        }
        var waiting: [ParkedWrite] = []
        try deliverRaised(&waiting, transaction, now: now)
        try core.tellNotices(transaction, now: now)
        try core.findWatches(transaction)
      }
    } catch {
      let failure = undo([], error, now: now)
      core.inForce = before
      core.forgetAll()
      throw failure
    }
    return (result, core.committed(now: now))
  }

  /// The plan with what the store knows of runs and notifications under its rules.
  private func prepared(_ plan: SchedulingPlan, now: WallTime) throws(StoreError) -> PreparedPlan {
    var next = PreparedPlan(plan: plan, limits: core.limits, notices: core.notices)
    if !LimitTracker.areEqual(plan.policy, core.policy) {
      var query = RunQuery()
      query.limit = Self.historyForLimits
      let history = LimitTracker(plan.policy).needsHistory ? try store.runs(query) : []
      next.limits = LimitTracker(plan.policy, after: core.limits, live: core.live.values, history: history, now: now) { [store] run in
        (try? store.request(run.request))?.request.gates.concurrencyKey
      }
    }
    if plan.policy.notices != core.policy.notices {
      next.notices = try core.noticeBook(plan.policy.notices, store)
      if let before = core.notices { next.notices?.takeOver(failuresOf: before) }
    }
    return next
  }

  // MARK: Turns

  /// Whether a turn has work without any input.
  func hasWork(now: WallTime) -> Bool {
    (core.storeTrouble == nil && (!unrecorded.isEmpty || mustAskBack)) || core.mayDispatch(now: now) || core.hasDuty(now: now)
  }

  private var mustAskBack: Bool { awaitsAdoption && core.claims.values.contains { !$0.isAskedBack } }

  /// Runs one turn: records all inputs and starts the runs that can start, in one commit.
  ///
  /// - Parameter moment: The same time on the monotonic clock, which budgets and waits use.
  /// - Returns: The effects to carry out; the commit is durable.
  func turn(_ arrived: [EngineInput], now: WallTime, at moment: MonotonicTime) throws(FailedTurn) -> EngineTurn {
    core.beginTurn(at: moment)
    var waiting: [ParkedWrite] = []
    do {
      try store.commit { transaction in
        waiting = parked
        try core.surrenderForsaken(transaction)
        for input in unrecorded { try take(input, &waiting, transaction, now: now) }
        for input in arrived { try take(input, &waiting, transaction, now: now) }
        try performParked(&waiting, transaction, now: now)
        try deliverRaised(&waiting, transaction, now: now)
        try core.recordBegins(transaction, before: now + (.zero - HandlerState.patience))
        try core.endPauses(transaction, now: now)
        try core.tellNotices(transaction, now: now)
        if awaitsAdoption { try core.takeBack(of: nil, forChange: true, transaction, now: now) }
        // Before dispatch: a retry is for any host of the fleet.
        try core.surrenderSettled(transaction)
        try core.dispatch(transaction, now: now)
        try core.surrenderSettled(transaction)
        try core.takeBackWhereDue(transaction, now: now)
        if !core.turn.incidents.isEmpty { try core.tellNotices(transaction, now: now) }
        try core.findWatches(transaction)
      }
    } catch {
      throw undo(arrived, error, now: now)
    }
    unrecorded.removeAll()
    parked = waiting
    core.storeTrouble = nil
    core.storeTroubleSince = nil
    return core.committed(now: now)
  }

  private func take(
    _ input: EngineInput, _ waiting: inout [ParkedWrite], _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    switch input {
    case .ended(let run, let ending, let report):
      // Only the request's current run counts.
      do { try core.end(run, ending, report, transaction, now: now) } catch StoreError.fenced { return core.abandon(run, now: now) }
      if case .returned(_, _?) = ending { core.noteExpired(run) }
    case .began(let run, let time): try core.hearBegin(run, at: time, transaction)
    case .withdrawn(let run):
      do { try core.release(run, transaction, now: now) } catch StoreError.fenced { core.abandon(run, now: now) }
    case .raised(let event): core.raise(event)
    case .write(let write): try perform(ParkedWrite(write: write, identifier: nil), &waiting, transaction, now: now)
    }
  }

  private func perform(_ parked: ParkedWrite, _ waiting: inout [ParkedWrite], _ transaction: any StoreTransaction, now: WallTime) throws {
    // A change must see all begins recorded, because a run that has begun may make it.
    try core.recordBegins(transaction)
    let write = parked.write
    do {
      core.turn.answers.append(try write.isRehearsal ? rehearse(write, transaction, now: now) : make(write, transaction, now: now))
    } catch let ahead as ClaimedAhead {
      try park(write, for: ahead.identifier, isOwed: parked.isOwed, &waiting, transaction, now: now)
    } catch {
      guard let refusal = Self.refusal(for: error) else { throw error }
      refuse(write, refusal)
    }
  }

  /// Why a change was refused; nil if the store has failed.
  private static func refusal(for error: any Error) -> RequestRefusal? {
    switch error {
    case let refusal as RequestRefusal: refusal
    case let error as StoreError where error == .fenced || error.isLimit: RequestRefusal(error)
    case let error as IllegalTransition: RequestRefusal(.conflict, "\(error)")
    default: nil
    }
  }

  /// Lets a change wait for the identifier's requests that are handed out ahead (nil: for all), and takes these back.
  private func park(
    _ write: Write, for identifier: TaskIdentifier?, isOwed: Bool, _ waiting: inout [ParkedWrite], _ transaction: any StoreTransaction,
    now: WallTime
  ) throws {
    try core.takeBack(of: identifier, forChange: true, transaction, now: now)
    waiting.append(ParkedWrite(write: write, identifier: identifier, isOwed: isOwed))
  }

  /// Delivers the events that the host raised in this turn. Those for requests that are handed out ahead wait until these are back.
  private func deliverRaised(_ waiting: inout [ParkedWrite], _ transaction: any StoreTransaction, now: WallTime) throws {
    while !core.turn.raised.isEmpty {
      // A request whose run has begun wants another run.
      try core.recordBegins(transaction)
      try core.findWatches(transaction)
      let raised = core.turn.raised
      core.turn.raised = []
      for event in raised where core.awaitedHostEvents.contains(event) {
        for record in try core.deliver(event, transaction, now: now) {
          let wake = Write({ (_: Result<EventReceipt, RequestRefusal>) in }) { [id = record.id] core, transaction, now in
            try core.wake([id], by: event, payload: nil, transaction, now: now)
          }
          try park(wake, for: record.request.identifier, isOwed: true, &waiting, transaction, now: now)
        }
      }
      try performParked(&waiting, transaction, now: now)
    }
  }

  /// Makes one change. If it fails, the savepoint undoes its writes, and this undoes its changes in memory.
  private func attempt<Value>(_ transaction: any StoreTransaction, _ change: () throws -> Value) throws -> Value {
    let before = core.turn.setMark()
    do { return try transaction.savepoint(change) } catch {
      core.takeBack(to: before)
      throw error
    }
  }

  private func make(_ write: Write, _ transaction: any StoreTransaction, now: WallTime) throws -> () -> Void {
    try attempt(transaction) { try write.perform(core, transaction, now) }
  }

  /// A rehearsal has worked: nothing of it is kept.
  private struct Rehearsed: Error {}

  /// Makes a change and undoes it.
  private func rehearse(_ write: Write, _ transaction: any StoreTransaction, now: WallTime) throws -> () -> Void {
    var answer: () -> Void = {}
    do {
      try attempt(transaction) {
        answer = try write.perform(core, transaction, now)
        throw Rehearsed()
      }
    } catch is Rehearsed {}
    return answer
  }

  private func refuse(_ write: Write, _ refusal: RequestRefusal) {
    Failpoint.submissionRefused.hit()
    core.turn.answers.append { [fail = write.fail] in fail(refusal) }
  }

  /// Makes the parked changes whose requests are back, before any of these is handed out again.
  private func performParked(_ waiting: inout [ParkedWrite], _ transaction: any StoreTransaction, now: WallTime) throws {
    while let position = waiting.firstIndex(where: { !core.awaits($0.identifier) }) {
      let parked = waiting.remove(at: position)
      try perform(parked, &waiting, transaction, now: now)
    }
    if waiting.isEmpty, !awaitsAdoption { core.changesAreMade() }
  }

  // MARK: Store failures

  /// Lets the next turn try the store again: runs may start, and unrecorded inputs count as work.
  func retryStore() { core.storeTrouble = nil }

  /// Refuses the changes that wait for requests to come back, except those that a turn owes.
  func refuseParked(_ refusal: RequestRefusal) {
    for parked in parked where !parked.isOwed { parked.write.fail(refusal) }
    parked.removeAll { !$0.isOwed }
  }

  /// Undoes the turn: refuses its changes, and keeps its outcomes until they can be recorded.
  private func undo(_ arrived: [EngineInput], _ error: StoreError, now: WallTime) -> FailedTurn {
    core.undoTurn(now: now)
    core.storeTrouble = error
    core.storeTroubleSince = core.storeTroubleSince ?? now
    refuseParked(RequestRefusal(error))
    if !awaitsAdoption { core.changesAreMade() }
    for input in arrived {
      switch input {
      case .write(let write): write.fail(RequestRefusal(error))
      case .raised(let event): if !owes(event) { unrecorded.append(input) }
      case .ended, .began, .withdrawn: unrecorded.append(input)
      }
    }
    return FailedTurn(error: error, withdrawals: core.askAllBack())
  }

  /// Whether the next turn raises the event anyway: however often a condition changes while the store fails, that is one event.
  private func owes(_ event: String) -> Bool {
    unrecorded.contains { if case .raised(let known) = $0 { known == event } else { false } }
  }
}

extension StoreError {
  fileprivate var isLimit: Bool {
    if case .limit = self { true } else { false }
  }
}
