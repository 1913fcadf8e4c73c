import FleetStore
public import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore

// What clients are shown of requests and runs, see ``RequestView``.

extension Host {
  /// Why lists have only a part of what there is now: the fleet's database cannot be asked.
  public func listGap() async -> String? { view.gap }

  /// The matching requests, newest first, without payloads.
  ///
  /// Those that are due by a time, and those that wait for events, are only the host's own and what it holds for its fleet.
  public func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    try await look { (view) throws(StoreError) in try view.requests(query) }
  }

  /// The requests that match a filter, newest first, without payloads: those of the host, and those of its fleet, wherever they are.
  public func requests(
    matching filter: RequestFilter, after cursor: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> ScannedRequests {
    var scan = filter.scan
    (scan.after, scan.limit) = (cursor, limit)
    return try await look { [scan] (view) throws(StoreError) in try view.scan(scan, accepts: filter.accepts) }
  }

  /// A request with its payload.
  public func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    if let record = try await look({ (view) throws(StoreError) in try view.request(id) }) { return record }
    throw RequestRefusal(.notFound, "\(fleet?.has(id) == true ? "the fleet has" : "there is") no request \(id)")
  }

  // MARK: Runs

  /// The matching runs: live ones of this host first, then ended ones, newest first. With a cursor, all are in one order, newest first.
  public func runs(_ query: RunQuery) async throws(RequestRefusal) -> [RunRecord] {
    var running = await liveRuns().filter(query.matches)
    let own = Set(running.map(\.id))
    let (ended, elsewhere) = try await look { (view) throws(StoreError) in
      (try view.runs(query), try view.runningElsewhere(query.request))
    }
    running += elsewhere.filter { query.matches($0) && !own.contains($0.id) }
    // What another host has told of its run is older than its end.
    let over = Set(ended.map(\.id)).intersection(running.map(\.id).filter { id in !own.contains(id) })
    let all = running.filter { !over.contains($0.id) } + ended.filter { ended in !own.contains(ended.id) }
    return Array((query.after == nil ? all : all.sorted { $0.id > $1.id }).prefix(query.limit))
  }

  /// A run, live or ended.
  public func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord {
    if let running = await liveRuns().first(where: { $0.id == id }) { return try traced(running) }
    if let record = try await look({ (view) throws(StoreError) in try view.run(id) }) { return try traced(record) }
    let elsewhere = try await look { (view) throws(StoreError) in try view.runningElsewhere(nil) }
    if let running = elsewhere.first(where: { $0.id == id }) { return running }
    throw RequestRefusal(.notFound, "there is no run \(id)")
  }

  /// The run with its trace, as long as its request is on record here.
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
