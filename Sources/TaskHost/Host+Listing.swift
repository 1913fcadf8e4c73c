import FleetStore
import HostThreads
public import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore

// What is here is read from the store; what the fleet has comes from its database. Of a request that this host holds for the fleet, the
// host knows more than the database.

extension Host {
  /// Why lists have only a part of what there is now: the fleet's database cannot be asked.
  public func listGap() async -> String? {
    fleet?.agent.trouble.map { "\($0): what the fleet has besides is not listed" }
  }

  /// The matching requests, newest first, without payloads.
  ///
  /// Those that are due by a time, and those that wait for events, are only the host's own and what it holds for its fleet.
  public func requests(_ query: RequestQuery) throws(RequestRefusal) -> [RequestRecord] {
    guard fleet != nil, query.dueBy == nil, !query.waitsForEvent else {
      return try read { () throws(StoreError) in try parts.requests.requests(query) }
    }
    let filter = try RequestFilter(query, now: SystemClock().wallTime)
    var found: [RequestRecord] = []
    var cursor = query.after
    while found.count < max(1, query.limit) {
      let page = try requests(matching: filter, after: cursor, limit: query.limit - found.count)
      found += page.records
      guard let next = page.next else { break }
      cursor = next
    }
    return found
  }

  /// The requests that match a filter, newest first, without payloads: those of the host, and those of its fleet, wherever they are.
  public func requests(
    matching filter: RequestFilter, after cursor: RequestID?, limit: Int
  ) throws(RequestRefusal) -> ScannedRequests {
    var scan = filter.scan
    (scan.after, scan.limit) = (cursor, limit)
    return try self.scan(scan, accepts: filter.accepts)
  }

  /// The requests of the host and of its fleet that ``RequestScan/covers(_:)`` and `accepts` hold for.
  func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(RequestRefusal) -> ScannedRequests {
    let own = try read { () throws(StoreError) in try store.scan(scan, accepts: accepts) }
    guard let fleet else { return own }
    guard let shared = try fleet.readIfThere({ (session) throws(FleetError) in try session.scan(scan, accepts: accepts) }) else {
      // Who asks for one by its id must not hear that there is none.
      guard scan.id == nil || !own.records.isEmpty else {
        throw RequestRefusal(.unavailable, "this host has no request whose id begins so, and its fleet's database cannot be asked now")
      }
      return own
    }
    var both = own.merged(with: shared, by: scan)
    for index in both.records.indices where fleet.has(both.records[index].id) {
      let id = both.records[index].id
      guard var held = try read({ () throws(StoreError) in try parts.requests.request(id) }) else { continue }
      held.request.payload = []
      both.records[index] = held
    }
    return both
  }

  /// A request with its payload.
  public func request(_ id: RequestID) throws(RequestRefusal) -> RequestRecord {
    if let record = try read({ () throws(StoreError) in try parts.requests.request(id) }) { return record }
    if let fleet, fleet.has(id) { return try fleet.request(id) }
    throw RequestRefusal(.notFound, "there is no request \(id)")
  }

  // MARK: Runs

  /// The matching runs: live ones of this host first, then ended ones, newest first. With a cursor, all are in one order, newest first.
  public func runs(_ query: RunQuery) async throws(RequestRefusal) -> [RunRecord] {
    var running = await liveRuns().filter(query.matches)
    let own = Set(running.map(\.id))
    var ended = try read { () throws(StoreError) in try store.runs(query) }
    if let fleet, query.request.map({ fleet.has($0) }) != false {
      ended += try fleet.readIfThere { (session) throws(FleetError) in try session.runs(query) } ?? []
      ended.sort { $0.id > $1.id }
      let there = try fleet.readIfThere { (session) throws(FleetError) in try session.running(query.request) } ?? []
      running += there.filter { other in query.matches(other) && !running.contains { $0.id == other.id } }
    }
    // What another host has told of its run is older than its end.
    let over = Set(ended.map(\.id)).intersection(running.map(\.id).filter { id in !own.contains(id) })
    let all = running.filter { !over.contains($0.id) } + ended.filter { ended in !own.contains(ended.id) }
    return Array((query.after == nil ? all : all.sorted { $0.id > $1.id }).prefix(query.limit))
  }

  /// A run, live or ended.
  public func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord {
    if let running = await liveRuns().first(where: { $0.id == id }) { return try traced(running) }
    if let record = try read({ () throws(StoreError) in try store.run(id) }) { return try traced(record) }
    if let fleet, let record = try fleet.readIfThere({ (session) throws(FleetError) in try session.run(id) }) ?? nil { return record }
    let there = try fleet?.readIfThere { (session) throws(FleetError) in try session.running(nil) } ?? []
    if let running = there.first(where: { $0.id == id }) { return running }
    throw RequestRefusal(.notFound, "there is no run \(id)")
  }

  /// The run with its trace, as long as its request is on record.
  private func traced(_ run: RunRecord) throws(RequestRefusal) -> RunRecord {
    let request: TaskRequest?
    do throws(StoreError) { request = try store.request(run.request)?.request } catch {
      guard case .damagedValue = error else { throw RequestRefusal(error) }
      // Its payload says nothing about the trace.
      request = nil
    }
    guard let request else { return run }
    var run = run
    run.report.trace = (request.traceparent ?? configuration.traceSampling?.root(of: run.request)).map {
      RunTrace(of: run.id, attempt: run.attempt, isRepeating: request.repetition != nil, parent: $0)
    }
    return run
  }

  private func liveRuns() async -> [RunRecord] {
    let entries = await withCheckedContinuation { continuation in scheduler.liveRuns { continuation.resume(returning: $0) } }
    return entries.map { events.live.complete($0.record) }
  }
}

extension ScannedRequests {
  /// What two stores have found for one scan, as if they were one.
  func merged(with other: ScannedRequests, by scan: RequestScan) -> ScannedRequests {
    func precedes(_ first: RequestID, _ second: RequestID) -> Bool { scan.oldestFirst ? first < second : first > second }
    // As far as both have looked.
    let horizon = [next, other.next].compactMap(\.self).min { precedes($0, $1) }
    var both = ScannedRequests()
    both.records = (records + other.records).filter { record in horizon.map { !precedes($0, record.id) } ?? true }
      .sorted { precedes($0.id, $1.id) }
    both.next = horizon
    let limit = max(1, scan.limit)
    if both.records.count > limit || both.records.count == limit && both.next == nil {
      both.records = Array(both.records.prefix(limit))
      both.next = both.records.last?.id
    }
    return both
  }
}
