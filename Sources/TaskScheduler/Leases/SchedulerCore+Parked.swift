public import TaskModel

// Submissions for the fleet that wait in the host's own store until the fleet's database answers.

extension SchedulerChange<[Submission]> {
  /// Keeps submissions for the fleet, all or none.
  public static func park(_ requests: [TaskRequest]) -> Self {
    Self { core, transaction, now in try core.park(requests, transaction, now: now) }
  }
}

extension SchedulerChange<[ParkedSubmission]> {
  /// The oldest parked submissions, at most `limit`.
  ///
  /// - Parameters:
  ///   - fleet: What the ids of the fleet's requests share.
  ///   - last: Skips those up to this one.
  public static func parked(fleet: UInt64, after last: RequestID?, limit: Int) -> Self {
    Self { core, transaction, _ in try core.parked(fleet: fleet, after: last, limit: limit, transaction) }
  }
}

extension SchedulerChange<Int> {
  /// How many submissions are parked.
  public static var parkedCount: Self { Self { core, transaction, _ in try core.parked(transaction).count } }
}

extension SchedulerChange<Bool> {
  /// The fleet has this parked submission, as another request. Returns false if it was cancelled here meanwhile.
  public static func unpark(_ id: RequestID, as new: RequestID) -> Self {
    Self { core, transaction, now in
      guard try transaction.request(id)?.state == .pending else { return false }
      try core.letGo(of: [id: new], transaction, now: now)
      return true
    }
  }
}

extension SchedulerChange<Void> {
  /// The fleet refuses this parked submission: it becomes a dead letter.
  public static func refuseParked(_ id: RequestID, because refusal: RequestRefusal) -> Self {
    Self { core, transaction, now in
      guard var record = try transaction.request(id), record.state == .pending, record.paused?.isParked == true else { return }
      try core.endWaiting(
        &record, as: .failed, message: "the fleet refused it: \(refusal.message)", tells: false, transaction, now: now)
    }
  }
}

/// A submission that waits for the fleet's database.
public struct ParkedSubmission: Sendable {
  /// Its id in the host's store.
  public let id: RequestID
  /// As it goes to the fleet. Its idempotency key lets it be there once, however often it is sent.
  public let submission: FleetSubmission
}

extension SchedulerCore {
  fileprivate func park(_ requests: [TaskRequest], _ transaction: any StoreTransaction, now: WallTime) throws -> [Submission] {
    for (index, request) in requests.enumerated() {
      do throws(RequestRefusal) {
        try request.checkParking()
        try request.checkSharedKey()
      } catch { throw requests.count > 1 ? error.at(index) : error }
    }
    var submissions = try draftingForFleet { try submit(requests, transaction, now: now) }
    for index in submissions.indices {
      guard try park(submissions[index], transaction, now: now) else { continue }
      submissions[index].isParked = true
      submissions[index].notes.append("the fleet's database is away: the host keeps the request, and submits it when that answers")
    }
    return submissions
  }

  /// Keeps what a plugin submits for the fleet while it launches: the store has it with the launch, and the fleet when its database answers.
  func park(_ request: TaskRequest, launching plugin: TaskIdentifier, _ transaction: any StoreTransaction, now: WallTime) throws {
    try request.checkParking()
    let submission = try draftingForFleet { try submit(request, by: .plugin(plugin), transaction, now: now) }
    _ = try park(submission, transaction, now: now)
  }

  /// Holds a new submission back until the fleet has it. Returns whether it is held.
  private func park(_ submission: Submission, _ transaction: any StoreTransaction, now: WallTime) throws -> Bool {
    guard var record = try transaction.request(submission.id), !record.state.isFinal else { return false }
    if submission.disposition == .created, !submission.isRepeated {
      record = try pause(submission.id, .parked(since: now), transaction, now: now)
    }
    return record.paused?.isParked == true
  }

  fileprivate func parked(_ transaction: any StoreTransaction) throws -> [RequestRecord] {
    let identifiers = Set(try transaction.lanesWithPending().filter(\.gates.isPaused).map(\.identifier))
    return try identifiers.flatMap { try transaction.waiting(of: $0).filter { $0.paused?.isParked == true && $0.id.origin != fleet } }
  }

  fileprivate func parked(
    fleet: UInt64, after last: RequestID?, limit: Int, _ transaction: any StoreTransaction
  ) throws -> [ParkedSubmission] {
    let left = try parked(transaction).filter { record in last.map { record.id > $0 } ?? true }
    return try left.sorted { $0.id < $1.id }.prefix(limit).map { record in
      var request = record.request
      request.payload = try transaction.submittedPayload(of: record.id)
      let known = try request.idempotencyKey.flatMap { try transaction.submission(withKey: $0, by: nil) }
      // It may have been sent before, and the answer lost.
      request.idempotencyKey = request.idempotencyKey ?? "parked:\(record.id)"
      let draft = RequestRecord(
        id: RequestID(sequence: 0, origin: fleet), request: request, state: .pending, due: record.due, occurrence: record.occurrence,
        submitted: record.submitted, isRelaxed: record.isRelaxed)
      let submission = FleetSubmission(
        record: draft, fingerprint: known?.fingerprint ?? RequestFingerprint(of: request).value, notes: [])
      return ParkedSubmission(id: record.id, submission: submission)
    }
  }
}

extension TaskRequest {
  /// Refuses what a host cannot keep for a fleet without looking at the fleet's requests.
  public func checkParking() throws(RequestRefusal) {
    try checkFleetScope()
    func refuse(_ field: RequestField, _ what: String) -> RequestRefusal {
      RequestRefusal(
        .unsupported, "\(what) cannot be parked while the fleet's database is away: submit it without park", field: field.rawValue)
    }
    if !after.isEmpty { throw refuse(.after, "what waits for other requests") }
    if uniqueKey != nil, onConflict != .keep { throw refuse(.onConflict, "a unique key with another on_conflict than \"keep\"") }
    if uniqueWindow != nil { throw refuse(.uniqueWindow, "a unique window") }
  }
}
