import TaskModel

extension SchedulerCore {
  /// Cancels a request. A running one is asked to stop and is cancelled when its run ends.
  ///
  /// - Parameter quietly: Tells nobody who waits for its end.
  func cancel(
    _ id: RequestID, quietly: Bool = false, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> RequestRecord {
    var record = try find(id, transaction)
    try requireHere(record)
    if quietly, !record.state.isFinal, record.request.identifier == completions?.identifier {
      record.request.isUntold = true
      record.request.payload = try legiblePayload(of: id, transaction) ?? []
      try transaction.rewrite(record)
    }
    if record.state == .running {
      try requestStop(&record, .cancelled, transaction)
    } else if record.state.isFinal {
      throw RequestRefusal(.conflict, "request \(id) \(record.state == .cancelled ? "was" : "has") already \(record.state.rawValue)")
    } else {
      try cancelWaiting(&record, message: "cancelled", transaction, now: now)
    }
    return record
  }

  /// Cancels the waiting requests of these identifiers, except those of a `schedule` and of the host's fleet.
  ///
  /// - Returns: The number of cancelled requests.
  func cancelPending(of identifiers: [TaskIdentifier], _ transaction: any StoreTransaction, now: WallTime) throws -> Int {
    try identifiers.reduce(0) { count, identifier in
      let own = try transaction.waiting(of: identifier).filter { $0.id.origin != fleet }
      return try count + cancel(waiting: own, transaction, now: now)
    }
  }

  /// Cancels those of these requests that wait, except those of a `schedule`: they belong to the operator.
  ///
  /// - Returns: The number of cancelled requests.
  func cancel(waiting records: [RequestRecord], _ transaction: any StoreTransaction, now: WallTime) throws -> Int {
    var count = 0
    for var record in records where !record.request.isSchedule && !record.state.isFinal && record.state != .running {
      try requireHere(record)
      count += 1
      // It may have ended with a predecessor that this loop cancelled.
      if record.state == .blocked {
        guard let present = try transaction.request(record.id), !present.state.isFinal else { continue }
        record = present
      }
      try cancelWaiting(&record, message: "cancelled", transaction, now: now)
    }
    return count
  }

  /// Cancels the live requests with a tag, of one identifier or (nil) of all; running ones are asked to stop. Requests of a `schedule`
  /// stay: they belong to the operator.
  ///
  /// - Returns: The number of cancelled requests.
  func cancelAll(
    tag: String, identifier: TaskIdentifier? = nil, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Int {
    var ids: [RequestID] = []
    while true {
      let slice = try transaction.live(tagged: tag, identifier: identifier, after: ids.last, limit: Self.sliceSize)
      ids += slice
      if slice.count < Self.sliceSize { break }
    }
    var count = 0
    // Newest first: dependants are cancelled because of their own tag, not because of a predecessor.
    for id in ids.reversed() {
      guard var record = try transaction.request(id), !record.request.isSchedule else { continue }
      try requireHere(record)
      switch record.state {
      case .succeeded, .failed, .cancelled: continue
      case .running:
        guard record.stopRequested == nil else { continue }
        try requestStop(&record, .cancelled, transaction)
      case .blocked, .pending, .claimed:
        try cancelWaiting(&record, message: "cancelled by its tag \"\(tag)\"", transaction, now: now)
      }
      count += 1
    }
    return count
  }

  /// The number of requests read at once.
  static let sliceSize = 500

  /// Starts the identifier's first pending request, or a new one, regardless of gates: time or event, backoff, conditions, window, limits,
  /// the host's slots, the plugin's health.
  ///
  /// Refused, with nothing changed, if no handler can be called: the identifier is not registered, the plugin is suspended or has no free
  /// slot, or the host drains.
  func simulateLaunch(_ identifier: TaskIdentifier, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    guard let handler = handlers[identifier] else { throw Self.unregistered(identifier, .unknownIdentifier) }
    guard !isDraining else { throw RequestRefusal(.unavailable, "the host is draining: it starts no more runs") }
    if let suspension = handler.suspension {
      throw RequestRefusal(
        .unavailable, "the plugin is suspended, so no run can be launched: \(suspension): wait for that thread, or restart the host")
    }
    // The first pending request may be handed out ahead.
    if handler.queued + handler.held > 0 { throw ClaimedAhead(identifier: identifier) }
    guard handler.freeSlots > 0 else {
      let runs = live.values.filter { $0.identifier == identifier }.map(\.run).sorted().map(\.description)
      throw RequestRefusal(
        .conflict,
        "the plugin is busy with \(Self.count(runs.count, "run")), its maximum, so no other can be launched: "
          + "wait for one to end, or cancel its request: \(runs.joined(separator: ", "))")
    }
    let id: RequestID
    // What is parked is for the fleet, and never runs here.
    if let pending = try transaction.firstPending(of: identifier), pending.paused?.isParked != true {
      try requireUnpaused(pending, transaction, now: now)
      id = pending.id
    } else {
      id = try submit(TaskRequest(identifier: identifier), transaction, now: now).id
      try requireUnpaused(find(id, transaction), transaction, now: now)
    }
    try startNow(id, handler, isSimulated: { _ in true }, transaction, now: now)
    return try find(id, transaction)
  }

  /// The identifier's live runs, which a simulated expiration ends. Refused if no plugin has registered the identifier.
  func runsToExpire(of identifier: TaskIdentifier) throws(RequestRefusal) -> [RunID] {
    guard handlers[identifier] != nil else { throw Self.unregistered(identifier, .notFound) }
    return live.values.filter { $0.identifier == identifier }.map(\.run).sorted()
  }

  private static func unregistered(_ identifier: TaskIdentifier, _ code: RequestRefusal.Code) -> RequestRefusal {
    RequestRefusal(code, "no plugin has registered \(identifier): see taskhost plugins list", field: "identifier")
  }

  /// Starts a pending request, like ``simulateLaunch(_:_:now:)`` does for the identifier's first. The gates that are closed now do not stop
  /// its run later.
  func launch(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws {
    let record = try find(id, transaction)
    guard record.state == .pending else {
      throw RequestRefusal(.conflict, "request \(id) \(Self.ending(record.state)), so it cannot be started")
    }
    try requireUnpaused(record, transaction, now: now)
    let identifier = record.request.identifier
    guard let handler = handlers[identifier] else {
      throw RequestRefusal(.unknownIdentifier, "no plugin has registered \(identifier)", field: "identifier")
    }
    guard !isDraining else { throw RequestRefusal(.unavailable, "the host is draining") }
    guard handler.freeSlots > 0 else {
      let most = handler.contract.maxConcurrentRuns
      throw RequestRefusal(
        .conflict, "\(handler.running) of \(most) runs of \(identifier) are live, the maximum that it registered")
    }
    try startNow(id, handler, isSimulated: { !self.isOpen($0, of: handler, now: now) }, transaction, now: now)
  }

  /// A pause is a person's or a plugin's word, not a constraint that a launch ahead of time overrides.
  private func requireUnpaused(_ record: RequestRecord, _ transaction: any StoreTransaction, now: WallTime) throws {
    guard record.paused == nil else {
      throw RequestRefusal(.conflict, "request \(record.id) is paused: taskhost transfers resume \(record.id)")
    }
    guard !pauses.isEmpty else { return }
    var record = record
    if pauses.readsPayload { record.request.payload = try legiblePayload(of: record.id, transaction) ?? [] }
    guard let pause = pauses.holding(record, now: now).first else { return }
    throw RequestRefusal(.conflict, "\(pause.order.by) has paused \(pause.subject): \(pause.remedy)")
  }

  private func startNow(
    _ id: RequestID, _ handler: HandlerState, isSimulated: (LaneState) -> Bool, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    turn.changes += 1
    // If a missed occurrence is skipped, the next one starts instead.
    while var record = try transaction.request(id), record.state == .pending {
      handler.forgetDue(of: record)
      record.due = min(record.due, now)
      try transaction.update(record)
      let offer = DueRequest(
        id: id, due: record.due, priority: record.request.priority, attemptsSpent: record.attemptsSpent, isRepeating: record.isRepeating)
      let lane = handler.lane(record.gates)
      if try start(offer, handler, lane, isSimulated: isSimulated(lane), transaction, now: now) { break }
    }
  }

  func find(_ id: RequestID, _ transaction: any StoreTransaction) throws -> RequestRecord {
    guard let record = try transaction.request(id) else { throw RequestRefusal(.notFound, "there is no request \(id)") }
    return record
  }

  /// Cancels a request that does not run, and settles its dependants.
  ///
  /// - Parameter tells: Whether who waits for its end is told: not of what it has replaced itself.
  func cancelWaiting(
    _ record: inout RequestRecord, message: String, tells: Bool = true, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    try endWaiting(&record, as: .cancelled, message: message, tells: tells, transaction, now: now)
    try settleDependants(of: record.id, ended: record.state, output: [], transaction, now: now)
  }

  /// Ends a request that does not run. The caller settles its dependants.
  ///
  /// - Parameters:
  ///   - ended: `cancelled`, or `failed` if it ends because another request failed. What its owner is told of is not a dead letter.
  ///   - tells: Whether who waits for its end is told.
  func endWaiting(
    _ record: inout RequestRecord, as ended: RequestState, message: String, tells: Bool = true, _ transaction: any StoreTransaction,
    now: WallTime
  ) throws {
    let wasBlocked = record.state == .blocked
    try record.apply(ended != .failed ? .cancelled : wasBlocked ? .predecessorFailed : .unreadable)
    let told = tells ? try tellEnd(of: record, as: ended, transaction, now: now) : .nobody
    if ended == .failed, told.isTold { try record.apply(.discarded) }
    record.ended = now
    record.paused = nil
    record.lastMessage = told.note(message)
    try transaction.update(record)
    if wasBlocked, let key = record.request.uniqueKey { try handBack(key, from: record, transaction) }
    turn.changes += 1
    if record.id.origin == fleet { turn.endedWaiting.append(record.id) }
    countEnded(record.request.identifier)
    awaitedRetries.remove(record.id)
    handlers[record.request.identifier]?.forgetDue(of: record)
    try sweep(after: record, transaction, now: now)
    note(record)
    guard ended == .failed else { return }
    raise(HostEvents.failed(record.request.identifier))
    if !told.isTold { noteFailed(record, run: nil, message, now: now) }
  }

  /// Returns the key from a chain's tail, which has ended without a run, to the last one before it that lives, so that the next append follows
  /// that one.
  private func handBack(_ key: String, from tail: RequestRecord, _ transaction: any StoreTransaction) throws {
    var ended = [tail]
    while let record = ended.popLast() {
      for edge in try chainEdges(of: record, transaction) where edge.onFailure == .fail {
        guard var holder = try transaction.request(edge.predecessor), holder.request.uniqueKey == nil else { continue }
        if holder.state.isFinal {
          ended.append(holder)
        } else {
          holder.request.uniqueKey = key
          try transaction.update(holder)
          note(holder)
        }
      }
    }
  }

  /// Durably asks a request's run to stop: however the run ends, the request is cancelled.
  func requestStop(_ record: inout RequestRecord, _ reason: StopReason, _ transaction: any StoreTransaction) throws {
    record.stopRequested = record.stopRequested ?? reason
    try transaction.update(record)
    note(record)
    guard let run = record.run, let entry = live[run] else { return }
    // If the run was asked before, it stays asked even if this turn is undone.
    if entry.stopRequested == nil {
      live[run]?.stopRequested = record.stopRequested
      turn.stopped.append(run)
    }
    turn.expirations.append((run, record.stopRequested ?? reason))
  }
}
