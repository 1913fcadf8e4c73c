import TaskModel

extension SchedulerCore {
  /// Cancels a request. One that runs is asked to stop and is cancelled when its run has ended.
  func cancel(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    var record = try find(id, transaction)
    if record.state == .running {
      try requestStop(&record, .cancelled, transaction)
    } else if record.state.isFinal {
      throw RequestRefusal(.conflict, "request \(id) is \(record.state.rawValue) already")
    } else {
      try cancelWaiting(&record, message: "cancelled", transaction, now: now)
    }
    return record
  }

  /// Cancels the requests of these identifiers that wait for their run, but not those of a `schedule`, which are the operator's.
  ///
  /// - Parameter held: The runs that are recorded ahead of their time and have not begun: they are taken back.
  /// - Returns: How many.
  func cancelPending(
    of identifiers: [TaskIdentifier], held: Set<RunID> = [], _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Int {
    var count = 0
    for run in held.sorted() {
      guard let entry = live[run], identifiers.contains(entry.identifier), entry.stopRequested == nil else { continue }
      var record = try find(entry.request, transaction)
      guard record.run == run, !record.request.isSchedule else { continue }
      try requestStop(&record, .cancelled, transaction)
      count += 1
    }
    for identifier in identifiers {
      for var record in try transaction.waiting(of: identifier) where !record.request.isSchedule {
        try cancelWaiting(&record, message: "cancelled", transaction, now: now)
        count += 1
      }
    }
    return count
  }

  /// Makes a dead letter pending again, with all its attempts.
  func revive(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    var record = try find(id, transaction)
    guard record.state == .failed else {
      throw RequestRefusal(.conflict, "request \(id) is \(record.state.rawValue); only one that has failed can be retried")
    }
    if let key = record.request.uniqueKey, try transaction.holder(of: key, identifier: record.request.identifier) != nil {
      throw RequestRefusal(.conflict, "another request holds the unique key \"\(key)\" by now: cancel it first")
    }
    record.state = try record.state.transition(on: .revived, guards: RequestGuards()).state
    record.due = now
    record.attemptsSpent = 0
    record.losses = 0
    record.ended = nil
    try transaction.update(record)
    turn.changes += 1
    if let handler = handlers[record.request.identifier] {
      handler.becamePending(due: now)
      handler.liveRequests = handler.liveRequests.map { $0 + 1 }
    }
    note(record)
    return record
  }

  /// Makes the identifier's first pending request due at once, ahead of its time and backoff, or submits one.
  func simulateLaunch(_ identifier: TaskIdentifier, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    guard let handler = handlers[identifier] else {
      throw RequestRefusal(.unknownIdentifier, "no plugin registered \(identifier): see taskhost plugins list", field: "identifier")
    }
    guard !isDraining else { throw RequestRefusal(.unavailable, "the host is draining") }
    guard var record = try transaction.firstPending(of: identifier) else {
      let submission = try submit(TaskRequest(identifier: identifier), transaction, now: now)
      return try find(submission.id, transaction)
    }
    record.due = min(record.due, now)
    try transaction.update(record)
    turn.changes += 1
    handler.becamePending(due: record.due)
    note(record)
    return record
  }

  /// Brings the requests that the configuration's `schedule` lines stand for in line with it.
  func reconcile(_ schedules: [TaskIdentifier: RepeatRule], _ transaction: any StoreTransaction, now: WallTime) throws {
    var missing = schedules
    for var record in try transaction.holders(ofKeysBeginningWith: TaskRequest.scheduleKeyPrefix) {
      let identifier = record.request.identifier
      guard record.request.isSchedule else { continue }
      guard let rule = missing.removeValue(forKey: identifier) else {
        if record.state == .running {
          try requestStop(&record, .cancelled, transaction)
        } else {
          try cancelWaiting(&record, message: "its schedule is no longer in the configuration", transaction, now: now)
        }
        continue
      }
      guard record.request.repetition != rule else { continue }
      record.request.repetition = rule
      let latest = now + rule.interval
      record.due = min(record.due, latest)
      record.occurrence = record.due
      try transaction.update(record)
      note(record)
    }
    // A plugin that is not there now finds its schedule as it was when it is back.
    for (identifier, rule) in missing where handlers[identifier] != nil {
      let request = TaskRequest(
        identifier: identifier, uniqueKey: TaskRequest.scheduleKeyPrefix + identifier.rawValue, onConflict: .keep, repetition: rule)
      _ = try submit(request, by: .operatorsConfiguration, transaction, now: now)
    }
  }

  func find(_ id: RequestID, _ transaction: any StoreTransaction) throws -> RequestRecord {
    guard let record = try transaction.request(id) else { throw RequestRefusal(.notFound, "there is no request \(id)") }
    return record
  }

  /// Ends a request that does not run.
  func cancelWaiting(_ record: inout RequestRecord, message: String, _ transaction: any StoreTransaction, now: WallTime) throws {
    record.state = try record.state.transition(on: .cancelled, guards: RequestGuards()).state
    record.blockedBy = nil
    record.ended = now
    record.lastMessage = message
    try transaction.update(record)
    turn.changes += 1
    countEnded(record.request.identifier)
    handlers[record.request.identifier]?.nextDue = .unknown
    note(record)
  }

  /// Asks a request's run to stop, durably: whatever becomes of the run, the request is cancelled.
  func requestStop(_ record: inout RequestRecord, _ reason: StopReason, _ transaction: any StoreTransaction) throws {
    record.stopRequested = record.stopRequested ?? reason
    try transaction.update(record)
    note(record)
    guard let run = record.run, let entry = live[run] else { return }
    // Of a run that was asked before, the wish stays even if this turn is undone.
    if entry.stopRequested == nil {
      live[run]?.stopRequested = record.stopRequested
      turn.stopped.append(run)
    }
    turn.expirations.append((run, record.stopRequested ?? reason))
  }
}
