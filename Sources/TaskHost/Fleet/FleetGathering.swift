import FleetStore
import Logging
import TaskModel
import TaskScheduler

/// The requests of the fleet that come to the scheduler for an errand.
struct FleetGathering {
  var visitors = FleetVisitors()
  /// Those of the taken ones that the change is for; the others are there because it may reach them.
  var subjects: [RequestID] = []
  /// How many were taken, with those that do not come.
  var count = 0
  /// The notes of events that the taken ones need not be woken by again.
  var heard: [FleetNote] = []
  /// How many requests others have, and hear of the event when they are back.
  var noted = 0
  /// What of the errand's subject was left for another turn.
  var rest: FleetErrand.Subject?
}

extension FleetErrand {
  /// Submits requests that depend on others of the fleet.
  init(submitting requests: [TaskRequest], completion: @escaping @Sendable (Result<[Submission], RequestRefusal>) -> Void) {
    self.init(.submission(requests)) { _ in
      .submit(requests)
    } completion: {
      completion($0)
    }
  }

  /// Changes those of these requests that nobody has, for nobody who would have to be told.
  init<Value: Sendable>(
    untold ids: [RequestID], hearing heard: Heard = .nothing, _ change: @escaping @Sendable ([RequestID]) -> SchedulerChange<Value>
  ) {
    self.init(.some(ids), change) { _ in }
    self.heard = heard
  }
}

extension FleetExchanges {
  /// Takes what an errand changes, and reads what it looks at.
  func gather(
    for errand: FleetErrand, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Result<FleetGathering, RequestRefusal> {
    var gathering = FleetGathering()
    var taken: [ClaimedRequest]
    switch errand.subject {
    case .all(let ids):
      taken = try take(ids, for: errand, session, incarnation)
      for id in ids where !taken.contains(where: { $0.id == id }) {
        guard let record = try session.request(id) else {
          return .failure(RequestRefusal(.notFound, "the fleet has no request \(id)"))
        }
        guard record.state == .succeeded || record.state == .cancelled else { return .failure(Self.changed(id)) }
        // The scheduler says why an ended one cannot be changed.
        gathering.visitors.taken.append(LeasedRequest(record))
      }
      gathering.subjects = ids
    case .some(let ids, let event): taken = try takeSome(of: ids, hearing: event, for: errand, &gathering, session, incarnation)
    case .waiting(let event):
      taken = try takeSome(
        of: session.waiting(forEvent: event.name), hearing: event, for: errand, &gathering, session, incarnation)
    case .submission(let requests):
      switch try gatherKeys(of: requests, &gathering, session, incarnation) {
      case .success(let holders): taken = holders
      case .failure(let refusal): return .failure(refusal)
      }
    }
    let graph = taken.filter { (try? $0.record.get().isInGraph) == true }.map(\.id)
    // What was dead may wait for what has ended meanwhile.
    var edges = graph.isEmpty ? [:] : try session.takeEdges(incarnation, of: graph, with: errand.revives ? nil : taken.map(\.id))
    let ending = taken.filter { claim in !errand.decides || edges[claim.id]?.contains { $0.isBroken } == true }
    let followers = try takeFollowers(of: ending, besides: taken, session, incarnation)
    taken += followers
    gathering.count = taken.count
    // What else they wait for is decided at its time: the database's note of that stays.
    if !followers.isEmpty { try edges.merge(session.edges(of: followers.map(\.id))) { $1 } }
    // The texts of requests that had a key may be older than who holds it.
    let keyed = taken.filter { (try? $0.record.get())?.mayHaveKey == true }.map(\.id)
    let keys = try session.keys(of: keyed)
    for claim in taken {
      switch claim.record {
      case .success(var record):
        if record.mayHaveKey { record.request.uniqueKey = keys[claim.id] }
        var visitor = LeasedRequest(record, eventPayload: claim.eventPayload, checkpoint: claim.checkpoint)
        visitor.edges = edges[claim.id] ?? []
        gathering.visitors.taken.append(visitor)
      case .failure(let flaw):
        agent.log.error("request \(claim.id) of the fleet cannot be read: \(flaw)")
        agent.noteIllegible(claim.id)
      }
    }
    // The scheduler says of a dead letter whose key another request has why it stays one.
    let held = Set(taken.lazy.filter(\.isHeld).map(\.id))
    if errand.revives, !held.isEmpty {
      let wanted = gathering.visitors.taken.lazy.map(\.record).filter { held.contains($0.id) }.compactMap { record in
        record.request.uniqueKey.map { (identifier: record.request.identifier, key: $0) }
      }
      try see(session.holders(of: Array(wanted)).map(\.id), &gathering, session)
    }
    // Cancelled, it hands its key back.
    let chain = gathering.visitors.taken.filter { $0.record.state == .blocked && $0.record.mayHaveKey }
    try see(chain.flatMap { $0.edges.filter { $0.ended == nil }.map(\.predecessor) }, &gathering, session)
    if errand.revives, !edges.isEmpty { try see(session.leading(to: Array(edges.keys)), &gathering, session) }
    return .success(gathering)
  }

  /// Takes these, and what the errand may reach from them.
  private func take(
    _ ids: [RequestID], for errand: FleetErrand, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> [ClaimedRequest] {
    guard errand.revives else { return try session.take(incarnation, ids) }
    let wanted = Set(ids)
    let all = try ids + session.failed(becauseOf: ids).filter { !wanted.contains($0) }
    let count = max(ids.count, try countTogether(of: all, session, hasOutputs: true))
    if count < all.count {
      let what = "\(count - ids.count) of the \(all.count - ids.count) requests that failed because of it"
      agent.log.notice("\(what) are retried with \(ids.first?.description ?? "one"): the others are too large to go at once")
    }
    return try session.take(incarnation, Array(all[..<count]))
  }

  /// Takes as many of these as the database gives and takes at once.
  private func takeSome(
    of ids: [RequestID], hearing event: FleetEvent?, for errand: FleetErrand, _ gathering: inout FleetGathering,
    _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> [ClaimedRequest] {
    let count = try countTogether(of: ids, session)
    let some = Array(ids[..<count])
    if count < ids.count { gathering.rest = .some(Array(ids[count...]), hearing: event) }
    let wanted = Set(some)
    // What is noted from now on has come after this event, or with it.
    if case .allBefore = errand.heard { gathering.heard = try session.notes(of: some) }
    var taken = try take(some, for: errand, session, incarnation)
    if let event {
      // A newer host hears of it for what this one cannot read.
      var rest = wanted.subtracting(taken.filter(\.isReadable).map(\.id))
      // One that has just come or gone was neither free nor taken: it is looked for again.
      for _ in 0..<Self.mostLooks where !rest.isEmpty {
        let noted = try session.note(event, for: Array(rest))
        gathering.noted += noted.count
        rest.subtract(noted)
        guard !rest.isEmpty else { break }
        let free = try take(Array(rest), for: errand, session, incarnation)
        rest.subtract(free.filter(\.isReadable).map(\.id))
        taken += free
      }
    }
    gathering.subjects = taken.map(\.id).filter { wanted.contains($0) }
    if case .only(let event) = errand.heard {
      // Another host may have woken one by a later event since this host has read the note.
      gathering.heard = try session.notes(of: gathering.subjects).filter { $0.event == event }
      gathering.subjects = gathering.heard.map(\.request)
    } else {
      let heard = Set(taken.filter(\.isReadable).map(\.id))
      gathering.heard.removeAll { !heard.contains($0.request) }
      // One that has yet to hear of the same event, with a payload, hears of both by that.
      if let event, event.payload == nil {
        let waking = Set(gathering.heard.filter { $0.event.name == event.name && $0.event.payload != nil }.map(\.request))
        gathering.heard.removeAll { waking.contains($0.request) }
        gathering.subjects.removeAll { waking.contains($0) }
        gathering.noted += waking.count
      }
    }
    return taken
  }

  /// Takes what was appended under their unique keys to these, which may end: it ends too then, and its key goes to one before them.
  private func takeFollowers(
    of ending: [ClaimedRequest], besides taken: [ClaimedRequest], _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> [ClaimedRequest] {
    let links = ending.filter { claim in (try? claim.record.get()).map { $0.state == .blocked && $0.mayHaveKey } == true }
    guard !links.isEmpty else { return [] }
    let followers = try session.followers(of: links.map(\.id), besides: taken.map(\.id), most: Self.mostClaimed)
    guard !followers.isEmpty, try countTogether(of: followers, session, hasOutputs: true) == followers.count else { return [] }
    return try session.take(incarnation, followers)
  }

  private func countTogether(of ids: [RequestID], _ session: FleetSession, hasOutputs: Bool = false) throws(FleetError) -> Int {
    guard ids.count > Self.fewUnweighed else { return ids.count }
    let first = Array(ids.prefix(Self.mostClaimed))
    let bytes = try session.bytes(of: first, hasOutputs: hasOutputs)
    return FleetAgent.countTogether(first.count) { bytes[first[$0]] ?? 0 }
  }
  /// The most predecessors of what is submitted at once: the outputs of all of them are read.
  private static let mostPredecessors = 1000
  /// How often a request that comes or goes is looked for.
  private static let mostLooks = 4
  /// So few requests are never too many bytes.
  private static let fewUnweighed = 4

  private static func changed(_ id: RequestID) -> RequestRefusal {
    RequestRefusal(.conflict, "request \(id) has just changed, or a host of the fleet has it: look again, or wait for its end")
  }

  /// Reads requests that the change only looks at, with what they have handed on.
  private func see(_ ids: [RequestID], _ gathering: inout FleetGathering, _ session: FleetSession) throws(FleetError) {
    let there = Set(gathering.visitors.taken.map(\.record.id) + gathering.visitors.seen.map(\.record.id))
    let records = try session.seen(Array(Set(ids).subtracting(there)))
    let edges = try session.edges(of: records.filter { $0.state == .failed }.map(\.id))
    let outputs = try session.outputs(of: records.filter { $0.state == .succeeded }.map(\.id))
    let keys = try session.keys(of: records.filter(\.mayHaveKey).map(\.id))
    for var record in records {
      if record.mayHaveKey { record.request.uniqueKey = keys[record.id] }
      var guest = LeasedRequest(record)
      (guest.edges, guest.output) = (edges[record.id] ?? [], outputs[record.id])
      gathering.visitors.seen.append(guest)
    }
  }

  /// Takes the requests that hold the keys of a submission, and reads those that it only looks at.
  private func gatherKeys(
    of requests: [TaskRequest], _ gathering: inout FleetGathering, _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Result<[ClaimedRequest], RequestRefusal> {
    gathering.visitors.drawn = try session.draw(requests.count)
    gathering.visitors.known = try session.known(requests.compactMap(\.idempotencyKey))
    var seen = gathering.visitors.known.values.map(\.request)
    var named: Set<RequestID> = []
    for dependency in requests.flatMap(\.after) {
      if case .request(let id) = dependency.predecessor, id.origin == session.origin { named.insert(id) }
    }
    guard named.count <= Self.mostPredecessors else {
      let what = "the requests wait for \(named.count) others together, more than \(Self.mostPredecessors)"
      return .failure(RequestRefusal(.limit, "\(what): submit fewer of them at once", field: .after))
    }
    seen += named
    var policies: [FleetUniqueKey: Set<ConflictPolicy>] = [:]
    for request in requests {
      let isKnown = request.idempotencyKey.map { gathering.visitors.known[$0] != nil } == true
      guard let key = request.uniqueKey, request.onConflict != .none, !isKnown else { continue }
      policies[FleetUniqueKey(request.identifier, key), default: []].insert(request.onConflict)
    }
    let keys = policies.keys.map { ($0.identifier, $0.key) }
    gathering.visitors.windows = try session.windows(of: keys).map {
      HeldKey(identifier: $0.identifier, key: $0.key, request: $0.request, length: .zero)
    }
    seen += gathering.visitors.windows.map(\.request)
    var taken: [ClaimedRequest] = []
    var chains: [RequestID] = []
    for holder in try session.holders(of: keys) {
      let policies = policies[FleetUniqueKey(holder.identifier, holder.key)] ?? []
      let found = policies == [.keep] ? [] : try session.take(incarnation, [holder.id])
      taken += found
      if policies.isSubset(of: [.keep, .append]) {
        // One that a host runs is only looked at: it loses its key, and goes on.
        guard !found.isEmpty || policies == [.keep] || !holder.isStopping else { return .failure(Self.changed(holder.id)) }
        if found.isEmpty { seen.append(holder.id) }
      } else {
        guard !found.isEmpty else { return .failure(Self.changed(holder.id)) }
        chains.append(holder.id)
      }
    }
    func isTooMuch() -> Bool {
      taken.count > Self.mostClaimed || taken.indices.reduce(0) { $0 + taken[$1].bytes } > ClaimedRequest.bytesTogether
    }
    // What the holder was appended to makes way with it.
    while let id = chains.popLast() {
      guard let record = try? taken.first(where: { $0.id == id })?.record.get(), record.state == .blocked else { continue }
      let named = Set(record.request.after.map(\.predecessor))
      let edges = try session.takeEdges(incarnation, of: [id], with: [])[id] ?? []
      let links = edges.filter { $0.ended == nil && !named.contains(.request($0.predecessor)) }.map(\.predecessor)
      for link in links where !taken.contains(where: { $0.id == link }) {
        let found = try session.take(incarnation, [link])
        guard !found.isEmpty else { return .failure(Self.changed(link)) }
        taken += found
        guard !isTooMuch() else {
          let what = "too many requests follow each other under the unique key"
          return .failure(RequestRefusal(.limit, "\(what): cancel some of them first", field: .uniqueKey))
        }
        chains.append(link)
      }
    }
    let there = Set(taken.map(\.id))
    try see(seen.filter { !there.contains($0) }, &gathering, session)
    return .success(taken)
  }
}

extension ClaimedRequest {
  fileprivate var isReadable: Bool { if case .success = record { true } else { false } }
}

extension RequestRecord {
  /// Whether it lives or may live again, and holds a unique key or held one.
  fileprivate var mayHaveKey: Bool { (!state.isFinal || state == .failed) && request.onConflict != .none }

  /// Whether it waits for others, or ended while it did.
  fileprivate var isInGraph: Bool { state == .blocked || !request.after.isEmpty || state == .failed && lastOutcome == nil }
}
