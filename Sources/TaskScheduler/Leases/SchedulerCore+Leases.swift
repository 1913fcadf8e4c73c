public import SchedulingLimits
public import TaskModel

/// Requests that the fleet gives to this host for a while. They run as the host's own do; a retry, or what cannot begin, goes back.
extension SchedulerCore {
  /// The time on the clock by which a request is due: that of the fleet's database, or the host's own, on which it is `now`.
  func now(for id: RequestID, _ now: WallTime) -> WallTime { id.origin == fleet ? fleetNow(now) : now }

  /// The time on the fleet's clock; `now` while it is not known.
  func fleetNow(_ now: WallTime) -> WallTime { fleetClock() ?? now }

  /// What a run of the request names as its host.
  func host(for id: RequestID) -> String? { id.origin == fleet ? fleetHost : nil }

  /// How many more requests of each lane could begin now.
  func demand(for lanes: [Lane], now: WallTime) -> [LaneDemand] {
    lanes.map { lane in
      guard mayStart, fleet != nil, let handler = handlers[lane.identifier] else { return LaneDemand(room: 0) }
      let state = handler.lane(lane.gates)
      let holds = holds(on: state, of: handler, now: now)
      var demand = LaneDemand(room: holds.isEmpty ? room(of: handler) : 0)
      demand.busy = handler.running + handler.queued + handler.held
      if let opening = holds.isEmpty ? now : opening(of: state, handler, now: now) {
        if opening > now { demand.opensIn = opening - now }
        if opening <= now + LaneDemand.soonTime { demand.soon = handler.begins(within: LaneDemand.soonTime) }
      }
      // What has no slot now may come ahead of its turn.
      guard holds.allSatisfy({ $0.gate == .plugin }) else { return demand }
      // What has limits would wait for them here, and another host could begin it.
      demand.spare = mayQueue(state, of: handler) ? handler.ahead * LaneDemand.spareTimes : 0
      let limits = policy.limits(of: lane.identifier)
      demand.rate = limits.rate
      if lane.gates.concurrencyKey != nil { (demand.runsPerKey, demand.ratePerKey) = (limits.runsPerKey, limits.ratePerKey) }
      return demand
    }
  }

  /// Takes requests into the store, pending.
  ///
  /// - Parameters:
  ///   - cancelled: Those of them that do not begin, because somebody has cancelled them.
  ///   - isOwner: Whether the host's lease still lasts.
  /// - Returns: Those that cannot be taken: no handler here, or their earlier run has not ended yet.
  func lease(
    _ requests: [LeasedRequest], cancelled: Set<RequestID> = [], while isOwner: () -> Bool, _ transaction: any StoreTransaction,
    now: WallTime
  ) throws -> [RequestID] {
    guard isOwner() else { return requests.map(\.record.id) }
    leaseIsOver = false
    var refused: [RequestID] = []
    for given in requests {
      var request = given
      guard !isDraining, handlers[given.record.request.identifier] != nil, given.record.state == .pending,
        try transaction.request(given.record.id) == nil
      else {
        refused.append(given.record.id)
        continue
      }
      let flaw = settle(&request.record, now: fleetNow(now))
      // The fleet has decided that it is due, whatever this host's clock says.
      request.record.due = min(request.record.due, now)
      var record = request.record
      // This host has no room for it now; another one may.
      if let flaw, flaw.code == .limit || flaw.code == .unavailable {
        refused.append(record.id)
        continue
      }
      try arrive(request, transaction)
      note(record)
      if cancelled.contains(record.id) {
        _ = try cancel(record.id, transaction, now: now)
      } else if let flaw {
        try endWaiting(&record, as: .failed, message: flaw.message, transaction, now: now)
      } else if record.losses >= Limits.lossesInARow {
        // As a loss on one host fails it: each owner was fenced while it held the request.
        let message = "lost with its host \(record.losses) times in a row"
        if record.isRepeating {
          try endOccurrence(&record, message: message, transaction, now: now)
        } else {
          try endWaiting(&record, as: .failed, message: message, transaction, now: now)
        }
      }
    }
    return refused
  }

  /// Ends the occurrence of a repeating request without a run, as a failure. It goes back until its next one.
  private func endOccurrence(_ record: inout RequestRecord, message: String, _ transaction: any StoreTransaction, now: WallTime) throws {
    (record.losses, record.attemptsSpent) = (0, 0)
    catchUpMissed(&record, now: fleetNow(now))
    try goOn(&record, transaction, now: fleetNow(now))
    let told = try tellEnd(of: record, as: .failed, output: [], transaction, now: now)
    (record.lastOutcome, record.lastMessage) = (.lost, told.note(message))
    try transaction.update(record)
    note(record)
    raise(HostEvents.failed(record.request.identifier))
    if !told.isTold { noteFailed(record, run: nil, message, now: now) }
    try surrender(record.id, transaction)
  }

  /// Decides what only a host knows. What could not have been submitted here fails for good: it would not get better elsewhere.
  ///
  /// - Returns: What is wrong with the request; nil if it may run.
  private func settle(_ record: inout RequestRecord, now: WallTime) -> RequestRefusal? {
    var notes: [String] = []
    do throws(RequestRefusal) {
      if record.request.isUnchecked { try complete(&record.request, by: .user, notes: &notes, now: now) }
      // Another host may have a newer plugin, whose contract is another.
      record.request.payload = try fittingPayload(of: record.request, [])
      return nil
    } catch { return error }
  }

  /// Checks a submission for the fleet, and gives it the operator's defaults.
  private func complete(
    _ request: inout TaskRequest, by submitter: Submitter, notes: inout [String], now: WallTime
  ) throws(RequestRefusal) {
    try request.checkFleetScope()
    if case .user = submitter { try request.checkSharedKey() }
    try draftingForFleet { () throws(RequestRefusal) in try check(&request, by: submitter, notes: &notes, now: now) }
    request.isUnchecked = false
  }

  /// Does `body`, which checks submissions, as it is done for the fleet.
  func draftingForFleet<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    draftsForFleet = true
    defer { draftsForFleet = false }
    return try body()
  }

  /// Takes a request of the fleet into the store. ``leave(_:_:)`` undoes it.
  func arrive(_ request: LeasedRequest, _ transaction: any StoreTransaction) throws {
    let record = request.record
    try request.insert(transaction)
    turn.tokensBefore.append((record.id, fencingTokens[record.id]))
    fencingTokens[record.id] = request.fencingToken
    guard !record.state.isFinal else { return }
    turn.changes += 1
    awaited?.formUnion(request.edges.filter { $0.ended == nil }.map(\.predecessor))
    countLive(record.request.identifier, by: 1)
    if record.state == .pending { becamePending(record) }
  }

  /// Gives back those of the requests that still wait.
  func giveBack(_ ids: [RequestID], _ transaction: any StoreTransaction) throws {
    for id in ids where try transaction.request(id)?.state == .pending { try surrender(id, transaction) }
  }

  /// Gives back what waits of the requests whose lease has ended, before anything begins: others may have them.
  func surrenderForsaken(_ transaction: any StoreTransaction) throws {
    if !forsaken.isEmpty { try giveBack(Array(forsaken), transaction) }
  }

  /// What has arrived has not.
  func takeBack(_ tokens: [(RequestID, Int64?)]) { for (id, token) in tokens.reversed() { fencingTokens[id] = token } }

  /// The turn is durable: what was given back is here no more.
  func forgetSurrendered() {
    for place in turn.surrendered.indices {
      let (id, token) = (turn.surrendered[place].record.id, turn.surrendered[place].fencingToken)
      // It may have come again in this turn.
      if fencingTokens[id] == token { fencingTokens[id] = nil }
    }
    forsaken.removeAll()
  }

  /// Gives back the requests of the fleet whose runs ended in this turn, and those that ended without one.
  func surrenderSettled(_ transaction: any StoreTransaction) throws {
    guard let fleet else { return }
    for entry in turn.ended where entry.request.origin == fleet { try surrender(entry.request, transaction) }
    // What the launcher gave back may begin elsewhere sooner.
    for claim in turn.released where claim.entry.request.origin == fleet { try surrender(claim.entry.request, transaction) }
    for id in turn.endedWaiting { try surrender(id, transaction) }
  }

  /// Gives a request of the fleet back. Nothing happens if it is gone already, or has begun again.
  func surrender(_ id: RequestID, _ transaction: any StoreTransaction) throws {
    if let given = try leave(id, transaction) { turn.surrendered.append(given) }
  }

  /// Removes a request of the fleet that waits or has ended from the store; nil if there is none.
  func leave(_ id: RequestID, _ transaction: any StoreTransaction) throws -> SurrenderedRequest? {
    guard var given = try transaction.surrender(id) else { return nil }
    given.fencingToken = fencingTokens[id]
    guard !given.record.state.isFinal else { return given }
    turn.changes += 1
    countLive(given.record.request.identifier, by: -1)
    handlers[given.record.request.identifier]?.forgetDue(of: given.record)
    return given
  }

  /// A submission for the fleet as this host would store it, with notes for the submitter. Its id is none: the fleet draws it.
  func draft(
    _ submitted: TaskRequest, by submitter: Submitter = .user, fleet: UInt64, now hostsTime: WallTime
  ) throws(RequestRefusal) -> FleetSubmission {
    let now = fleetNow(hostsTime)
    var notes: [String] = []
    var request = submitted
    try giveOwner(to: &request, by: submitter)
    try complete(&request, by: submitter, notes: &notes, now: now)
    request.payload = try fittingPayload(of: request, [])
    let id = RequestID(sequence: 0, origin: fleet)
    let first = firstDue(of: request, now: now)
    let record = RequestRecord(
      id: id, request: request, state: .pending, due: first.moved(by: offset(of: request, id)),
      occurrence: request.repetition == nil ? nil : first, submitted: now, isRelaxed: request.deadline.map { $0 <= now } ?? false)
    // What this host's own pauses hold, another host may run.
    notes += pauses.holding(record, now: now).filter(\.order.isOfFleet).map { $0.note(at: now) }
    return FleetSubmission(
      record: record, fingerprint: request.idempotencyKey == nil ? 0 : RequestFingerprint(of: submitted).value, notes: notes)
  }
}

/// How much of a lane a host could begin now, and the limits that hold for all hosts of its fleet together.
public struct LaneDemand: Sendable, Hashable {
  /// How many more runs could begin here.
  public var room: Int
  /// How many runs the identifier has now, with those that were handed out ahead.
  public var busy = 0
  /// How many more than `busy` and `room` the host may have of the identifier: while the database takes what has ended and gives more, short
  /// runs go on with these. It is the work of some milliseconds, so other hosts lose nothing by it.
  public var spare = 0
  /// How many more than `busy` and `room` will begin within a tenth of a second: what the host has besides is for others.
  public var soon = 0
  static let soonTime = Duration.milliseconds(100)
  /// Half of ``spare`` is at hand while the other half is claimed.
  static let spareTimes = 4
  /// How long until the lane opens by itself, if it is closed now; nil if something must happen first.
  public var opensIn: Duration?
  /// How often runs of the identifier may begin.
  public var rate: Rate?
  /// How many runs of the lane's concurrency key there may be at a time; nil if it has none.
  public var runsPerKey: Int?
  /// How often runs of the lane's concurrency key may begin.
  public var ratePerKey: Rate?
}

/// A request that the fleet gives to this host for a while.
public struct LeasedRequest: Sendable {
  /// The request with its payload, pending.
  public internal(set) var record: RequestRecord
  /// The payload of the event that woke it, for its next run; nil for the submitted one.
  public let eventPayload: [UInt8]?
  /// What its earlier runs saved, on whichever host; nil for nothing.
  public let checkpoint: [UInt8]?
  /// Greater than that of every earlier owner of the request.
  public let fencingToken: Int64?
  /// What it waits for, or waited for, if that matters.
  public var edges: [DependencyRecord] = []
  /// The output of its last run, if it has ended and that matters; nil if that is no longer on record.
  public var output: [UInt8]?

  /// Creates one.
  public init(_ record: RequestRecord, eventPayload: [UInt8]? = nil, checkpoint: [UInt8]? = nil, fencingToken: Int64? = nil) {
    (self.record, self.eventPayload, self.checkpoint, self.fencingToken) = (record, eventPayload, checkpoint, fencingToken)
  }

  func insert(_ transaction: any StoreTransaction) throws {
    try transaction.insert(record)
    if let eventPayload { try transaction.setEventPayload(eventPayload, of: record.id) }
    if let checkpoint { try transaction.setCheckpoint(checkpoint, of: record.id) }
    if !edges.isEmpty { try transaction.insert(edges, of: record.id) }
    guard let output else { return }
    // Of all that the run was, its output alone is asked for. Runs of different hosts may have the same sequence; requests have not.
    var report = RunReport()
    report.output = output
    try transaction.append(
      RunRecord(
        id: RunID(sequence: record.id.sequence + 1, origin: record.id.origin), request: record.id, identifier: record.request.identifier,
        attempt: record.attempt, started: record.submitted, ended: record.ended ?? record.submitted, outcome: .succeeded, report: report))
  }
}

/// A checked submission for the fleet.
public struct FleetSubmission: Sendable {
  /// The request, which has no id yet.
  public let record: RequestRecord
  /// A hash of what was submitted, for its idempotency key.
  public let fingerprint: UInt64
  /// Notes for the submitter.
  public let notes: [String]

  /// Whether it may change the request that holds its unique key.
  public var changesHolder: Bool { record.request.uniqueKey != nil && record.request.onConflict != .keep }

  /// The answer to the submitter, once the fleet has drawn the id.
  public func answer(_ id: RequestID, _ disposition: Disposition, isRepeated: Bool) -> Submission {
    Submission(
      id: id, disposition: disposition, nextStart: record.due, notes: notes, isRepeated: isRepeated,
      effective: disposition == .created ? EffectiveSchedule(record) : nil)
  }
}

extension TaskRequest {
  /// Whether its submission to a fleet depends on other requests: the host must look at them first.
  public var dependsOnOthers: Bool { !after.isEmpty || uniqueKey != nil && (onConflict == .append || uniqueWindow != nil) }

  /// Refuses what a fleet does not offer yet.
  public func checkFleetScope() throws(RequestRefusal) {
    func refuse(_ field: RequestField, _ what: String) -> RequestRefusal {
      RequestRefusal(
        .unsupported, "\(what) not offered for an identifier with scope = \"fleet\": use one with scope = \"host\"", field: field.rawValue)
    }
    if let event, event.path != nil || HostEvents.isRaised(event.name) {
      throw refuse(event.path == nil ? .event : .watch, "waiting for files and for events that a host raises is")
    }
    // Without a key, the share of the jitter would come from the id, which the database draws.
    if jitter > .zero, uniqueKey == nil { throw refuse(.jitter, "jitter_ms without a unique key is") }
  }

  /// Refuses a client's idempotency key that could be that of a plugin, where both are in one table.
  public func checkSharedKey() throws(RequestRefusal) {
    guard let idempotencyKey, idempotencyKey.hasPrefix(Self.pluginKeyPrefix) else { return }
    throw RequestField.idempotencyKey.refusal("keys that begin with \(Self.pluginKeyPrefix) are reserved for plugins: use another")
  }
}
