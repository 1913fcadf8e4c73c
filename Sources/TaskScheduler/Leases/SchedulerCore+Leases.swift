public import TaskModel

/// Requests that the fleet gives to this host for a while. They run as the host's own do; a retry, or what cannot begin, goes back.
extension SchedulerCore {
  /// How many more requests of each lane could begin now.
  func demand(for lanes: [Lane], now: WallTime) -> [Int] {
    guard mayStart, fleet != nil else { return lanes.map { _ in 0 } }
    return lanes.map { lane in
      guard let handler = handlers[lane.identifier], isOpen(handler.lane(lane.gates), of: handler, now: now) else { return 0 }
      return room(of: handler)
    }
  }

  /// Takes requests into the store, pending.
  ///
  /// - Parameters:
  ///   - unchecked: Those that no host has seen.
  ///   - isOwner: Whether the host's lease still lasts.
  /// - Returns: Those that cannot be taken: no handler here, or their earlier run has not ended yet.
  func lease(
    _ records: [RequestRecord], unchecked: Set<RequestID>, while isOwner: () -> Bool, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> [RequestID] {
    guard isOwner() else { return records.map(\.id) }
    leaseIsOver = false
    var refused: [RequestID] = []
    for given in records {
      var record = given
      guard !isDraining, handlers[record.request.identifier] != nil, record.state == .pending,
        try transaction.request(record.id) == nil
      else {
        refused.append(record.id)
        continue
      }
      let flaw = settle(&record, isUnchecked: unchecked.contains(record.id), now: now)
      // This host has no room for it now; another one may.
      if let flaw, flaw.code == .limit || flaw.code == .unavailable {
        refused.append(record.id)
        continue
      }
      try transaction.insert(record)
      turn.changes += 1
      countLive(record.request.identifier, by: 1)
      becamePending(record)
      note(record)
      if let flaw {
        try endWaiting(&record, as: .failed, message: flaw.message, transaction, now: now)
      } else if record.losses >= Limits.lossesInARow {
        // As a loss on one host fails it: each owner was fenced while it held the request.
        try endWaiting(
          &record, as: .failed, message: "lost with its host \(record.losses) times in a row", transaction, now: now)
      }
    }
    return refused
  }

  /// Decides what only a host knows. What could not have been submitted here fails for good: it would not get better elsewhere.
  ///
  /// - Returns: What is wrong with the request; nil if it may run.
  private func settle(_ record: inout RequestRecord, isUnchecked: Bool, now: WallTime) -> RequestRefusal? {
    var notes: [String] = []
    do throws(RequestRefusal) {
      if isUnchecked { try complete(&record.request, notes: &notes, now: now) }
      // Another host may have a newer plugin, whose contract is another.
      record.request.payload = try fittingPayload(of: record.request, [])
      return nil
    } catch { return error }
  }

  /// Checks a submission for the fleet, and gives it the operator's defaults.
  private func complete(_ request: inout TaskRequest, notes: inout [String], now: WallTime) throws(RequestRefusal) {
    try request.checkFleetScope()
    try check(&request, by: .user, notes: &notes, now: now)
  }

  /// Gives back those of the requests that still wait.
  func giveBack(_ ids: [RequestID], _ transaction: any StoreTransaction) throws {
    for id in ids where try transaction.request(id)?.state == .pending { try surrender(id, transaction) }
  }

  /// Gives back the requests of the fleet whose runs ended in this turn, and those that ended without one.
  func surrenderSettled(_ transaction: any StoreTransaction) throws {
    guard let fleet else { return }
    for entry in turn.ended where entry.request.origin == fleet { try surrender(entry.request, transaction) }
    // What the launcher gave back may begin elsewhere sooner.
    for claim in turn.released where claim.entry.request.origin == fleet { try surrender(claim.entry.request, transaction) }
    for id in turn.endedWaiting { try surrender(id, transaction) }
  }

  /// Nothing happens if the request is gone already, or has begun again.
  private func surrender(_ id: RequestID, _ transaction: any StoreTransaction) throws {
    guard let given = try transaction.surrender(id) else { return }
    turn.surrendered.append(given)
    guard !given.record.state.isFinal else { return }
    turn.changes += 1
    countLive(given.record.request.identifier, by: -1)
    handlers[given.record.request.identifier]?.forgetDue(of: given.record)
  }

  /// A submission for the fleet as this host would store it, with notes for the submitter. Its id is none: the fleet draws it.
  func draft(_ submitted: TaskRequest, fleet: UInt64, now: WallTime) throws(RequestRefusal) -> FleetSubmission {
    var notes: [String] = []
    var request = submitted
    try complete(&request, notes: &notes, now: now)
    request.payload = try fittingPayload(of: request, [])
    let id = RequestID(sequence: 0, origin: fleet)
    let due = firstDue(of: request, now: now)
    let record = RequestRecord(
      id: id, request: request, state: .pending, due: due, submitted: now, isRelaxed: request.deadline.map { $0 <= now } ?? false)
    return FleetSubmission(
      record: record, fingerprint: request.idempotencyKey == nil ? 0 : RequestFingerprint(of: submitted).value, notes: notes)
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

  /// The answer to the submitter, once the fleet has drawn the id.
  public func answer(_ id: RequestID, _ disposition: Disposition, isRepeated: Bool) -> Submission {
    Submission(
      id: id, disposition: disposition, nextStart: record.due, notes: notes, isRepeated: isRepeated,
      effective: disposition == .created ? EffectiveSchedule(record) : nil)
  }
}

extension TaskRequest {
  /// Refuses what a fleet does not offer yet.
  fileprivate func checkFleetScope() throws(RequestRefusal) {
    func refuse(_ field: RequestField, _ what: String) -> RequestRefusal {
      RequestRefusal(
        .unsupported, "\(what) not offered for an identifier with scope = \"fleet\": use one with scope = \"host\"", field: field.rawValue)
    }
    if repetition != nil { throw refuse(.every, "repeating requests are") }
    if event != nil { throw refuse(.event, "waiting for events is") }
    if !after.isEmpty { throw refuse(.after, "waiting for other requests is") }
    if uniqueWindow != nil { throw refuse(.uniqueWindow, "unique_window_ms is") }
    if jitter > .zero { throw refuse(.jitter, "jitter_ms is") }
    if uniqueKey != nil, onConflict != .none, onConflict != .keep { throw refuse(.onConflict, "on_conflict \(onConflict.rawValue) is") }
  }
}
