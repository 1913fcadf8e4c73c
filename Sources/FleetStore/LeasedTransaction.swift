import TaskModel

/// A commit of a ``LeasedRequestStore``.
struct LeasedTransaction: StoreTransaction {
  let own: any StoreTransaction
  let leased: any StoreTransaction
  let fleet: UInt64

  private func side(of id: RequestID) -> any StoreTransaction { id.origin == fleet ? leased : own }

  func savepoint<Value>(_ body: () throws -> Value) throws -> Value { try leased.savepoint { try own.savepoint(body) } }

  // MARK: One request

  func insert(_ record: RequestRecord) throws { try side(of: record.id).insert(record) }

  func update(_ record: RequestRecord) throws { try side(of: record.id).update(record) }

  func rewrite(_ record: RequestRecord) throws { try side(of: record.id).rewrite(record) }

  func request(_ id: RequestID) throws -> RequestRecord? { try side(of: id).request(id) }

  func input(of id: RequestID) throws -> RunInput { try side(of: id).input(of: id) }

  func submittedPayload(of id: RequestID) throws -> [UInt8] { try side(of: id).submittedPayload(of: id) }

  func setEventPayload(_ payload: [UInt8]?, of id: RequestID) throws { try side(of: id).setEventPayload(payload, of: id) }

  func apply(_ change: RequestChange, to id: RequestID) throws { try side(of: id).apply(change, to: id) }

  func append(_ run: RunRecord) throws { try side(of: run.request).append(run) }

  func setCheckpoint(_ value: [UInt8]?, of request: RequestID) throws { try side(of: request).setCheckpoint(value, of: request) }

  func hold(_ key: String, identifier: TaskIdentifier, for id: RequestID, until time: WallTime) throws {
    try side(of: id).hold(key, identifier: identifier, for: id, until: time)
  }

  func surrender(_ id: RequestID) throws -> SurrenderedRequest? { try side(of: id).surrender(id) }

  // MARK: Graphs: both ends of an edge are on one side

  func insert(_ edges: [DependencyRecord], of id: RequestID) throws { try side(of: id).insert(edges, of: id) }

  func edges(of id: RequestID) throws -> [DependencyRecord] { try side(of: id).edges(of: id) }

  func dependants(of predecessor: RequestID) throws -> [RequestID] { try side(of: predecessor).dependants(of: predecessor) }

  func failedDependants(of predecessor: RequestID) throws -> [RequestID] { try side(of: predecessor).failedDependants(of: predecessor) }

  func output(of id: RequestID) throws -> [UInt8]? { try side(of: id).output(of: id) }

  func settleEdges(from predecessor: RequestID, ended: RequestState, output: [UInt8]) throws -> [RequestID] {
    try side(of: predecessor).settleEdges(from: predecessor, ended: ended, output: output)
  }

  func awaitedPredecessors() throws -> Set<RequestID> { try own.awaitedPredecessors().union(leased.awaitedPredecessors()) }

  // MARK: Requests of both sides

  func holder(of key: String, identifier: TaskIdentifier) throws -> RequestRecord? {
    try own.holder(of: key, identifier: identifier) ?? leased.holder(of: key, identifier: identifier)
  }

  func liveCount(of identifier: TaskIdentifier) throws -> Int { try own.liveCount(of: identifier) + leased.liveCount(of: identifier) }

  func lanesWithPending() throws -> [Lane] { Array(Set(try own.lanesWithPending()).union(try leased.lanesWithPending())) }

  func due(in lane: Lane, by now: WallTime, limit: Int) throws -> [DueRequest] {
    let (ours, theirs) = (try own.due(in: lane, by: now, limit: limit), try leased.due(in: lane, by: now, limit: limit))
    guard !ours.isEmpty, !theirs.isEmpty else { return ours + theirs }
    return Array((ours + theirs).sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }.prefix(max(0, limit)))
  }

  func nextDue(in lane: Lane) throws -> WallTime? {
    [try own.nextDue(in: lane), try leased.nextDue(in: lane)].compactMap(\.self).min()
  }

  func running() throws -> [RequestRecord] { try own.running() + leased.running() }

  func claimed() throws -> [RequestRecord] { try own.claimed() + leased.claimed() }

  func waiting(of identifier: TaskIdentifier) throws -> [RequestRecord] {
    try (own.waiting(of: identifier) + leased.waiting(of: identifier)).sorted { $0.id < $1.id }
  }

  /// Of the fleet's requests, its database selects those that are changed together.
  func live(tagged tag: String, identifier: TaskIdentifier?, after request: RequestID?, limit: Int) throws -> [RequestID] {
    try own.live(tagged: tag, identifier: identifier, after: request, limit: limit)
  }

  func failed(of identifier: TaskIdentifier?) throws -> [RequestID] { try own.failed(of: identifier) }

  func firstPending(of identifier: TaskIdentifier) throws -> RequestRecord? {
    let found = [try own.firstPending(of: identifier), try leased.firstPending(of: identifier)].compactMap(\.self)
    return found.min { ($0.due, $0.id) < ($1.due, $1.id) }
  }

  func pastDeadline(by now: WallTime, limit: Int) throws -> [RequestRecord] {
    Array(try (own.pastDeadline(by: now, limit: limit) + leased.pastDeadline(by: now, limit: limit)).prefix(max(0, limit)))
  }

  func nextDeadline() throws -> WallTime? { [try own.nextDeadline(), try leased.nextDeadline()].compactMap(\.self).min() }

  /// The fleet's times are on its database's clock.
  func shiftBootTimes(by distance: Duration) throws { try own.shiftBootTimes(by: distance) }

  func shiftWaits(by distance: Duration, passed: WallTime) throws { try own.shiftWaits(by: distance, passed: passed) }

  func repeatingByCalendar() throws -> [RequestRecord] { try own.repeatingByCalendar() }

  /// The fleet's requests hear of events through its database, so that one is not lost that comes as a request comes or goes.
  func waiting(forEvent name: String) throws -> [RequestRecord] { try own.waiting(forEvent: name) }

  func awaitedEvents() throws -> [String] { Array(Set(try own.awaitedEvents()).union(try leased.awaitedEvents())).sorted() }

  func pruneLanes(limit: Int) throws -> Bool {
    _ = try leased.pruneLanes(limit: limit)
    return try own.pruneLanes(limit: limit)
  }

  // MARK: The own store's alone

  func submission(withKey key: String, by plugin: TaskIdentifier?) throws -> KnownSubmission? {
    try own.submission(withKey: key, by: plugin)
  }

  func remember(_ submission: KnownSubmission, key: String, by plugin: TaskIdentifier?) throws {
    try own.remember(submission, key: key, by: plugin)
  }

  func submissionCount(by plugin: TaskIdentifier) throws -> Int { try own.submissionCount(by: plugin) }

  func windowHolder(of key: String, identifier: TaskIdentifier, now: WallTime) throws -> RequestID? {
    try own.windowHolder(of: key, identifier: identifier, now: now)
  }

  func windowCount(of identifier: TaskIdentifier, now: WallTime) throws -> Int { try own.windowCount(of: identifier, now: now) }

  /// Of the schedules of the host's own configuration: those of the fleet are in its database.
  func holders(ofKeysBeginningWith prefix: String) throws -> [RequestRecord] { try own.holders(ofKeysBeginningWith: prefix) }

  func clockReference() throws -> ClockReference? { try own.clockReference() }

  func setClockReference(_ reference: ClockReference) throws { try own.setClockReference(reference) }

  func setState(_ key: String, to value: [UInt8]?, of identifier: TaskIdentifier) throws {
    try own.setState(key, to: value, of: identifier)
  }

  func pluginHealth() throws -> [TaskIdentifier: PluginHealth] { try own.pluginHealth() }

  func setHealth(_ health: PluginHealth?, of identifier: TaskIdentifier) throws { try own.setHealth(health, of: identifier) }

  func pauses() throws -> [Pause] { try own.pauses() }

  func addPause(_ order: PauseOrder, since: WallTime) throws -> Pause { try own.addPause(order, since: since) }

  func removePause(_ id: PauseID) throws { try own.removePause(id) }

  func objectives() throws -> [TaskIdentifier: WallTime] { try own.objectives() }

  func setObjective(_ since: WallTime?, of identifier: TaskIdentifier) throws { try own.setObjective(since, of: identifier) }

  func lastSuccess(of identifier: TaskIdentifier) throws -> WallTime? { try own.lastSuccess(of: identifier) }

  func prune(before horizon: WallTime, keeping count: Int, limit: Int) throws -> Bool {
    try own.prune(before: horizon, keeping: count, limit: limit)
  }
}
