import TaskModel

/// What a reload replaces: the operator's rules, and what is remembered of handlers under them. The objects in it are replaced, not changed, so
/// that a failed commit can put the old ones back.
struct InForce {
  fileprivate let policy: SchedulingPolicy
  fileprivate let handlers, leaving: [TaskIdentifier: HandlerState]
  fileprivate let agenda: Agenda
  fileprivate let occupiedSlots: Int
  fileprivate let hasFairness: Bool
  fileprivate let windows: WindowBook
  fileprivate let limits: LimitTracker
  fileprivate let notices: NoticeBook?
  fileprivate let objectives: [TaskIdentifier: ObjectiveState]
  fileprivate let rejection: @Sendable ([UInt8], TaskIdentifier) -> String?
  fileprivate let completions: CompletionRule?
}

extension SchedulerCore {
  var inForce: InForce {
    get {
      InForce(
        policy: policy, handlers: handlers, leaving: leaving, agenda: agenda, occupiedSlots: occupiedSlots, hasFairness: hasFairness,
        windows: windows, limits: limits, notices: notices, objectives: objectives, rejection: rejection, completions: completions)
    }
    set {
      (policy, windows, limits) = (newValue.policy, newValue.windows, newValue.limits)
      (notices, objectives) = (newValue.notices, newValue.objectives)
      (handlers, leaving, agenda) = (newValue.handlers, newValue.leaving, newValue.agenda)
      (occupiedSlots, hasFairness) = (newValue.occupiedSlots, newValue.hasFairness)
      (rejection, completions) = (newValue.rejection, newValue.completions)
    }
  }

  /// Puts a plan in force: nothing is handed out ahead now. If it throws, ``inForce`` is to be set to what it was.
  func adopt(_ next: PreparedPlan, _ transaction: any StoreTransaction, now: WallTime) throws {
    let (plan, before) = (next.plan, inForce)
    turn.changes += 1
    policy = plan.policy
    (rejection, completions) = (plan.rejection, plan.completions)
    (limits, notices) = (next.limits, next.notices)
    windows = WindowBook(policy.windows)
    replaceHandlers(plan.contracts)
    try findLanes(transaction)
    try loadObjectives(transaction, now: now)
    // One that expects the same goes on, so that what is known to be late is not found once more.
    for (identifier, known) in before.objectives {
      guard let state = objectives[identifier], (state.expectWithin, state.startWithin) == (known.expectWithin, known.startWithin) else {
        continue
      }
      objectives[identifier] = known
    }
    try reconcile(plan.schedules, transaction, now: now)
    (awaited, nextDeadline, conditionsChanged) = (nil, .unknown, true)
    turn.changedWatches = true
  }

  /// Makes the state of each handler anew, in an agenda of their own.
  private func replaceHandlers(_ contracts: [HandlerContract]) {
    let known = handlers.merging(leaving) { present, _ in present }
    let running = Dictionary(live.values.map { ($0.identifier, 1) }, uniquingKeysWith: +)
    (agenda, handlers, leaving, occupiedSlots, hasFairness) = (Agenda(), [:], [:], 0, false)
    func make(_ contract: HandlerContract, _ fairBy: FairBy?) -> HandlerState {
      let (identifier, before) = (contract.identifier, known[contract.identifier])
      let handler = HandlerState(
        contract: contract, agenda: agenda, fairBy: fairBy, after: before, running: running[identifier] ?? 0)
      (handler.pausedUntil, handler.heldUntil, handler.keepsHere) = (pauses.shut(identifier), heldUntil(identifier), keepsAny)
      occupiedSlots += handler.occupiedSlots
      return handler
    }
    for contract in contracts {
      let fairBy = policy.limits(of: contract.identifier).fairBy
      if fairBy != nil { hasFairness = true }
      handlers[contract.identifier] = make(contract, fairBy)
    }
    for identifier in running.keys where handlers[identifier] == nil {
      if let before = known[identifier] { leaving[identifier] = make(before.contract, before.fairBy) }
    }
  }
}
