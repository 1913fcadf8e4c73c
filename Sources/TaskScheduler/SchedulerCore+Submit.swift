import TaskModel

extension SchedulerCore {
  /// Who submits: decides which rules apply.
  enum Submitter {
    /// An application, or a plugin.
    case user
    /// The operator's configuration: its intervals are taken as they are, no cap refuses it, and it waits for a plugin that is missing.
    case operatorsConfiguration
  }

  /// Adds a request, or does what its conflict policy says.
  func submit(_ submitted: TaskRequest, by submitter: Submitter = .user, _ transaction: any StoreTransaction, now: WallTime) throws
    -> Submission
  {
    var notes: [String] = []
    let request = try check(submitted, by: submitter, notes: &notes)
    if let key = request.uniqueKey, let holder = try transaction.holder(of: key, identifier: request.identifier) {
      switch request.onConflict {
      case .keep:
        if holder.state == .running { notes.append("the holder of the key is running: this trigger is dropped") }
        return Submission(id: holder.id, disposition: .kept, nextStart: holder.due, notes: notes)
      case .replace:
        let predecessor = try makeWay(holder, transaction, now: now)
        return try add(request, after: predecessor, by: submitter, disposition: .replaced, notes: notes, transaction, now: now)
      case .none, .update, .append: break
      }
    }
    return try add(request, after: nil, by: submitter, disposition: .created, notes: notes, transaction, now: now)
  }

  private func add(
    _ request: TaskRequest, after predecessor: RequestID?, by submitter: Submitter, disposition: Disposition, notes: [String],
    _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Submission {
    let handler = handlers[request.identifier]
    let count = try handler?.liveRequests ?? transaction.liveCount(of: request.identifier)
    guard count < policy.maxPending || submitter == .operatorsConfiguration else {
      throw RequestRefusal(
        .limit, "\(request.identifier) has \(count) live requests, the most there may be (max_pending): cancel some, or raise it")
    }
    let due = max(request.earliestBegin ?? now, now)
    let record = RequestRecord(
      id: nextID(now), request: request, state: predecessor == nil ? .pending : .blocked, due: due,
      occurrence: request.repetition == nil ? nil : due, submitted: now, blockedBy: predecessor)
    try transaction.insert(record)
    turn.changes += 1
    handler?.liveRequests = count + 1
    if predecessor == nil { handler?.becamePending(due: due) }
    note(record)
    return Submission(id: record.id, disposition: disposition, nextStart: due, notes: notes)
  }

  /// Takes the key from its holder and ends it. Returns the request whose run the successor has to wait for; nil: none.
  private func makeWay(_ holder: RequestRecord, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestID? {
    var holder = holder
    holder.request.uniqueKey = nil
    if holder.state == .running {
      try requestStop(&holder, .replaced, transaction)
      return holder.id
    }
    let predecessor = holder.blockedBy
    try cancelWaiting(&holder, message: "replaced by a newer request", transaction, now: now)
    return predecessor
  }

  /// What is wrong with a request is said before anything is written.
  private func check(_ submitted: TaskRequest, by submitter: Submitter, notes: inout [String]) throws(RequestRefusal) -> TaskRequest {
    var request = submitted
    guard !isDraining else { throw RequestRefusal(.unavailable, "the host is draining: submit again when it is back") }
    if handlers[request.identifier] == nil {
      guard submitter == .operatorsConfiguration || policy.permitted?.contains(where: { $0.exact == request.identifier }) == true else {
        throw RequestRefusal(
          .unknownIdentifier,
          "no plugin registered \(request.identifier): see taskhost plugins list, or permit it by its full name to park requests for it",
          field: "identifier")
      }
      notes.append("no plugin has registered \(request.identifier): the request is parked until one does")
    }
    if standings[request.identifier]?.isQuarantined == true {
      notes.append("the plugin is quarantined: the request waits for taskhost plugins release \(request.identifier)")
    }
    guard request.payload.count <= Limits.payloadBytes else {
      throw RequestRefusal(.tooBig, "the payload has \(request.payload.count) bytes, more than \(Limits.payloadBytes)", field: "payload")
    }
    if let objection = objection(request.payload, request.identifier) {
      throw RequestRefusal(.invalid, "the payload does not fit the handler of \(request.identifier): \(objection)", field: "payload")
    }
    guard Limits.priorities.contains(request.priority) else {
      throw RequestRefusal(.invalid, "priority \(request.priority) is not in −10 … 10", field: "priority")
    }
    if let unsupported = request.unsupported { throw RequestRefusal(.unsupported, unsupported.sentence, field: unsupported.field) }
    if let key = request.uniqueKey {
      guard !key.isEmpty, key.utf8.count <= Limits.keyBytes else {
        throw RequestRefusal(
          .invalid, "the unique key has \(key.utf8.count) bytes; 1 to \(Limits.keyBytes) are allowed", field: "unique_key")
      }
      // Without a policy every submission is its own request, so it holds no key.
      if request.onConflict == .none { request.uniqueKey = nil }
    } else if request.onConflict != .none {
      throw RequestRefusal(.invalid, "on_conflict \(request.onConflict.rawValue) needs a unique key", field: "unique_key")
    }
    guard request.tags.count <= Limits.tags, request.tags.allSatisfy({ !$0.isEmpty && $0.utf8.count <= Limits.keyBytes }) else {
      throw RequestRefusal(.invalid, "at most \(Limits.tags) tags of 1 to \(Limits.keyBytes) bytes each are allowed", field: "tags")
    }
    if let interval = request.repetition?.interval {
      guard interval >= .milliseconds(1) else { throw RequestRefusal(.invalid, "the interval must be positive", field: "every_ms") }
      if submitter == .user, interval < policy.minimumInterval {
        request.repetition?.interval = policy.minimumInterval
        notes.append("the interval was raised to minimum_interval, \(policy.minimumInterval.wholeMilliseconds / 1000) s")
      }
    }
    request.retry = request.retry ?? policy.retry
    return request
  }
}
