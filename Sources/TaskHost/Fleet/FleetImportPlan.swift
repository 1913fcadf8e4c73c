package import FleetStore
package import TaskModel
import TaskScheduler
package import TaskStore

/// Which of a store's requests go into a fleet, and which stay.
///
/// Requests that wait for each other go together, or stay together: a store and a fleet know nothing of each other's ends.
package struct FleetImportPlan {
  /// Why a request stays in its store, whose host runs it.
  package enum Stay: Sendable, Hashable {
    /// Its identifier is none of those that are moved.
    case otherIdentifier
    /// It was running, and its host records what becomes of that.
    case running
    /// A fleet does not offer it, with the sentence that says so.
    case unsupported(String)
    /// A live request of the fleet has its unique key.
    case uniqueKey
    /// The fleet has its idempotency key.
    case idempotencyKey
    /// It waits for a request that the archive does not have.
    case incomplete
    /// It waits for one that stays, or one that stays waits for it.
    case together
  }

  /// What the fleet has already.
  package struct Known: Sendable {
    /// What was imported before.
    package var imported: [RequestID: RequestID] = [:]
    /// The unique keys that live requests of the fleet hold.
    package var uniqueKeys: Set<FleetUniqueKey> = []
    /// Those of the archive's idempotency keys that the fleet has.
    package var idempotencyKeys: Set<String> = []

    package init() {}
  }

  /// Those that go: live ones and dead letters, oldest first.
  package private(set) var going: [ArchivedRequest] = []
  /// Ended ones that keys stand for.
  package private(set) var ended: [ArchivedRequest] = []
  package private(set) var staying: [(record: RequestRecord, why: Stay)] = []
  /// The idempotency keys that go.
  package private(set) var keys: [ArchivedRequests.Key] = []
  /// How many keys of ended requests the fleet has already: what they stand for there counts.
  package private(set) var keysLeft = 0
  /// How many of the archive the fleet has, or had, from an earlier import.
  package private(set) var alreadyThere = 0

  package init(_ archive: ArchivedRequests, of isWanted: (TaskIdentifier) -> Bool, known: Known) {
    let live = archive.live.filter { known.imported[$0.record.id] == nil }.sorted { $0.record.id < $1.record.id }
    alreadyThere = archive.live.count - live.count
    let there = Set(live.map(\.record.id))
    var reasons: [RequestID: Stay] = [:]
    var neighbours: [RequestID: [RequestID]] = [:]
    for request in live {
      let id = request.record.id
      reasons[id] = Self.reason(request.record, isWanted, known)
      // The end of any other is in the edge, with all that matters.
      for edge in request.edges where edge.ended == nil || edge.ended == .failed && request.record.state == .failed {
        guard there.contains(edge.predecessor) else {
          if edge.ended == nil { reasons[id] = reasons[id] ?? .incomplete }
          continue
        }
        neighbours[id, default: []].append(edge.predecessor)
        neighbours[edge.predecessor, default: []].append(id)
      }
    }
    var reached = Array(reasons.keys)
    while let id = reached.popLast() {
      for neighbour in neighbours[id] ?? [] where reasons[neighbour] == nil {
        reasons[neighbour] = .together
        reached.append(neighbour)
      }
    }
    for request in live {
      if let why = reasons[request.record.id] { staying.append((request.record, why)) } else { going.append(request) }
    }
    let over = archive.ended.filter { known.imported[$0.record.id] == nil }
    let named = archive.keys.filter { !known.idempotencyKeys.contains($0.key) }
    let standing = Set(named.map(\.request) + archive.windows.map(\.request))
    ended = over.filter { standing.contains($0.record.id) }
    let coming = Set((going + ended).map(\.record.id))
    keys = named.filter { coming.contains($0.request) }
    let ids = Set(over.map(\.record.id))
    keysLeft = archive.keys.count { ids.contains($0.request) && known.idempotencyKeys.contains($0.key) }
  }

  private static func reason(_ record: RequestRecord, _ isWanted: (TaskIdentifier) -> Bool, _ known: Known) -> Stay? {
    let request = record.request
    guard isWanted(request.identifier) else { return .otherIdentifier }
    if record.state == .running || record.state == .claimed { return .running }
    do throws(RequestRefusal) { try request.checkFleetScope() } catch { return .unsupported(error.message) }
    if record.state != .failed, let key = request.uniqueKey, known.uniqueKeys.contains(FleetUniqueKey(request.identifier, key)) {
      return .uniqueKey
    }
    if let key = request.idempotencyKey, known.idempotencyKeys.contains(key) { return .idempotencyKey }
    return nil
  }

  // MARK: Ids

  /// How many ids the fleet must draw for what goes: also for what is named and no longer on record.
  package var idCount: Int { going.count + ended.count + absent.count }

  /// Ended requests that are named as predecessors, and do not come along.
  private var absent: [RequestID] {
    let coming = Set((going + ended).map(\.record.id))
    var absent: Set<RequestID> = []
    for request in going {
      absent.formUnion(request.edges.map(\.predecessor).filter { !coming.contains($0) })
      for dependency in request.record.request.after {
        if case .request(let id) = dependency.predecessor, !coming.contains(id) { absent.insert(id) }
      }
    }
    return absent.sorted()
  }

  /// What goes, with ids of the fleet.
  ///
  /// - Parameter drawn: ``idCount`` ids.
  package func arrivals(
    _ drawn: [RequestID], known: [RequestID: RequestID], windows: [ArchivedRequests.Window]
  ) -> FleetImport {
    // An older request has a smaller id here too.
    let olds = (absent + (going + ended).map(\.record.id)).sorted()
    let ids = Dictionary(zip(olds, drawn.sorted())) { first, _ in first }.merging(known) { new, _ in new }
    var arrivals = FleetImport()
    for request in going + ended {
      arrivals.requests.append(FleetImport.Request(Self.renamed(request, ids), from: request.record.id))
    }
    let coming = Set((going + ended).map(\.record.id))
    arrivals.keys = keys.compactMap { key in
      ids[key.request].map { ArchivedRequests.Key(key: key.key, fingerprint: key.fingerprint, request: $0, submitted: key.submitted) }
    }
    arrivals.windows = windows.compactMap { window in
      guard coming.contains(window.request), let id = ids[window.request] else { return nil }
      return ArchivedRequests.Window(identifier: window.identifier, key: window.key, request: id, until: window.until)
    }
    return arrivals
  }

  private static func renamed(_ archived: ArchivedRequest, _ ids: [RequestID: RequestID]) -> ArchivedRequest {
    var request = archived
    request.record.id = ids[archived.record.id] ?? archived.record.id
    request.record.blockedBy = archived.record.blockedBy.flatMap { ids[$0] }
    // Its runs stay in the store, and so do the operator's pauses there.
    (request.record.run, request.record.setAside) = (nil, nil)
    if request.record.paused?.isParked == true { request.record.paused = nil }
    request.record.request.after = archived.record.request.after.map { dependency in
      guard case .request(let id) = dependency.predecessor else { return dependency }
      return Dependency(.request(ids[id] ?? id), onFailure: dependency.onFailure)
    }
    request.edges = archived.edges.map { edge in
      var edge = edge
      edge.predecessor = ids[edge.predecessor] ?? edge.predecessor
      return edge
    }
    return request
  }
}
