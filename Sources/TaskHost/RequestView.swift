import FleetStore
import TaskModel
import TaskScheduler
import TaskStore

/// The requests and runs that a host shows and changes, to clients and to plugins: its own, and those of its fleet, wherever these are.
///
/// The host's own are read from its store; what the fleet has comes from its database. Of a request that this host holds for the fleet, the
/// host knows more than the database. All reading blocks.
struct RequestView: RecordReading {
  let scheduler: Scheduler
  /// The host's own.
  let store: any RequestStore
  /// The same, and what the host holds for its fleet.
  let held: any RequestStore
  /// Nil if the host is in none.
  let fleet: FleetView?

  /// Why lists have only a part of what there is now: the fleet's database cannot be asked.
  var gap: String? { fleet?.trouble.map { "\($0): what the fleet has besides is not listed" } }

  // MARK: Requests

  /// The matching requests, newest first, without payloads.
  ///
  /// Those that are due by a time, and those that wait for events, are only the host's own and what it holds for its fleet.
  func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord] {
    guard fleet != nil, query.dueBy == nil, !query.waitsForEvent else { return try held.requests(query) }
    return try RequestScan(query).all { (scan) throws(StoreError) in try self.scan(scan) { _ in true } }
  }

  /// The same, but looks at a bounded number of requests.
  ///
  /// - Parameter isWhole: Whether a part of them is of no use. Without the fleet's database, this throws then, unless the fleet has none.
  func scan(_ scan: RequestScan, isWhole: Bool = false, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests {
    let own = try store.scan(scan, accepts: accepts)
    guard let fleet else { return own }
    guard let shared = try scanFleet(scan, isWhole: isWhole, accepts: accepts) else {
      // Who asks for one by its id must not hear that there is none.
      guard scan.id == nil || !own.records.isEmpty else {
        throw .away("this host has no request whose id begins so, and its fleet's database cannot be asked now")
      }
      return own
    }
    var both = own.merged(with: shared, by: scan)
    for index in both.records.indices where fleet.has(both.records[index].id) {
      let id = both.records[index].id
      guard var held = try held.request(id) else { continue }
      held.request.payload = []
      both.records[index] = held
    }
    return both
  }

  /// The same for what the fleet has alone, as its database knows it; nil without a fleet, and if its database cannot be asked.
  func scanFleet(_ scan: RequestScan, isWhole: Bool, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests? {
    guard let fleet else { return nil }
    if let found = try fleet.readIfThere({ (session) throws(FleetError) in try session.scan(scan, accepts: accepts) }) { return found }
    let exact = scan.identifiers.compactMap(\.exact)
    guard !isWhole || !exact.isEmpty && exact.count == scan.identifiers.count && !shares(exact) else {
      throw .away("the fleet's database, which may have some of these requests, cannot be asked now")
    }
    return nil
  }

  /// A request with its payload; nil if there is none.
  func request(_ id: RequestID) throws(StoreError) -> RequestRecord? {
    if let record = try held.request(id) { return record }
    guard let fleet, fleet.has(id) else { return nil }
    return try fleet.read { (session) throws(FleetError) in try session.request(id) }
  }

  /// The waiting requests of these identifiers, as ``RequestStore/pendingRequests(of:after:)`` gives them.
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    guard shares(identifiers) else { return try held.pendingRequests(of: identifiers, after: request) }
    let records = try Self.waiting(of: identifiers, after: request, limit: PendingPage.requestLimit)
      .all { (scan) throws(StoreError) in try self.scan(scan, isWhole: true) { _ in true } }
    return try PendingPage(of: records, payloads(of: records.map(\.id)), besides: held)
  }

  /// The payloads of those that the fleet has and this host does not hold.
  private func payloads(of ids: [RequestID]) throws(StoreError) -> [RequestID: [UInt8]] {
    guard let fleet else { return [:] }
    var elsewhere: [RequestID] = []
    for id in ids where try fleetThatHas(id) != nil { elsewhere.append(id) }
    return elsewhere.isEmpty ? [:] : try fleet.read { [elsewhere] (session) throws(FleetError) in try session.payloads(of: elsewhere) }
  }

  /// What selects the waiting requests of these identifiers, the oldest first.
  static func waiting(of identifiers: [TaskIdentifier], after request: RequestID?, limit: Int) -> RequestScan {
    var scan = RequestScan()
    (scan.states, scan.identifiers) = ([.blocked, .pending, .claimed], identifiers.map(IdentifierPattern.init(_:)))
    (scan.oldestFirst, scan.after, scan.limit) = (true, request, limit)
    return scan
  }

  /// Whether the fleet has requests of one of these identifiers.
  func shares(_ identifiers: [TaskIdentifier]) -> Bool {
    fleet.map { fleet in identifiers.contains(where: fleet.identifiers.contains) } == true
  }

  /// The fleet, if it has the request, and this host does not hold it for the fleet.
  func fleetThatHas(_ id: RequestID) throws(StoreError) -> FleetView? {
    guard let fleet, fleet.has(id), try held.request(id) == nil else { return nil }
    return fleet
  }

  // MARK: Runs

  /// The matching runs that have ended, newest first, without output, log and trouble.
  func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] {
    let wanted = max(1, query.limit)
    var part = query
    var found: [RunRecord] = []
    repeat {
      part.limit = wanted - found.count
      let (records, next) = try scanRuns(part)
      found += records
      part.after = next
    } while part.after != nil && found.count < wanted
    return found
  }

  /// The same, but looks at a bounded number of runs.
  ///
  /// - Returns: Also the last run that was looked at: there may be more after it. Nil if there are none.
  func scanRuns(_ query: RunQuery) throws(StoreError) -> (records: [RunRecord], next: RunID?) {
    var here = query
    // The store compares only the sequences of ids.
    if let after = query.after, store.origin < after.origin, after.sequence < Self.beyondRuns.sequence {
      here.after = RunID(sequence: after.sequence + 1, origin: store.origin)
    }
    let own = try store.runs(here)
    let next = own.count < max(1, query.limit) ? nil : own.last?.id
    guard let fleet, query.request.map({ fleet.has($0) }) != false,
      let shared = try fleet.readIfThere({ (session) throws(FleetError) in try session.runs(query) })
    else { return (own, next) }
    return mergedPage(own + shared.records, looked: [next, shared.next], limit: query.limit, id: { $0.id }, precedes: { $0 > $1 })
  }

  /// Greater than the id of every run.
  static let beyondRuns = RunID(sequence: .max, origin: .max)

  /// The runs that go on at other hosts, as these have told of them last, newest first: of a request, or all.
  ///
  /// - Returns: Also the last run that was looked at, as ``scanRuns(_:)`` does.
  func runningElsewhere(_ request: RequestID?, after: RunID?) throws(StoreError) -> (records: [RunRecord], next: RunID?) {
    guard let fleet, request.map({ fleet.has($0) }) != false,
      let found = try fleet.readIfThere({ (session) throws(FleetError) in try session.running(request, after: after) })
    else { return ([], nil) }
    return (found, found.count < FleetSession.mostRunning ? nil : found.last?.id)
  }

  /// A run that goes on at another host; nil if none has told of it.
  func runningElsewhere(_ id: RunID) throws(StoreError) -> RunRecord? {
    guard let fleet else { return nil }
    let found = try fleet.readIfThere { (session) throws(FleetError) in try session.running(nil, run: id) }
    return found?.first
  }

  /// A run that has ended, with all fields; nil if there is none.
  func run(_ id: RunID) throws(StoreError) -> RunRecord? {
    if let record = try store.run(id) { return record }
    // Who asks for one by its id must not hear that there is none.
    return try fleet?.read { (session) throws(FleetError) in try session.run(id) } ?? nil
  }
}

extension PendingPage {
  /// Creates a page of pending requests with payloads that are elsewhere, and with those that a store has.
  init(of records: [RequestRecord], _ elsewhere: [RequestID: [UInt8]], besides store: any RequestStore) throws(StoreError) {
    do { try self.init(of: records) { id in try elsewhere[id] ?? store.request(id)?.request.payload ?? [] } } catch {
      throw error as? StoreError ?? .other("\(error)")
    }
  }
}

extension RequestScan {
  /// All that it finds, as many as it wants.
  ///
  /// - Parameter page: Looks at a part.
  func all(_ page: (RequestScan) throws(StoreError) -> ScannedRequests) throws(StoreError) -> [RequestRecord] {
    let wanted = max(1, limit)
    var (found, scan): ([RequestRecord], _) = ([], self)
    repeat {
      scan.limit = wanted - found.count
      let part = try page(scan)
      found += part.records
      scan.after = part.next
    } while scan.after != nil && found.count < wanted
    return found
  }
}

extension ScannedRequests {
  /// What two stores have found for one scan, as if they were one.
  func merged(with other: ScannedRequests, by scan: RequestScan) -> ScannedRequests {
    var both = ScannedRequests()
    (both.records, both.next) = mergedPage(records + other.records, looked: [next, other.next], limit: scan.limit, id: { $0.id }) {
      scan.oldestFirst ? $0 < $1 : $0 > $1
    }
    return both
  }
}

/// A page of what several have found, as if they were one.
///
/// - Parameters:
///   - looked: How far each of them has looked; nil if it has no more.
///   - precedes: The order of the ids.
/// - Returns: The page, and where the next one begins: after that id. Nil on the last page.
func mergedPage<Record, ID>(
  _ records: [Record], looked: [ID?], limit: Int, id: (Record) -> ID, precedes: (ID, ID) -> Bool
) -> (records: [Record], next: ID?) {
  let horizon = looked.compactMap(\.self).min { precedes($0, $1) }
  let found = records.filter { record in horizon.map { !precedes($0, id(record)) } ?? true }.sorted { precedes(id($0), id($1)) }
  let limit = max(1, limit)
  guard found.count > limit || found.count == limit && horizon == nil else { return (found, horizon) }
  let page = Array(found.prefix(limit))
  return (page, page.last.map { id($0) })
}
