import TaskModel

extension SchedulerCore {
  /// Makes a dead letter pending again, with all its attempts. Requests that failed because of it wait again.
  ///
  /// Nothing runs out of order: a live predecessor blocks the dead letter again, and a failed or cancelled predecessor causes a refusal,
  /// because the request would wait forever.
  func retry(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    _ = try redrive(id, transaction, now: now)
    return try find(id, transaction)
  }

  /// Makes dead letters pending again, except those whose unique key another request now holds.
  ///
  /// - Parameters:
  ///   - identifier: Only dead letters of this identifier, and requests that failed because of them; nil: all.
  ///   - tag: Only those with this tag, and requests that failed because of them; nil: all.
  ///   - after: Only those with a later id.
  ///   - limit: The maximum number of the identifier's dead letters to examine.
  func retryAll(
    identifier: TaskIdentifier?, tag: String? = nil, after: RequestID? = nil, limit: Int = .max, _ transaction: any StoreTransaction,
    now: WallTime
  ) throws -> RetriedRequests {
    var retried: Set<RequestID> = []
    var result = RetriedRequests()
    // Oldest first: a predecessor comes before the requests that failed because of it.
    let ids = try transaction.failed(of: identifier).filter { id in after.map { $0 < id } ?? true }
    for id in ids.prefix(limit) where !retried.contains(id) {
      if let tag, try transaction.request(id)?.request.tags.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) != true { continue }
      do { retried.formUnion(try redrive(id, transaction, now: now)) } catch let refusal as RequestRefusal where refusal.code == .conflict {
        // The refusal came before any change.
        result.refused.append(RetriedRequests.Refused(id: id, refusal))
      }
    }
    result.retried = retried.sorted()
    if ids.count > limit { result.last = ids.prefix(limit).last }
    return result
  }

  // MARK: Graphs

  /// Revives a dead letter and the requests that failed because of it. A refusal comes before any change.
  ///
  /// - Returns: The requests that are live again, the dead letter first.
  func redrive(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> [RequestID] {
    var record = try find(id, transaction)
    guard record.state == .failed else {
      throw RequestRefusal(.conflict, "request \(id) \(Self.ending(record.state)): only a failed request can be retried")
    }
    guard try isKeyFree(of: record, transaction) else {
      throw RequestRefusal(
        .conflict, "another request now holds the unique key \"\(record.request.uniqueKey ?? "")\": cancel it first",
        reason: "another request now holds its unique key")
    }
    if let obstacle = try RetryObstacle.find(for: record, edges: transaction.edges(of:), request: transaction.request(_:)) {
      throw Self.refusal(of: id, because: obstacle)
    }
    let edges = try presentEdges(of: record, transaction)
    var notes = try bringBack(&record, edges, transaction, now: now)
    let (dependants, left) = try redriveDependants(of: id, transaction, now: now)
    if !dependants.isEmpty { notes.append("\(Self.count(dependants.count, "request")) that failed because of it will run after it") }
    notes += left.prefix(Self.namedLeft)
    let unnamed = left.count - Self.namedLeft
    if unnamed > 0 { notes.append("\(unnamed) more \(unnamed == 1 ? "stays" : "stay") failed") }
    if !notes.isEmpty || record.lastOutcome == nil {
      record.lastMessage = notes.isEmpty ? nil : "retried: " + notes.joined(separator: "; ")
      try transaction.update(record)
    }
    note(record)
    return [id] + dependants
  }

  /// The maximum number of requests that a message names among those that stay failed.
  private static let namedLeft = 3

  /// Makes requests that failed because of a retried request blocked by it again, and so on. A request stays a dead letter if another
  /// predecessor did not succeed or its unique key is held; its record says why.
  ///
  /// - Returns: The requests that are live again, and a clause for each that stays a dead letter, with the reason.
  private func redriveDependants(
    of id: RequestID, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> (redriven: [RequestID], left: [String]) {
    // A list instead of recursion: a chain may be longer than a stack is deep.
    var redriven: [RequestID] = []
    var left: [String] = []
    var next: RequestID? = id
    var looked = 0
    while let predecessor = next {
      for dependant in try transaction.failedDependants(of: predecessor) {
        guard var record = try transaction.request(dependant) else { continue }
        let edges = try presentEdges(of: record, transaction)
        switch record.state {
        case .failed where record.lastOutcome == nil:
          if let reason = try obstacle(to: record, edges, transaction) {
            left.append("\(dependant) stays failed: \(reason)")
            // The predecessor that made it fail may have succeeded since.
            record.lastMessage = reason
            try transaction.update(record)
            note(record)
            continue
          }
          record.lastMessage = "\(predecessor) was retried, and this request waits for it again"
          _ = try bringBack(&record, edges, transaction, now: now)
          note(record)
          redriven.append(dependant)
        case .blocked:
          // It runs however its predecessor ends, but only after it.
          try transaction.insert(edges, of: dependant)
          awaited?.insert(predecessor)
          turn.changes += 1
        default: continue
        }
      }
      next = looked < redriven.count ? redriven[looked] : nil
      looked += 1
    }
    return (redriven, left)
  }

  /// Why a request that failed because of another cannot wait for it again; nil if it can.
  private func obstacle(
    to record: RequestRecord, _ edges: [DependencyRecord], _ transaction: any StoreTransaction
  ) throws -> String? {
    if let broken = edges.first(where: \.isBroken) {
      return "\(broken.predecessor), which must succeed first, \(Self.ending(broken.ended ?? .failed))"
    }
    guard try !isKeyFree(of: record, transaction) else { return nil }
    return "another request now holds the unique key \"\(record.request.uniqueKey ?? "")\": cancel it first"
  }

  /// The edges of a dead letter or a waiting request with the present states of its predecessors, which may have been retried. Empty if the
  /// request has run: all its predecessors had ended.
  private func presentEdges(of record: RequestRecord, _ transaction: any StoreTransaction) throws -> [DependencyRecord] {
    guard record.lastOutcome == nil else { return [] }
    var edges = try transaction.edges(of: record.id)
    for index in edges.indices {
      let (predecessor, known) = (edges[index].predecessor, edges[index].ended)
      edges[index].look(at: try transaction.request(predecessor)?.state)
      guard edges[index].ended != known else { continue }
      edges[index].output = edges[index].ended == .succeeded ? try transaction.output(of: predecessor) ?? [] : []
    }
    return edges
  }

  /// Whether a dead letter may have its unique key again: nobody holds it, or only a request that it was appended to, which got the key back when
  /// this one failed.
  private func isKeyFree(of record: RequestRecord, _ transaction: any StoreTransaction) throws -> Bool {
    guard let key = record.request.uniqueKey, let holder = try transaction.holder(of: key, identifier: record.request.identifier) else {
      return true
    }
    var seen: Set<RequestID> = [record.id]
    var next = [record]
    while let record = next.popLast() {
      for edge in try chainEdges(of: record, transaction) where edge.onFailure == .fail && seen.insert(edge.predecessor).inserted {
        if edge.predecessor == holder.id { return true }
        if let predecessor = try transaction.request(edge.predecessor) { next.append(predecessor) }
      }
    }
    return false
  }

  /// Takes the key that ``isKeyFree(of:_:)`` is free from the request that has it.
  private func takeKey(of record: RequestRecord, _ transaction: any StoreTransaction) throws {
    guard let key = record.request.uniqueKey, var holder = try transaction.holder(of: key, identifier: record.request.identifier)
    else { return }
    holder.request.uniqueKey = nil
    try transaction.update(holder)
    note(holder)
  }

  private static func refusal(of id: RequestID, because obstacle: RetryObstacle) -> RequestRefusal {
    let remedy = obstacle.command.map { "retry that one (\($0)), and this one runs after it" } ?? "submit both again"
    let ending = Self.ending(obstacle.ended) + (obstacle.isOnRecord ? "" : " and is no longer on record")
    return RequestRefusal(
      .conflict, "request \(id) runs only after \(obstacle.predecessor), which \(ending): \(remedy)",
      reason: "a request that it follows has not succeeded")
  }

  /// Makes a dead letter live again, with all its attempts: blocked while one of `edges` is open, else pending with the outputs of its
  /// predecessors.
  ///
  /// - Returns: Notes on what its payload lacks.
  private func bringBack(
    _ record: inout RequestRecord, _ edges: [DependencyRecord], _ transaction: any StoreTransaction, now: WallTime
  ) throws -> [String] {
    let open = edges.filter { $0.ended == nil }.map(\.predecessor)
    try takeKey(of: record, transaction)
    try record.apply(open.isEmpty ? .retried : .redriven)
    record.blockedBy = open.first
    record.ended = nil
    if !edges.isEmpty { try transaction.insert(edges, of: record.id) }
    awaited?.formUnion(open)
    var notes: [String] = []
    if open.isEmpty {
      record.due = now
      if let note = try takeOutputs(of: &record, edges, transaction) { notes.append(note) }
    } else {
      try transaction.update(record)
    }
    turn.changes += 1
    if record.state == .pending { becamePending(record) }
    countLive(record.request.identifier, by: 1)
    return notes
  }

  /// Writes a request whose predecessors have all ended, with their outputs in its payload.
  ///
  /// - Returns: A note on what its payload lacks; nil if nothing.
  private func takeOutputs(
    of record: inout RequestRecord, _ edges: [DependencyRecord], _ transaction: any StoreTransaction
  ) throws -> String? {
    var note: String?
    let submitted = try transaction.submittedPayload(of: record.id)
    record.request.payload = submitted
    if !edges.isEmpty {
      do { record.request.payload = try MergedPayload.of(submitted, edges) } catch {
        note = "it runs with only the submitted payload: \(error.message)"
      }
    }
    if record.request.payload == submitted { try transaction.update(record) } else { try transaction.rewrite(record) }
    return note
  }
}
