import Failpoints
import TaskModel

extension SchedulerCore {
  /// The origin of a submission, which decides the rules that apply.
  enum Submitter: Equatable {
    /// An application, over the control socket.
    case user
    /// A plugin, by the first identifier that it registered.
    case plugin(TaskIdentifier)
    /// The operator's configuration: its intervals are never raised, no cap refuses its requests, and they wait for a missing plugin.
    case operatorsConfiguration
    /// The host, which tells of the end of another request: also while it drains, and to a plugin that is missing now.
    case completion

    /// The plugin; nil for others.
    var plugin: TaskIdentifier? { if case .plugin(let plugin) = self { plugin } else { nil } }
  }

  /// Submits requests in order. A later one may name an earlier one as its predecessor, by position.
  ///
  /// - Throws: A refusal; it names its request as `[INDEX]` if there are several. The caller's savepoint undoes the others.
  func submit(_ requests: [TaskRequest], _ transaction: any StoreTransaction, now: WallTime) throws -> [Submission] {
    var submissions: [Submission] = []
    var ids: [RequestID] = []
    submissions.reserveCapacity(requests.count)
    ids.reserveCapacity(requests.count)
    // Iterate by index: enumerating would copy each request, and requests are large.
    for index in requests.indices {
      do {
        let submission = try submit(requests[index], earlier: ids, transaction, now: now)
        submissions.append(submission)
        ids.append(submission.id)
      } catch let refusal as RequestRefusal {
        throw requests.count > 1 ? refusal.at(index) : refusal
      }
    }
    return submissions
  }

  /// Adds a request, or applies its conflict policy.
  ///
  /// - Parameter earlier: The requests at the earlier positions of the same submission.
  func submit(
    _ submitted: TaskRequest, by submitter: Submitter = .user, earlier: [RequestID] = [], _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Submission {
    if let key = submitted.idempotencyKey {
      if let answer = try answer(to: submitted, again: key, by: submitter, transaction) { return answer }
      try checkKeys(of: submitter, transaction)
    }
    var notes: [String] = []
    // A request is large: it is copied once here, then passed along.
    var request = submitted
    try giveOwner(to: &request, by: submitter)
    if visiting != nil, submitter != .completion { try request.checkFleetScope() }
    try check(&request, by: submitter, notes: &notes, now: now)
    let edges = request.after.isEmpty ? [] : try predecessors(of: &request, earlier: earlier, notes: &notes, transaction)
    let arrival = Arrival(request: request, edges: edges, submitter: submitter, notes: notes)
    var submission = try submitted.uniqueKey == nil ? add(arrival, transaction, now: now) : place(arrival, transaction, now: now)
    if !pauses.isEmpty, let record = try transaction.request(submission.id) {
      submission.notes += pauses.holding(record, now: now).map { $0.note(at: now) }
    }
    if let key = submitted.idempotencyKey {
      let known = KnownSubmission(
        fingerprint: RequestFingerprint(of: submitted).value, request: submission.id, disposition: submission.disposition, submitted: now)
      if visiting != nil {
        // The fleet remembers it with the request.
        visiting?.keys[submission.id] = FleetSubmissionKey(key: key, fingerprint: known.fingerprint)
        visiting?.known[key] = known
      } else {
        try transaction.remember(known, key: key, by: submitter.plugin)
      }
    }
    return submission
  }

  /// A transfer is its submitter's: whoever submits it may be told of its end, with all that it says.
  func giveOwner(to request: inout TaskRequest, by submitter: Submitter) throws(RequestRefusal) {
    guard request.identifier == completions?.identifier, request.owner == nil else { return }
    // Before it has an owner, no tag of one is taken.
    try request.check()
    request.owner = submitter.plugin
    // All plugins share the identifier: no key of one is another's.
    if let plugin = submitter.plugin { request.uniqueKey = request.uniqueKey.map { plugin.scoped($0) } }
  }

  /// A validated request on its way in.
  struct Arrival {
    var request: TaskRequest
    /// Its predecessors, with the final states of those that have ended.
    var edges: [DependencyRecord]
    /// Requests whose runs must end first, in any way. Their outputs are not passed on.
    var waits: [RequestID] = []
    var disposition = Disposition.created
    let submitter: Submitter
    var notes: [String]
  }

  func add(_ arrival: consuming Arrival, _ transaction: any StoreTransaction, now: WallTime) throws -> Submission {
    let identifier = arrival.request.identifier
    let count = try liveCount(of: identifier, transaction)
    guard count < policy.maxPending || arrival.submitter == .operatorsConfiguration else {
      throw RequestRefusal(
        .limit, "\(identifier) has \(count) live requests, the maximum (max_pending): cancel some, or raise max_pending")
    }
    if arrival.request.uniqueKey != nil, arrival.request.uniqueWindow != nil {
      try checkWindows(of: identifier, for: arrival.submitter, transaction, now: now)
    }
    // If outputs are still missing, the payload is checked once it is complete.
    if arrival.edges.allSatisfy({ $0.ended != nil }) {
      arrival.request.payload = try fittingPayload(of: arrival.request, arrival.edges)
    }
    let open = arrival.waits + arrival.edges.filter { $0.ended == nil }.map(\.predecessor)
    let first = firstDue(of: arrival.request, now: now)
    let occurrence = arrival.request.repetition == nil ? nil : first
    let id: RequestID = visiting?.drawn.popLast() ?? nextID(now)
    let due = first.moved(by: offset(of: arrival.request, id))
    let isRelaxed = arrival.request.deadline.map { $0 <= now } ?? false
    let (disposition, notes) = (arrival.disposition, arrival.notes)
    let edges = arrival.waits.map { DependencyRecord(predecessor: $0, onFailure: .ignore) } + arrival.edges
    let record = RequestRecord(
      id: id, request: arrival.request, state: open.isEmpty ? .pending : .blocked, due: due, occurrence: occurrence,
      submitted: now, blockedBy: open.first, isRelaxed: isRelaxed)
    try transaction.insert(record)
    Failpoint.requestInserted.hit()
    if !edges.isEmpty {
      try transaction.insert(edges, of: record.id)
      awaited?.formUnion(open)
    }
    if let key = record.request.uniqueKey, let window = record.request.uniqueWindow {
      try hold(key, identifier, for: record.id, until: now + window, transaction, now: now)
    }
    turn.changes += 1
    countLive(identifier, by: 1)
    if open.isEmpty { becamePending(record) }
    if policy.traces != nil {
      turn.submitted.append(
        SubmittedRequest(id: id, identifier: identifier, traceparent: record.request.traceparent, time: record.submitted))
    }
    note(record)
    return answer(record, disposition, notes)
  }

  /// The answer to the submitter.
  func answer(_ record: RequestRecord, _ disposition: Disposition, _ notes: [String]) -> Submission {
    var effective = EffectiveSchedule(record)
    // A predecessor's end is unknown, and an ended request never starts.
    if record.state == .blocked || record.state.isFinal {
      effective.nextStart = .distantFuture
      effective.latestStart = .distantFuture
    }
    return Submission(id: record.id, disposition: disposition, nextStart: effective.nextStart, notes: notes, effective: effective)
  }

  /// When a newly submitted request is due, without its jitter.
  func firstDue(of request: TaskRequest, now: WallTime) -> WallTime {
    let earliest = max(request.earliestBegin ?? now, now)
    if request.event != nil { return .distantFuture }
    guard let rule = request.repetition, case .cron = rule.schedule else { return earliest }
    // Include `earliest` itself among the schedule's times.
    return occurrences.following(rule, earliest + .milliseconds(-1))
  }
}
