import TaskModel

extension SchedulerCore {
  /// Starts due requests while slots are free: each becomes a run that is recorded as started, and an order for the launcher.
  ///
  /// Requests that fall due within `claimAhead` are claimed now, so that they begin on time without waiting for a commit; their orders are
  /// held until then. A handler whose runs are shorter than a commit gets some runs ahead, see ``HandlerState/slotsAhead``.
  func dispatch(_ transaction: any StoreTransaction, now: WallTime) throws {
    guard mayStart else { return }
    try relaxPastDeadlines(transaction, now: now)
    // A skipped occurrence may have taken another request's place: look again.
    while try startDue(transaction, now: now) {}
    for lane in agenda.lanes(dueBy: now) { if let handler = lane.handler { try learnNextDue(lane, of: handler, transaction) } }
  }

  /// - Returns: Whether a due request was not started because its missed occurrence is skipped, or other tenants were not asked.
  private func startDue(_ transaction: any StoreTransaction, now: WallTime) throws -> Bool {
    var hasPutOff = false
    var offers: [(handler: HandlerState, lane: LaneState, offer: DueRequest)] = []
    var open: [LaneState] = []
    for lane in agenda.lanes(dueBy: now + policy.claimAhead) {
      guard let handler = lane.handler else { continue }
      try learnNextDue(lane, of: handler, transaction)
      if lane.nextDue.isDue(by: horizon(of: handler, now: now)), isOpen(lane, of: handler, now: now) { open.append(lane) }
    }
    let asked = lanesToAsk(open)
    for lane in asked {
      guard let handler = lane.handler else { continue }
      let horizon = horizon(of: handler, now: now)
      let room = room(of: handler)
      let limit = pauses.looksAtRequests ? max(room, Self.lookedAtTogether) : room
      noteQuestion()
      let due = try transaction.due(in: Lane(handler.contract.identifier, lane.gates), by: horizon, limit: limit)
      // If everything due is on offer, the next request is due later. Otherwise more is due now.
      if due.count < limit || due.isEmpty { lane.nextDue = .unknown }
      // A lane that was asked instead of others had nothing: it is their turn.
      if due.isEmpty, asked.count < open.count { hasPutOff = true }
      offers += due.map { (handler, lane, $0) }
    }
    if offers.count > 1 { offers.sort { ($0.offer.rank, $0.offer.id) < ($1.offer.rank, $1.offer.id) } }
    orderFairly(&offers) { $0.lane }
    for (handler, _, offer) in offers
    where offer.rank < handler.worstRank && handler.queued > 0 && handler.askedBack == 0 && offer.due <= now {
      try giveWay(to: offer.rank, handler, transaction, now: now)
    }
    for (handler, lane, offer) in offers where mayTake(offer, handler, lane, now: now) {
      if pauses.looksAtRequests {
        guard turn.setAside < Self.setAsideAtOnce else {
          // The next turn goes on with the rest.
          for (_, lane, _) in offers { lane.nextDue = .unknown }
          return false
        }
        if try setAside(offer, handler, transaction, now: now) {
          hasPutOff = true
          lane.nextDue = .unknown
          continue
        }
      }
      // An objective needs to know exactly what waits: after this run, another request is the first.
      if hasStartObjective(handler) { lane.nextDue = .unknown }
      guard try !start(offer, handler, lane, transaction, now: now) else { continue }
      hasPutOff = true
      lane.nextDue = .unknown
    }
    return hasPutOff
  }

  /// How many more runs a handler may get now, with those ahead.
  func room(of handler: HandlerState) -> Int {
    handler.freeSlots > freeHostSlots ? freeHostSlots : handler.freeSlots + handler.slotsAhead
  }

  /// Whether a slot is left for the offer and its lane is still open: runs that began before it may have closed the lane.
  private func mayTake(_ offer: DueRequest, _ handler: HandlerState, _ lane: LaneState, now: WallTime) -> Bool {
    let hasRoom = handler.freeSlots > 0 ? freeHostSlots > 0 : slotsAhead(lane, handler) > 0
    guard hasRoom, permits != 0, offer.due <= now || takesSoon(handler) else {
      // The request is still in the store, and due.
      lane.nextDue = .unknown
      return false
    }
    guard isOpen(lane, of: handler, now: now) else {
      lane.nextDue = .unknown
      return false
    }
    return true
  }

  /// Whether ``dispatch(_:now:)`` might find a request that needs its own wake-up.
  func mayDispatch(now: WallTime) -> Bool {
    guard mayStart else { return false }
    if nextDeadline.isDue(by: now) { return true }
    return agenda.lanes(dueBy: now + policy.claimAhead).contains { lane in
      guard let handler = lane.handler, let wakeTime = lane.wakeTime, wakeTime <= horizon(of: handler, now: now) else { return false }
      return isOpen(lane, of: handler, now: now)
    }
  }

  /// When ``dispatch(_:now:)`` next has work; nil if only an event can change that.
  func nextTurn(now: WallTime) -> WallTime? {
    let duty = storeTrouble == nil ? nextDuty(now: now) : nil
    return [mayStart ? nextDeadline.earliest : nil, nextStart(now: now), duty].compactMap { $0 }.min()
  }

  /// When the next request may start; nil if only an event can bring one.
  func nextStart(now: WallTime) -> WallTime? {
    guard mayStart else { return nil }
    var next: WallTime?
    func look(at lane: LaneState) {
      guard let start = start(of: lane, before: next ?? .distantFuture, now: now) else { return }
      next = min(next ?? .distantFuture, start)
    }
    for lane in agenda.lanes(dueBy: now + policy.claimAhead) { look(at: lane) }
    // No lane starts earlier than its time, less what it is claimed ahead; later lanes cannot come before `next`.
    agenda.visitWaiting { lane in
      if let next, let time = lane.nextDue.earliest, time + (.zero - policy.claimAhead) >= next { return false }
      look(at: lane)
      return true
    }
    return next
  }

  /// When the machine must be awake for a request that wakes it; nil if there is none, or if only an event can let one run.
  func nextWake(now: WallTime) -> WallTime? {
    guard hasWaking, mayStart else { return nil }
    var next: WallTime?
    func look(at lane: LaneState) {
      guard lane.gates.wakes, let start = start(of: lane, before: next ?? .distantFuture, now: now), start > now else { return }
      next = start
    }
    for lane in agenda.lanes(dueBy: now + policy.claimAhead) { look(at: lane) }
    agenda.visitWaiting { lane in
      look(at: lane)
      return true
    }
    return next
  }

  /// When a lane's next request may start, if that is before `limit`; nil if it is not, or only an event can bring that about.
  private func start(of lane: LaneState, before limit: WallTime, now: WallTime) -> WallTime? {
    guard let handler = lane.handler, handler.freeSlots > 0 ? freeHostSlots > 0 : slotsAhead(lane, handler) > 0,
      // A held lane's time may be unknown: the lane is checked again when it opens.
      let wakeTime = lane.wakeTime
    else { return nil }
    let time = wakeTime + (.zero - (takesSoon(handler) ? policy.claimAhead : .zero))
    // A gate that holds the request now may open by itself before it is due.
    guard time < limit, let opening = opening(of: lane, handler, now: max(now, time)) else { return nil }
    return max(time, opening)
  }

  var mayStart: Bool { !isDraining && storeTrouble == nil && permits != 0 }

  /// The host's free slots; 0 also if runs that an operator launched exceed the limit.
  var freeHostSlots: Int { max(0, policy.maxConcurrentRuns - occupiedSlots) }

  /// The time by which requests must be due to be handed out now; claiming ahead needs a free slot.
  private func horizon(of handler: HandlerState, now: WallTime) -> WallTime { takesSoon(handler) ? now + policy.claimAhead : now }

  private func learnNextDue(_ lane: LaneState, of handler: HandlerState, _ transaction: any StoreTransaction) throws {
    guard case .unknown = lane.nextDue else { return }
    noteQuestion()
    lane.nextDue = try transaction.nextDue(in: Lane(handler.contract.identifier, lane.gates)).map { .at($0) } ?? .never
  }

  /// - Parameter isSimulated: Whether an operator starts it regardless of closed gates.
  /// - Returns: False if it was not started: its missed occurrence is skipped, or its payload is damaged.
  func start(
    _ offer: DueRequest, _ handler: HandlerState, _ lane: LaneState, isSimulated: Bool = false, _ transaction: any StoreTransaction,
    now: WallTime
  ) throws -> Bool {
    let input = try transaction.input(of: offer.id)
    if let damage = input.damage {
      try giveUp(offer.id, because: damage, transaction, now: now)
      return false
    }
    let run: RunID = nextID(now)
    let began = max(now, offer.due)
    var attemptsSpent = offer.attemptsSpent
    if offer.isRepeating {
      guard let spent = try settleOccurrence(offer.id, transaction, now: began) else { return false }
      attemptsSpent = spent
    }
    permits = permits.map { max(0, $0 - 1) }
    handler.shares?.begin(run, of: lane.tenant)
    let attempt = attemptsSpent.adding(saturating: 1)
    let entry = LiveRunEntry(
      run: run, request: offer.id, identifier: handler.contract.identifier, host: host(for: offer.id), attempt: attempt, started: began,
      due: offer.due, isRepeating: offer.isRepeating, gates: lane.gates, isSimulated: isSimulated,
      trace: policy.trace(of: run, request: offer.id, attempt: attempt, isRepeating: offer.isRepeating, input.traceparent))
    let isHeld = offer.due > now
    let isAhead = isHeld || handler.freeSlots == 0
    let order = RunOrder(
      run: run, request: offer.id, contract: handler.contract, attempt: entry.attempt, payload: input.payload,
      isAhead: isAhead, tellsBegin: limits.countsBegins(lane.gates, of: handler.contract.identifier),
      trace: entry.trace, fencingToken: fencingTokens.isEmpty ? nil : fencingTokens[offer.id])
    if isHeld { turn.held.append((order, offer.due)) } else { turn.orders.append(order) }
    guard !isAhead else {
      try claim(Claim(entry: entry, rank: offer.rank, isHeld: isHeld), transaction, now: now)
      return true
    }
    try transaction.apply(.started(run, from: .pending, at: began), to: offer.id)
    live[run] = entry
    slotTaken(entry)
    limits.handedOut(entry, now: now)
    turn.started.append(entry)
    if isObserved, let record = try transaction.request(offer.id) { note(record) }
    note(entry.record)
    return true
  }

  /// What `read` returns; nil if a value is damaged that it needs.
  func legible<Value>(_ read: () throws -> Value) throws -> Value? {
    do { return try read() } catch is RequestRefusal { return nil }
  }

  /// The submitted payload of a request; nil if it is damaged.
  func legiblePayload(of id: RequestID, _ transaction: any StoreTransaction) throws -> [UInt8]? {
    try legible { try transaction.submittedPayload(of: id) }
  }

  /// Ends a request that cannot run, since nobody can read what it was submitted with: a dead letter, or for one that repeats, the end of all
  /// its occurrences.
  private func giveUp(_ id: RequestID, because damage: String, _ transaction: any StoreTransaction, now: WallTime) throws {
    guard var record = try transaction.request(id) else { return }
    handlers[record.request.identifier]?.forgetDue(of: record)
    try endWaiting(
      &record, as: .failed, message: "\(damage): restore a backup, or submit it again", transaction, now: now)
    try settleDependants(of: id, ended: record.state, output: [], transaction, now: now)
  }
}
