import FleetStore
public import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore

// What clients are shown of requests and runs, see ``RequestView``.

extension Host {
  /// Why lists have only a part of what there is now: the fleet's database cannot be asked.
  public func listGap() async -> String? { view.gap }

  /// Whether it shares a queue with other hosts, whose requests are in its lists.
  public var isInFleet: Bool { fleet != nil }

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
  ///
  /// - Returns: Also where the next page begins; nil on the last page. The pages together have all, and some live ones again.
  public func runs(_ query: RunQuery) async throws(RequestRefusal) -> (records: [RunRecord], next: RunID?) {
    var live = await liveRuns().filter(query.matches)
    let own = Set(live.map(\.id))
    // What ends in between is among both.
    let (elsewhere, ended) = try await look { (view) throws(StoreError) in
      (try view.runningElsewhere(query.request, after: query.after), try view.scanRuns(query))
    }
    // What another host has told of its run is older than its end.
    let over = Set(ended.records.map(\.id))
    live += elsewhere.records.filter { query.matches($0) && !own.contains($0.id) && !over.contains($0.id) }
    let all = live + ended.records.filter { !own.contains($0.id) }
    guard query.after == nil else {
      return mergedPage(all, looked: [elsewhere.next, ended.next], limit: query.limit, id: { $0.id }, precedes: { $0 > $1 })
    }
    let page = Array(all.prefix(max(1, query.limit)))
    if page.count == all.count, elsewhere.next == nil { return (page, ended.next) }
    // The pages that follow are in one order: with live ones left out, that begins anew.
    let hasAllLive = page.count > live.count && elsewhere.next == nil
    return (page, hasAllLive ? page.last?.id : RequestView.beyondRuns)
  }

  /// A run, live or ended.
  public func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord {
    if let running = await liveRuns().first(where: { $0.id == id }) { return try traced(running) }
    let found = try await look { (view) throws(StoreError) -> RunRecord? in
      if let own = try view.store.run(id) { return own }
      // In this order: it may end in between.
      let elsewhere = try view.runningElsewhere(id)
      let ended = try view.run(id)
      return ended ?? elsewhere
    }
    if let found { return try traced(found) }
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
