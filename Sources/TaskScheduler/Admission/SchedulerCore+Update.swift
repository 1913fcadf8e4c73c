import TaskModel

extension SchedulerCore {
  /// Updates a live request with the fields of a submission: it keeps its id, its unique key, its idempotency key and its predecessors.
  func update(_ id: RequestID, with fields: TaskRequest, _ transaction: any StoreTransaction, now: WallTime) throws -> Submission {
    let record = try find(id, transaction)
    try requireHere(record)
    guard !record.state.isFinal, record.stopRequested == nil else {
      let state = record.stopRequested == nil ? Self.ending(record.state) : "is being cancelled"
      throw RequestRefusal(.conflict, "request \(id) \(state): only a live request can be updated")
    }
    let old = record.request
    var request = fields
    func keep(_ field: RequestField, _ key: WritableKeyPath<TaskRequest, String?>) throws(RequestRefusal) {
      guard request[keyPath: key] == nil || request[keyPath: key] == old[keyPath: key] else {
        throw RequestRefusal(.conflict, "a request keeps its \(field.rawValue) when it is updated: omit it", field: field)
      }
      request[keyPath: key] = old[keyPath: key]
    }
    guard request.identifier == old.identifier else {
      throw RequestRefusal(.conflict, "request \(id) is of \(old.identifier), and an update cannot change that", field: .identifier)
    }
    if request.after == old.after { request.after = [] }
    try checkOwner(of: record, for: request)
    request.owner = request.owner ?? old.owner
    // The key as its plugin gave it.
    if let owner = old.owner, request.uniqueKey.map({ owner.scoped($0) == old.uniqueKey }) == true { request.uniqueKey = old.uniqueKey }
    try keep(.uniqueKey, \.uniqueKey)
    try keep(.idempotencyKey, \.idempotencyKey)
    if request.uniqueKey != nil, request.onConflict == .none { request.onConflict = old.onConflict }
    var notes: [String] = []
    if visiting != nil { try request.checkFleetScope() }
    try check(&request, by: .user, held: old.tags, notes: &notes, now: now)
    return try update(record, with: Arrival(request: request, edges: [], submitter: .user, notes: notes), transaction, now: now)
  }

  /// Updates the holder of a unique key with the fields of a submission. It keeps its id and its predecessors.
  ///
  /// - Source: androidx.work `WorkManager.updateWork`: a live run continues with the fields it began with.
  func update(
    _ holder: RequestRecord, with arrival: Arrival, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Submission {
    var request = arrival.request
    var notes = arrival.notes
    try checkUpdate(of: holder, with: request, transaction)
    if holder.state != .blocked { request.payload = try fittingPayload(of: request, transaction.edges(of: holder.id)) }
    let old = holder.request
    // What a plugin writes is its own. What a client changes of a plugin's stays the plugin's.
    if arrival.submitter.plugin == nil { request.owner = request.owner ?? old.owner }
    if let owner = old.owner, request.owner == owner {
      let mark = TaskRequest.ownerTag + owner.rawValue
      if old.tags.contains(mark), !request.tags.contains(mark) { request.tags.append(mark) }
    }
    request.gates.keepLastHost(of: old.gates)
    request.after = old.after
    request.traceparent = old.traceparent
    request.idempotencyKey = request.idempotencyKey ?? old.idempotencyKey
    var record = holder
    record.request = request
    // A pause may hold its new fields, or hold them no longer.
    record.setAside = nil
    record.isRelaxed = request.deadline.map { $0 <= now } ?? false
    retime(&record, after: old, notes: &notes, now: now)
    if request.event?.name != old.event?.name {
      record.eventDue = nil
      record.eventSince = nil
      try transaction.setEventPayload(nil, of: record.id)
    }
    let changed =
      Self.changes(from: old, to: request)
      + (try legiblePayload(of: holder.id, transaction) == request.payload ? [] : ["payload"])
    notes.append(
      changed.isEmpty
        ? "\(Self.role(of: holder)) already has these fields" : "\(Self.role(of: holder)) takes: \(changed.joined(separator: ", "))")
    try transaction.rewrite(record)
    turn.changes += 1
    if let key = request.uniqueKey, request.uniqueWindow != nil || old.uniqueWindow != nil {
      if old.uniqueWindow == nil { try checkWindows(of: request.identifier, for: arrival.submitter, transaction, now: now) }
      try hold(key, request.identifier, for: record.id, until: now + (request.uniqueWindow ?? .zero), transaction, now: now)
    }
    if record.state == .pending {
      handlers[request.identifier]?.forgetDue(of: holder)
      becamePending(record)
    }
    if record.state == .running {
      notes.append(
        record.isRepeating
          ? "it is running: its current run continues unchanged, and this applies to its later runs"
          : "it is running: its current run continues unchanged, and this applies only if it is retried: if that run succeeds, no other "
            + "follows (on_conflict append runs a request after it; replace stops it and starts a new one)")
      // Its run then ends an occurrence. This stays even if the turn is undone: it only makes the end of the run read the record.
      if record.isRepeating, let run = record.run, let entry = live[run] { live[run] = entry.ofRepeating }
    }
    note(record)
    return answer(record, .updated, notes)
  }

  /// Refuses a plugin's change to a transfer that is not its own: whoever owns a transfer is told of its end, with all that it says. A client
  /// may change every one, and it stays its owner's.
  func checkOwner(of holder: RequestRecord, for request: TaskRequest) throws(RequestRefusal) {
    guard holder.request.identifier == completions?.identifier, let owner = request.owner, owner != holder.request.owner else { return }
    throw RequestRefusal(
      .conflict, "\(Self.name(of: holder)) was not submitted by \(owner), and only its submitter may change it: use another unique key",
      field: .uniqueKey)
  }

  private func checkUpdate(of holder: RequestRecord, with request: TaskRequest, _ transaction: any StoreTransaction) throws {
    guard request.after.isEmpty else {
      throw RequestRefusal(
        .conflict,
        "\(Self.name(of: holder)) keeps its predecessors when it is updated: omit after, or use on_conflict replace",
        field: .after)
    }
    guard request.repetition != nil else { return }
    if holder.state == .blocked {
      throw RequestRefusal(
        .conflict, "\(Self.name(of: holder)) waits for \(holder.blockedBy?.description ?? "another"), so it cannot repeat",
        field: .every)
    }
    if !holder.isRepeating, visiting?.areHeld == true {
      throw RequestRefusal(
        .conflict,
        "a host has \(Self.name(of: holder)) and cannot know which others of the fleet wait for its end, so it cannot begin to repeat: "
          + "submit another one that repeats",
        field: .every)
    }
    if !holder.isRepeating, let dependant = try liveDependant(of: holder.id, transaction) {
      throw RequestRefusal(
        .conflict, "\(dependant) waits for \(Self.name(of: holder)) to end, so it cannot repeat: cancel \(dependant) first",
        field: .every)
    }
  }

  private static func role(of record: RequestRecord) -> String {
    record.request.uniqueKey == nil ? "the request" : "the holder of the key"
  }

  private static func name(of record: RequestRecord) -> String { "\(role(of: record)), \(record.id)," }

  /// When an updated request is due.
  private func retime(_ record: inout RequestRecord, after old: TaskRequest, notes: inout [String], now: WallTime) {
    let request = record.request
    let (before, offset) = (offset(of: old, record.id), offset(of: record))
    // If the event or the repetition stays the same, the present times stay too, with the new jitter.
    if before != offset, record.state != .running, request.event == nil, let occurrence = record.occurrence,
      record.due == occurrence.moved(by: before)
    {
      record.due = occurrence.moved(by: offset)
    }
    if let event = request.event, event.name == old.event?.name, request.repetition?.schedule == old.repetition?.schedule { return }
    let isSameRule = request.repetition != nil && request.repetition?.schedule == old.repetition?.schedule && request.event == nil
    if isSameRule, request.earliestBegin == old.earliestBegin || request.earliestBegin == nil { return }
    record.missedLeft = 0
    var first = firstDue(of: request, now: now)
    if let interval = request.repetition?.interval, old.repetition != nil, request.earliestBegin == nil {
      // The next run is not immediate, but due within the new interval.
      let planned = record.due.moved(by: .zero - before)
      first = min(planned > now ? planned : .distantFuture, now + interval)
    }
    if record.state == .running {
      // The live run belongs to an occurrence; the next one follows the new rule.
      record.occurrence = request.repetition == nil ? nil : (request.event == nil ? first : record.due)
      if request.repetition == nil, request.event == nil { record.due = max(record.due, first.moved(by: offset)) }
      return
    }
    record.occurrence = request.repetition == nil ? nil : first
    var due = first.moved(by: offset)
    if record.attemptsSpent > 0, record.due > due, record.due < .distantFuture {
      notes.append("it is in its backoff after attempt \(record.attemptsSpent), which is not shortened")
      due = record.due
    }
    record.due = due
  }

  /// The JSON names of the fields that differ.
  private static func changes(from old: TaskRequest, to new: TaskRequest) -> [String] {
    var names: [String] = []
    func compare<Value: Equatable>(_ field: RequestField, _ value: KeyPath<TaskRequest, Value>) {
      if old[keyPath: value] != new[keyPath: value] { names.append(field.rawValue) }
    }
    compare(.earliestBegin, \.earliestBegin)
    compare(.deadline, \.deadline)
    switch (new.repetition ?? old.repetition)?.schedule {
    case .cron: compare(.cron, \.repetition?.schedule)
    case .event: compare(.event, \.repetition?.schedule)
    case .every, nil: compare(.every, \.repetition?.schedule)
    }
    compare(.missed, \.repetition?.missed)
    compare(.event, \.event?.name)
    compare(.debounce, \.event?.debounce)
    compare(.conditions, \.gates.conditions)
    compare(.onLostCondition, \.gates.onLostCondition)
    compare(.window, \.gates.window)
    compare(.concurrencyKey, \.gates.concurrencyKey)
    compare(.resources, \.gates.resources)
    compare(.prefer, \.gates.prefer)
    compare(.flex, \.gates.flex)
    compare(.jitter, \.jitter)
    compare(.wake, \.gates.wakes)
    compare(.priority, \.priority)
    compare(.retry, \.retry)
    compare(.tags, \.tags)
    compare(.uniqueWindow, \.uniqueWindow)
    return names
  }
}

extension LiveRunEntry {
  /// The same run, for a request that now repeats.
  fileprivate var ofRepeating: LiveRunEntry {
    LiveRunEntry(
      run: run, request: request, identifier: identifier, host: host, attempt: attempt, started: started, due: due, isRepeating: true,
      gates: gates, isSimulated: isSimulated, trace: trace, stopRequested: stopRequested)
  }
}
