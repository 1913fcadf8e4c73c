import TaskModel

extension SchedulerCore {
  /// Starts what is due and has a free slot: each becomes a run that is recorded as started and an order for the launcher.
  func dispatch(_ transaction: any StoreTransaction, now: WallTime) throws {
    var free = freeHostSlots
    guard free > 0 else { return }
    var offers: [(handler: HandlerState, offer: DueRequest)] = []
    for handler in try dueHandlers(transaction, now: now) {
      let limit = min(free, handler.freeSlots)
      let due = try transaction.due(of: handler.contract.identifier, by: now, limit: limit)
      // All that is due is on offer: what comes next is due later. Otherwise more is due now.
      if due.count < limit || due.isEmpty { handler.nextDue = .unknown }
      offers += due.map { (handler, $0) }
    }
    if offers.count > free { offers.sort { ($0.offer.rank, $0.offer.id) < ($1.offer.rank, $1.offer.id) } }
    for (handler, offer) in offers.prefix(free) {
      try start(offer, handler, transaction, now: now)
      free -= 1
    }
    for handler in handlers.values { try learnNextDue(handler, transaction) }
  }

  /// Whether ``dispatch(_:now:)`` might find something.
  func mayDispatch(now: WallTime) -> Bool {
    guard freeHostSlots > 0 else { return false }
    return handlers.values.contains { $0.freeSlots > 0 && $0.isDue(by: now) }
  }

  /// When the next request is due that could be started then; nil: only an event can change that.
  var nextStart: WallTime? {
    guard freeHostSlots > 0 else { return nil }
    var next: WallTime?
    for handler in handlers.values where handler.freeSlots > 0 {
      guard case .at(let time) = handler.nextDue else { continue }
      next = min(next ?? time, time)
    }
    return next
  }

  private var freeHostSlots: Int { isDraining || storeTrouble != nil ? 0 : policy.maxConcurrentRuns - live.count }

  private func dueHandlers(_ transaction: any StoreTransaction, now: WallTime) throws -> [HandlerState] {
    var due: [HandlerState] = []
    for handler in handlers.values where handler.freeSlots > 0 {
      try learnNextDue(handler, transaction)
      if handler.isDue(by: now) { due.append(handler) }
    }
    return due
  }

  private func learnNextDue(_ handler: HandlerState, _ transaction: any StoreTransaction) throws {
    guard case .unknown = handler.nextDue else { return }
    handler.nextDue = try transaction.nextDue(of: handler.contract.identifier).map { .at($0) } ?? .never
  }

  private func start(_ offer: DueRequest, _ handler: HandlerState, _ transaction: any StoreTransaction, now: WallTime) throws {
    let run: RunID = nextID(now)
    var attemptsSpent = offer.attemptsSpent
    if offer.isRepeating { attemptsSpent = try settleOccurrence(offer.id, transaction, now: now) }
    try transaction.start(offer.id, run: run, at: now)
    let entry = LiveRunEntry(
      run: run, request: offer.id, identifier: handler.contract.identifier, attempt: attemptsSpent + 1, started: now,
      isRepeating: offer.isRepeating)
    live[run] = entry
    handler.running += 1
    turn.started.append(entry)
    turn.orders.append(
      RunOrder(run: run, request: offer.id, contract: handler.contract, attempt: entry.attempt, payload: try transaction.payload(of: offer.id)))
    if isObserved, let record = try transaction.request(offer.id) { note(record) }
    note(entry.record)
  }

  /// An occurrence that has fallen due supersedes a pending retry of the one before, and the latest of those that were missed stands for
  /// all. Returns the attempts spent on the occurrence that starts.
  private func settleOccurrence(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> Int {
    guard var record = try transaction.request(id), let rule = record.request.repetition, let occurrence = record.occurrence else { return 0 }
    let next = rule.next(after: occurrence, now: now)
    let latest = WallTime(unixMilliseconds: next.unixMilliseconds - rule.interval.wholeMilliseconds)
    guard latest > occurrence, next > occurrence else { return record.attemptsSpent }
    record.occurrence = latest
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
