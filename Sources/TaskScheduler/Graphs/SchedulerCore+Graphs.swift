import Failpoints
import TaskModel

// Requests that wait for others. An edge always leads from a request to an older one: `after` names existing requests or earlier positions
// of the same submission; a replacing or appended request comes after the holder of its key; an update keeps the holder's edges. So ids
// decrease along every path, and cycles cannot occur.

extension SchedulerCore {
  /// Resolves the predecessors that a request names, with the final states of those that have ended. Rewrites `request.after` to their ids.
  ///
  /// - Parameter earlier: The requests at the earlier positions of the same submission.
  func predecessors(
    of request: inout TaskRequest, earlier: [RequestID], notes: inout [String], _ transaction: any StoreTransaction
  ) throws -> [DependencyRecord] {
    func refusal(_ message: String) -> RequestRefusal { RequestRefusal(.invalid, message, field: .after) }
    var edges: [DependencyRecord] = []
    for dependency in request.after {
      let id: RequestID
      switch dependency.predecessor {
      case .request(let named): id = named
      case .position(let position):
        guard earlier.indices.contains(position) else {
          throw refusal("@\(position) is not an earlier request of this submission: name one of those, counted from @0")
        }
        id = earlier[position]
      }
      guard (id.origin == fleet) == (visiting != nil) else {
        throw refusal(
          visiting == nil
            ? "\(id) is a request of the fleet, and this one is not: only requests of the fleet wait for it"
            : "\(id) is not a request of the fleet: requests of the fleet wait for those alone")
      }
      // Two positions may stand for the same request: the holder of their key.
      if let known = edges.firstIndex(where: { $0.predecessor == id }) {
        if dependency.onFailure == .fail { edges[known].onFailure = .fail }
        continue
      }
      guard let record = try transaction.request(id) else {
        throw refusal("there is no request \(id) to wait for: it may have ended so long ago that it is no longer on record")
      }
      guard !record.isRepeating else {
        throw refusal("\(id) repeats and never ends, so nothing can wait for it: submit a request without repetition, and wait for that")
      }
      var edge = DependencyRecord(predecessor: id, onFailure: dependency.onFailure)
      if record.state.isFinal {
        edge.ended = record.state
        guard record.state == .succeeded || edge.onFailure == .ignore else {
          throw refusal(
            "\(id) \(Self.ending(record.state)), so a request that waits for its success would never run: "
              + "\(record.state == .failed ? "retry it first (taskhost tasks retry \(id)), or " : "")wait with on_failure \"ignore\"")
        }
        if record.state == .succeeded {
          let output = try transaction.output(of: id)
          if output == nil { notes.append("\(id) has succeeded, but its run is no longer on record: its output is not passed on") }
          edge.output = output ?? []
        }
      }
      edges.append(edge)
    }
    request.after = edges.map { Dependency(.request($0.predecessor), onFailure: $0.onFailure) }
    return edges
  }

  /// A live request that waits for `predecessor`; nil if there is none.
  func liveDependant(of predecessor: RequestID, _ transaction: any StoreTransaction) throws -> RequestID? {
    try transaction.dependants(of: predecessor).first { try transaction.request($0)?.state == .blocked }
  }

  // MARK: Outputs

  /// The payload of a request merged with the outputs of its predecessors. Throws a refusal if they cannot be merged, or if the result does
  /// not fit the handler.
  func fittingPayload(of request: TaskRequest, _ edges: [DependencyRecord]) throws(RequestRefusal) -> [UInt8] {
    let payload: [UInt8]
    do { payload = try MergedPayload.of(request.payload, edges) } catch {
      throw RequestRefusal(error.isTooBig ? .tooBig : .invalid, error.message, field: .payload)
    }
    // An event may bring its payload later.
    if payload.isEmpty, request.event != nil { return payload }
    if let rejection = rejection(payload, request.identifier) {
      throw RequestRefusal(.invalid, "the payload does not fit the handler of \(request.identifier): \(rejection)", field: .payload)
    }
    return payload
  }

  // MARK: Ends

  /// Handles the final end of a request: its dependants become pending or end, as their edges say; so do theirs.
  func settleDependants(
    of predecessor: RequestID, ended: RequestState, output: [UInt8], _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    // A list instead of recursion: a chain may be longer than a stack is deep.
    var ends = [(id: predecessor, state: ended, output: output)]
    while let end = ends.popLast() {
      if awaited == nil { awaited = try transaction.awaitedPredecessors() }
      guard awaited?.remove(end.id) != nil else { continue }
      turn.changes += 1
      var broken: [(id: RequestID, state: RequestState, output: [UInt8])] = []
      for dependant in try transaction.settleEdges(from: end.id, ended: end.state, output: end.output) {
        if let state = try settle(dependant, transaction, now: now) { broken.append((dependant, state, [])) }
      }
      ends += broken.reversed()
    }
  }

  /// Handles the ends of predecessors that are in the edges of a request already, and what they do to those that wait for it.
  func decide(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws {
    guard let state = try settle(id, transaction, now: now) else { return }
    try settleDependants(of: id, ended: state, output: [], transaction, now: now)
  }

  /// Handles the end of a predecessor of the request. Returns how the request ended because of that; nil if it did not end.
  private func settle(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestState? {
    guard var record = try transaction.request(id), record.state == .blocked else { return nil }
    let edges: [DependencyRecord]
    do { edges = try transaction.edges(of: id) } catch let refusal as RequestRefusal {
      try endWaiting(&record, as: .failed, message: refusal.message, transaction, now: now)
      return .failed
    }
    if let broken = edges.first(where: { $0.onFailure == .fail && $0.ended != nil && $0.ended != .succeeded }), let ended = broken.ended {
      let message = "\(broken.predecessor), which must succeed first, \(Self.ending(ended))"
      try endWaiting(&record, as: ended, message: message, transaction, now: now)
      return ended
    }
    if let open = edges.first(where: { $0.ended == nil }) {
      record.blockedBy = open.predecessor
      try transaction.update(record)
      return nil
    }
    let payload: [UInt8]
    do {
      record.request.payload = try transaction.submittedPayload(of: id)
      payload = try fittingPayload(of: record.request, edges)
    } catch let error as RequestRefusal {
      try endWaiting(&record, as: .failed, message: error.message, transaction, now: now)
      return .failed
    }
    try record.apply(.unblocked)
    record.due = max(record.due, now)
    if payload == record.request.payload {
      try transaction.update(record)
    } else {
      record.request.payload = payload
      try transaction.rewrite(record)
    }
    Failpoint.chainResolved.hit()
    becamePending(record)
    note(record)
    return nil
  }
}
