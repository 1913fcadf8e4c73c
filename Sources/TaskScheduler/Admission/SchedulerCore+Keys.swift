import TaskModel

extension SchedulerCore {
  // MARK: Idempotency

  /// The answer to an earlier submission with the same idempotency key; nil if none is on record.
  ///
  /// - Throws: A refusal if that submission had other content.
  func answer(
    to submitted: TaskRequest, again key: String, by submitter: Submitter, _ transaction: any StoreTransaction
  ) throws -> Submission? {
    try RequestField.idempotencyKey.check(key: key)
    let found = try visiting.map { $0.known[key] } ?? transaction.submission(withKey: key, by: submitter.plugin)
    guard let known = found else { return nil }
    guard known.fingerprint == RequestFingerprint(of: submitted).value else {
      throw RequestRefusal(
        .conflict,
        "the idempotency key \"\(key)\" belongs to another submission, for which request \(known.request) stands: "
          + "submit the same content as then, or use a new key",
        field: .idempotencyKey)
    }
    var submission: Submission
    if let record = try transaction.request(known.request) {
      submission = answer(record, known.disposition, ["this was submitted before; its request \(Self.ending(record.state))"])
    } else {
      submission = Submission(
        id: known.request, disposition: known.disposition, nextStart: .distantFuture,
        notes: ["this was submitted before; its request has ended and is no longer on record"])
    }
    submission.isRepeated = true
    return submission
  }

  /// Refuses a plugin that has too many idempotency keys on record. Counts its next one.
  func checkKeys(of submitter: Submitter, _ transaction: any StoreTransaction) throws {
    guard let plugin = submitter.plugin, visiting == nil else { return }
    let most = Limits.idempotencyKeys
    // Keys that were forgotten meanwhile count until the store is asked again.
    let count = try keyCounts[plugin].flatMap { $0 < most ? $0 : nil } ?? transaction.submissionCount(by: plugin)
    guard count < most else { throw RequestRefusal.tooManyKeys(of: plugin, count) }
    keyCounts[plugin] = count + 1
  }

  /// Refuses a plugin's unique window if too many are open for the identifier. Counts the next one.
  func checkWindows(of identifier: TaskIdentifier, for submitter: Submitter, _ transaction: any StoreTransaction, now: WallTime) throws {
    guard visiting == nil else { return }
    // Clients are not limited, and nobody counts for them alone.
    guard submitter.plugin != nil else { return windowCounts[identifier] = windowCounts[identifier].map { $0 + 1 } }
    let most = Limits.uniqueWindows
    let count = try windowCounts[identifier].flatMap { $0 < most ? $0 : nil } ?? transaction.windowCount(of: identifier, now: now)
    windowCounts[identifier] = count + 1
    guard count < most else { throw RequestRefusal.tooManyWindows(of: identifier, count) }
  }

  // MARK: Unique keys

  /// Adds a request; if its unique key is held, applies its conflict policy instead.
  func place(_ arrival: Arrival, _ transaction: any StoreTransaction, now: WallTime) throws -> Submission {
    let request = arrival.request
    guard let key = request.uniqueKey else { return try add(arrival, transaction, now: now) }
    if let holder = try transaction.holder(of: key, identifier: request.identifier) {
      return try settleConflict(with: holder, arrival, transaction, now: now)
    }
    guard let past = try windowHolder(of: key, request.identifier, transaction, now: now) else {
      return try add(arrival, transaction, now: now)
    }
    var arrival = arrival
    let record = try transaction.request(past)
    let ended = "\(past), which \(record.map { Self.ending($0.state) } ?? "has ended"), holds the key until its unique_window ends"
    if request.onConflict == .keep {
      arrival.notes.append("\(ended): this submission is dropped")
      return record.map { answer($0, .kept, arrival.notes) }
        ?? Submission(id: past, disposition: .kept, nextStart: .distantFuture, notes: arrival.notes)
    }
    arrival.notes.append(
      "\(ended); on_conflict \(request.onConflict.rawValue) cannot change it: this is a new request, which now holds the key")
    if request.uniqueWindow == nil { try hold(key, request.identifier, for: past, until: now, transaction, now: now) }
    return try add(arrival, transaction, now: now)
  }

  private func settleConflict(
    with holder: RequestRecord, _ arrival: Arrival, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Submission {
    var arrival = arrival
    if arrival.request.onConflict != .keep {
      try requireHere(holder)
      try checkOwner(of: holder, for: arrival.request)
    }
    switch arrival.request.onConflict {
    case .none: return try add(arrival, transaction, now: now)
    case .keep:
      arrival.notes.append(
        holder.state == .running
          ? "the holder of the key is running: this submission is dropped"
          : "the holder of the key is \(holder.state.shown.rawValue): it stays, and this submission is dropped")
      return answer(holder, .kept, arrival.notes)
    case .update where holder.stopRequested == nil: return try update(holder, with: arrival, transaction, now: now)
    case .append where holder.stopRequested == nil: return try append(arrival, to: holder, transaction, now: now)
    case .update, .append:
      arrival.notes.append("the holder of the key, \(holder.id), is being cancelled: this is a new request, which starts after its run")
    case .replace: break
    }
    let (waits, cancelled) = try makeWay(holder, transaction, now: now)
    if cancelled > 0 { arrival.notes.append("cancelled: \(Self.count(cancelled, "waiting request")) with the key") }
    if let running = waits.first, arrival.request.onConflict == .replace {
      arrival.notes.append("\(running) is running and was asked to stop: this one starts when its run has ended")
    }
    try endWindow(of: holder, unlessFor: arrival.request, transaction, now: now)
    arrival.waits = waits
    try lookAgain(at: &arrival.edges, waits: waits, transaction)
    arrival.disposition = .replaced
    return try add(arrival, transaction, now: now)
  }

  /// Adds a request after the holder of its key and passes the key on to it, so that the next append follows it.
  ///
  /// - Source: androidx.work `ExistingWorkPolicy.APPEND`: work appended to work that fails or is cancelled ends the same way, and receives
  ///   its output.
  private func append(
    _ arrival: Arrival, to holder: RequestRecord, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Submission {
    guard !holder.isRepeating else {
      throw RequestRefusal(
        .conflict, "the holder of the key, \(holder.id), repeats and never ends: cancel it first, or use on_conflict replace or update",
        field: .onConflict)
    }
    var (arrival, holder) = (arrival, holder)
    holder.request.uniqueKey = nil
    try transaction.update(holder)
    turn.changes += 1
    note(holder)
    try endWindow(of: holder, unlessFor: arrival.request, transaction, now: now)
    // The edges of a chain are those that `after` does not name.
    arrival.request.after.removeAll { $0.predecessor == .request(holder.id) }
    arrival.edges.removeAll { $0.predecessor == holder.id }
    arrival.edges.insert(DependencyRecord(predecessor: holder.id, onFailure: .fail), at: 0)
    arrival.disposition = .appended
    arrival.notes.append("it starts when \(holder.id), which held the key, has succeeded")
    return try add(arrival, transaction, now: now)
  }

  /// Takes the key from its holder, and ends the holder and the chain it was appended to.
  ///
  /// - Returns: The requests whose runs the successor must wait for, and how many requests were cancelled.
  private func makeWay(
    _ holder: RequestRecord, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> (waits: [RequestID], cancelled: Int) {
    var chain = [holder]
    var waits: [RequestID] = []
    var cancelled = 0
    // From the tail, so that each request is cancelled here and not because its predecessor ended.
    while var record = chain.popLast() {
      try requireHere(record)
      record.request.uniqueKey = nil
      if record.state == .running {
        waits.append(record.id)
        if record.stopRequested == nil { try requestStop(&record, .replaced, transaction) } else { try transaction.update(record) }
        continue
      }
      if record.state == .blocked {
        for edge in try chainEdges(of: record, transaction) where edge.ended == nil {
          if let member = try transaction.request(edge.predecessor), !member.state.isFinal { chain.append(member) }
        }
      }
      try cancelWaiting(&record, message: "replaced by a newer request", tells: false, transaction, now: now)
      cancelled += 1
    }
    return (waits, cancelled)
  }

  /// Updates edges to requests that may have been cancelled to make way.
  private func lookAgain(at edges: inout [DependencyRecord], waits: [RequestID], _ transaction: any StoreTransaction) throws {
    for index in edges.indices where edges[index].ended == nil {
      let id = edges[index].predecessor
      let state = try transaction.request(id)?.state ?? .cancelled
      if state.isFinal { edges[index].ended = state }
      guard edges[index].onFailure == .fail, state == .cancelled || waits.contains(id) else { continue }
      throw RequestRefusal(
        .conflict,
        "after names \(id), which taking the unique key would cancel: remove it from after, or use on_conflict append",
        field: .after)
    }
    // The request already waits for these runs because of the key: it needs no second edge.
    edges.removeAll { waits.contains($0.predecessor) }
  }

  /// A request's edges that come from its key: to the request that it was appended to, or whose run it waits for.
  func chainEdges(of record: RequestRecord, _ transaction: any StoreTransaction) throws -> [DependencyRecord] {
    let named = Set(record.request.after.map(\.predecessor))
    return try transaction.edges(of: record.id).filter { !named.contains(.request($0.predecessor)) }
  }

  /// Ends the unique window of a holder that passes its key on, unless the successor's window replaces it.
  private func endWindow(
    of holder: RequestRecord, unlessFor request: TaskRequest, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    guard holder.request.uniqueWindow != nil, request.uniqueWindow == nil, let key = request.uniqueKey else { return }
    try hold(key, request.identifier, for: holder.id, until: now, transaction, now: now)
  }

  /// "has succeeded", "was cancelled", …
  static func ending(_ state: RequestState) -> String {
    switch state {
    case .succeeded, .failed: "has \(state.rawValue)"
    case .cancelled: "was cancelled"
    case .blocked, .pending, .claimed, .running: "is \(state.shown.rawValue)"
    }
  }

  static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
