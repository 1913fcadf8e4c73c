import TaskModel

extension SchedulerCore {
  /// Starts what is due and has a free slot: each becomes a run that is recorded as started and an order for the launcher.
  ///
  /// What falls due within `claimAhead` is recorded now too, so that it can begin at its time without waiting for a commit; its order is
  /// held until then. And a handler whose runs are shorter than a commit is given some ahead, see ``HandlerState/slotsAhead``.
  func dispatch(_ transaction: any StoreTransaction, now: WallTime) throws {
    guard mayStart else { return }
    var offers: [(handler: HandlerState, offer: DueRequest)] = []
    for handler in handlers.values {
      try learnNextDue(handler, transaction)
      guard isReady(handler, now: now) else { continue }
      let limit = handler.freeSlots > freeHostSlots ? freeHostSlots : handler.freeSlots + handler.slotsAhead
      let due = try transaction.due(of: handler.contract.identifier, by: horizon(of: handler, now: now), limit: limit)
      // All that is due is on offer: what comes next is due later. Otherwise more is due now.
      if due.count < limit || due.isEmpty { handler.nextDue = .unknown }
      offers += due.map { (handler, $0) }
    }
    if offers.count > freeHostSlots { offers.sort { ($0.offer.rank, $0.offer.id) < ($1.offer.rank, $1.offer.id) } }
    for (handler, offer) in offers where handler.freeSlots > 0 ? freeHostSlots > 0 : handler.slotsAhead > 0 && offer.due <= now {
      try start(offer, handler, transaction, now: now)
    }
    for handler in handlers.values { try learnNextDue(handler, transaction) }
  }

  /// Whether ``dispatch(_:now:)`` might find something.
  func mayDispatch(now: WallTime) -> Bool { mayStart && handlers.values.contains { isReady($0, now: now) } }

  /// When ``dispatch(_:now:)`` has something to do next; nil: only an event can change that.
  var nextStart: WallTime? {
    guard mayStart else { return nil }
    var next: WallTime?
    for handler in handlers.values where handler.freeSlots > 0 ? freeHostSlots > 0 : handler.slotsAhead > 0 {
      // Of a handler that is held back it may not be known yet: then it is looked at when that is over.
      guard let due = handler.nextDue.earliest, handler.heldUntil != .distantFuture else { continue }
      var time = handler.freeSlots > 0 ? due + (.zero - policy.claimAhead) : due
      if let heldUntil = handler.heldUntil { time = max(time, heldUntil) }
      next = min(next ?? time, time)
    }
    return next
  }

  private var mayStart: Bool { !isDraining && storeTrouble == nil }

  private var freeHostSlots: Int { policy.maxConcurrentRuns - occupiedSlots }

  private func isReady(_ handler: HandlerState, now: WallTime) -> Bool {
    (handler.freeSlots > 0 ? freeHostSlots > 0 : handler.slotsAhead > 0) && !handler.isHeld(at: now)
      && handler.isDue(by: horizon(of: handler, now: now))
  }

  /// Until when a request may be due to be started now: only a free slot is taken ahead of time.
  private func horizon(of handler: HandlerState, now: WallTime) -> WallTime { handler.freeSlots > 0 ? now + policy.claimAhead : now }

  private func learnNextDue(_ handler: HandlerState, _ transaction: any StoreTransaction) throws {
    guard case .unknown = handler.nextDue else { return }
    handler.nextDue = try transaction.nextDue(of: handler.contract.identifier).map { .at($0) } ?? .never
  }

  private func start(_ offer: DueRequest, _ handler: HandlerState, _ transaction: any StoreTransaction, now: WallTime) throws {
    let run: RunID = nextID(now)
    let began = max(now, offer.due)
    var attemptsSpent = offer.attemptsSpent
    if offer.isRepeating { attemptsSpent = try settleOccurrence(offer.id, transaction, now: began) }
    try transaction.start(offer.id, run: run, at: began)
    let entry = LiveRunEntry(
      run: run, request: offer.id, identifier: handler.contract.identifier, attempt: attemptsSpent + 1, started: began,
      isRepeating: offer.isRepeating)
    live[run] = entry
    slotTaken(entry.identifier)
    turn.started.append(entry)
    let order = RunOrder(
      run: run, request: offer.id, contract: handler.contract, attempt: entry.attempt, payload: try transaction.payload(of: offer.id))
    if offer.due > now { turn.held.append(HeldOrder(order: order, due: offer.due)) } else { turn.orders.append(order) }
    if isObserved, let record = try transaction.request(offer.id) { note(record) }
    note(entry.record)
  }

  /// An occurrence that has fallen due supersedes a pending retry of the one before, and the latest of those that were missed stands for
  /// all. Returns the attempts spent on the occurrence that starts.
  private func settleOccurrence(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> Int {
    guard var record = try transaction.request(id), let rule = record.request.repetition, let occurrence = record.occurrence else {
      return 0
    }
    let next = rule.next(after: occurrence, now: now)
    let latest = WallTime(unixMilliseconds: next.unixMilliseconds - rule.interval.wholeMilliseconds)
    let isSuperseding = latest > occurrence && next > occurrence
    // A run that was launched early spent attempts before its occurrence had begun.
    let wasEarly = record.attemptsSpent > 0 && occurrence <= now && record.started.map { $0 < occurrence } ?? false
    guard isSuperseding || wasEarly else { return record.attemptsSpent }
    if isSuperseding { record.occurrence = latest }
    record.attemptsSpent = 0
    try transaction.update(record)
    return 0
  }
}

extension HandlerState {
  /// Whether a pending request may be due by `now`.
  func isDue(by now: WallTime) -> Bool {
    switch nextDue {
    case .unknown: true
    case .never: false
    case .at(let time): time <= now
    }
  }
}
