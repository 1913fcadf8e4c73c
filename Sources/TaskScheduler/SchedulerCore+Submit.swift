import Failpoints
import TaskModel

extension SchedulerCore {
  /// Who submits: decides which rules apply.
  enum Submitter {
    /// An application, or a plugin.
    case user
    /// The operator's configuration: its intervals are taken as they are, no cap refuses it, and it waits for a plugin that is missing.
    case operatorsConfiguration
  }

  /// Submits requests in their order. A later one may wait for an earlier one by its position.
  ///
  /// - Throws: A refusal that names the one it is about as `[INDEX]` when there are several. The caller's savepoint undoes the others.
  func submit(_ requests: [TaskRequest], _ transaction: any StoreTransaction, now: WallTime) throws -> [Submission] {
    var submissions: [Submission] = []
    var ids: [RequestID] = []
    submissions.reserveCapacity(requests.count)
    for (index, request) in requests.enumerated() {
      do {
        let submission = try submit(request, earlier: ids, transaction, now: now)
        submissions.append(submission)
        ids.append(submission.id)
      } catch var refusal as RequestRefusal {
        if requests.count > 1 { refusal.field = "[\(index)]" + (refusal.field.map { ".\($0)" } ?? "") }
        throw refusal
      }
    }
    return submissions
  }

  /// Adds a request, or does what its keys say.
  ///
  /// - Parameter earlier: What stands for the requests before it in the same submission.
  func submit(
    _ submitted: TaskRequest, by submitter: Submitter = .user, earlier: [RequestID] = [], _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Submission {
    if let key = submitted.idempotencyKey, let answer = try answer(to: submitted, again: key, transaction) { return answer }
    var notes: [String] = []
    var request = try check(submitted, by: submitter, notes: &notes, now: now)
    let edges = request.after.isEmpty ? [] : try predecessors(of: &request, earlier: earlier, notes: &notes, transaction)
    let submission = try place(Arrival(request: request, edges: edges, submitter: submitter, notes: notes), transaction, now: now)
    if let key = submitted.idempotencyKey {
      try transaction.remember(
        KnownSubmission(
          fingerprint: RequestFingerprint(of: submitted).value, request: submission.id, disposition: submission.disposition,
          submitted: now),
        key: key)
    }
    return submission
  }

  /// A request that is on its way in, as it was found to be right.
  struct Arrival {
    var request: TaskRequest
    /// What it names as its predecessors; of those that have ended, how.
    var edges: [DependencyRecord]
    /// Requests whose runs must end first, whatever comes of them: nothing of theirs is passed on.
    var waits: [RequestID] = []
    var disposition = Disposition.created
    let submitter: Submitter
    var notes: [String]
  }

  /// Adds a request that is new.
  func add(_ arrival: Arrival, _ transaction: any StoreTransaction, now: WallTime) throws -> Submission {
    var request = arrival.request
    let count = try liveCount(of: request.identifier, transaction)
    guard count < policy.maxPending || arrival.submitter == .operatorsConfiguration else {
      throw RequestRefusal(
        .limit, "\(request.identifier) has \(count) live requests, the most there may be (max_pending): cancel some, or raise it")
    }
    // What is not complete yet is looked at when it is.
    if arrival.edges.allSatisfy({ $0.ended != nil }) { request.payload = try fittingPayload(of: request, arrival.edges) }
    let open = arrival.waits + arrival.edges.filter { $0.ended == nil }.map(\.predecessor)
    let due = firstDue(of: request, now: now)
    let record = RequestRecord(
      id: nextID(now), request: request, state: open.isEmpty ? .pending : .blocked, due: due,
      occurrence: request.repetition == nil ? nil : due, submitted: now, blockedBy: open.first,
      isRelaxed: request.deadline.map { $0 <= now } ?? false)
    try transaction.insert(record)
    Failpoint.requestInserted.hit()
    let edges = arrival.waits.map { DependencyRecord(predecessor: $0, onFailure: .ignore) } + arrival.edges
    if !edges.isEmpty {
      try transaction.insert(edges, of: record.id)
      awaited?.formUnion(open)
    }
    if let key = request.uniqueKey, let window = request.uniqueWindow {
      try transaction.hold(key, identifier: request.identifier, for: record.id, until: now + window)
    }
    turn.changes += 1
    countLive(request.identifier, by: 1)
    if open.isEmpty { becamePending(record) }
    note(record)
    return answer(record, arrival.disposition, arrival.notes)
  }

  /// What the submitter of a request learns of it.
  func answer(_ record: RequestRecord, _ disposition: Disposition, _ notes: [String]) -> Submission {
    var effective = EffectiveSchedule(record)
    // Nobody knows when its predecessor ends; one that has ended never starts.
    if record.state == .blocked || record.state.isFinal {
      effective.nextStart = .distantFuture
      effective.latestStart = .distantFuture
    }
    return Submission(id: record.id, disposition: disposition, nextStart: effective.nextStart, notes: notes, effective: effective)
  }

  /// When a request that is submitted now is due.
  func firstDue(of request: TaskRequest, now: WallTime) -> WallTime {
    let earliest = max(request.earliestBegin ?? now, now)
    if request.event != nil { return .distantFuture }
    guard let rule = request.repetition, case .cron = rule.schedule else { return earliest }
    // The times of a calendar are those after the moment, and the moment itself.
    return occurrences.following(rule, earliest + .milliseconds(-1))
  }
}
