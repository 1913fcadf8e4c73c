import CTaskHost
import TaskHostSDK

/// The requests and what becomes of them. All with the lock held.
extension HostCore {
  private static let snooze = Duration.seconds(1)
  private static let longestBackoff = Duration.seconds(5 * 3600)
  private static let mostPending = 10_000

  /// Adds a request, or does what its conflict policy says.
  func accept(_ request: SubmittedRequest) throws(CallFailure) -> SubmissionAnswer {
    guard !isDraining else { throw CallFailure(TASKHOST_EUNAVAILABLE, "the host is draining: submit again when it is back") }
    let holder = request.uniqueKey.flatMap { key in
      requestOrder.last { requests[$0]?.heldKey == key && requests[$0]?.submitted.identifier == request.identifier }
    }
    guard let holder, request.onConflict != .none else { return try add(request, after: nil, TASKHOST_CREATED) }
    switch request.onConflict {
    case .keep: return answer(holder, TASKHOST_KEPT)
    case .update:
      requests[holder]?.submitted = request
      if requests[holder]?.state != .running { requests[holder]?.due = due(request) }
      return answer(holder, TASKHOST_UPDATED)
    case .append: return try add(request, after: holder, TASKHOST_APPENDED)
    case .none, .replace:
      requests[holder]?.heldKey = nil
      guard let run = runs.first(where: { $0.report.requestID == holder }) else {
        let predecessor = requests[holder]?.blockedBy
        cancelRequest(holder)
        return try add(request, after: predecessor, TASKHOST_REPLACED)
      }
      let answer = try add(request, after: holder, TASKHOST_REPLACED)
      expire(run, .replaced)
      return answer
    }
  }

  private func add(_ request: SubmittedRequest, after predecessor: String?, _ disposition: Int) throws(CallFailure) -> SubmissionAnswer {
    guard requests.values.lazy.filter({ $0.isLive && $0.submitted.identifier == request.identifier }).count < Self.mostPending else {
      throw CallFailure(TASKHOST_ELIMIT, "\(request.identifier) has \(Self.mostPending) live requests, the most there may be")
    }
    let id = RequestIDs.id(newNumber(), unixMilliseconds: wallMilliseconds)
    requests[id] = RequestRecord(
      id: id, submitted: request, state: predecessor == nil ? .pending : .blocked, due: due(request), blockedBy: predecessor,
      heldKey: request.onConflict == .none ? nil : request.uniqueKey)
    requestOrder.append(id)
    return answer(id, disposition)
  }

  private func due(_ request: SubmittedRequest) -> RequestRecord.Due {
    request.earliestBeginUnixMilliseconds.map { .wall(unixMilliseconds: max($0, wallMilliseconds)) } ?? .clock(now)
  }

  private func answer(_ id: String, _ disposition: Int) -> SubmissionAnswer {
    SubmissionAnswer(id: id, disposition: UInt32(disposition), nextStartUnixMilliseconds: requests[id].map(nextStart) ?? 0)
  }

  /// The effective earliest start, milliseconds since 1970.
  private func nextStart(_ record: RequestRecord) -> Int64 { wallStart + moment(record.due).wholeMilliseconds }

  /// When that is on the clock.
  func moment(_ due: RequestRecord.Due) -> Duration {
    switch due {
    case .clock(let moment): moment
    case .wall(let unixMilliseconds): .milliseconds(unixMilliseconds - wallStart)
    }
  }

  /// The requests of these identifiers that wait, in the order of their submission.
  func waiting(of identifiers: [String]) -> [String] {
    requestOrder.filter { id in
      guard let record = requests[id] else { return false }
      return (record.state == .pending || record.state == .blocked) && identifiers.contains(record.submitted.identifier)
    }
  }

  /// What a plugin is shown of its requests.
  func pending(of handlers: [RegisteredHandler]) -> [PendingRequest] {
    waiting(of: handlers.map(\.identifier)).compactMap { id in
      guard let record = requests[id], let handler = handlers.first(where: { $0.identifier == record.submitted.identifier }) else {
        return nil
      }
      return PendingRequest(
        id: id, identifier: record.submitted.identifier, payload: record.submitted.payload,
        conditions: record.submitted.conditions.rawValue,
        earliestBeginUnixMilliseconds: record.submitted.earliestBeginUnixMilliseconds ?? 0, nextStartUnixMilliseconds: nextStart(record),
        attempt: UInt32(clamping: record.attempt), kind: handler.kind.code)
    }
  }

  /// Cancels a request: one that waits is, one that runs expires.
  func cancelRequest(_ id: String) {
    guard let record = requests[id], record.isLive else { return }
    if let run = runs.first(where: { $0.report.requestID == id }) { return expire(run, .cancelled) }
    end(id, as: .cancelled)
  }

  /// Decides what a request does after its run has ended.
  func requestEnded(_ run: RunState) {
    let id = run.report.requestID
    requests[id]?.runs.append(run.report)
    guard let record = requests[id], let outcome = run.report.outcome else { return }
    switch outcome {
    case .succeeded, .noop: end(id, as: .succeeded)
    case .failed: end(id, as: .failed)
    case .cancelled: end(id, as: .cancelled)
    case .snoozed: wait(id, until: now + (run.report.retryAfter ?? Self.snooze))
    case .stopped: wait(id, until: now)
    case .retried, .expired, .crashed:
      requests[id]?.attemptsSpent += 1
      let spent = record.attemptsSpent + 1
      guard spent < options.attempts else { return end(id, as: .failed) }
      wait(id, until: now + (run.report.retryAfter ?? backoff(afterAttempt: spent)))
    }
  }

  private func wait(_ id: String, until moment: Duration) {
    requests[id]?.state = .pending
    requests[id]?.due = .clock(moment)
  }

  private func backoff(afterAttempt attempt: Int) -> Duration {
    min(Self.longestBackoff, options.initialBackoff * Int(1 << min(attempt - 1, 30)))
  }

  /// Ends a request, and unblocks or ends what waited for it.
  private func end(_ id: String, as state: HostedRequest.State) {
    guard let record = requests[id] else { return }
    requests[id]?.state = state
    requests[id]?.checkpoint = nil
    requests[id]?.heldKey = nil
    requests[id]?.blockedBy = nil
    // One that failed for good has spent its last attempt: the number stays that of its last run.
    if state == .failed, record.attemptsSpent > 0, let last = record.runs.last { requests[id]?.attemptsSpent = last.attempt - 1 }
    for other in requestOrder where requests[other]?.blockedBy == id {
      requests[other]?.blockedBy = nil
      if state == .failed, requests[other]?.submitted.onConflict == .append {
        end(other, as: .failed)
      } else {
        requests[other]?.state = .pending
      }
    }
  }
}
