import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

/// Explains why requests are not running: for operators, and for plugins.
struct RequestExplainer: Sendable {
  let view: RequestView
  let lastRuns: LastRuns
  /// What the fleet calls this host.
  let host: String
  /// How many live requests a forecast reads at most.
  static let forecastRequests = 20_000

  /// Explains why a request is not running, its place in the queue, and when it starts if nothing changes. Blocks for up to about a quarter of
  /// a second, and until the fleet's database has answered.
  func explain(_ record: RequestRecord) throws(StoreError) -> RequestExplanation {
    let fleet = try view.fleetThatHas(record.id)
    let placement = try fleet?.read { (session) throws(FleetError) in
      try session.placement(of: record.id, preferring: record.request.gates.preferredHosts)
    }
    var explanation = try explainHere(record, fleet)
    if let placement { explanation.place(placement, of: record, at: host) }
    return explanation
  }

  /// The same as if the request were the host's own.
  ///
  /// - Parameter fleet: Where it and what it waits for are; nil if that is here.
  private func explainHere(_ record: RequestRecord, _ fleet: FleetView?) throws(StoreError) -> RequestExplanation {
    let store = view.held
    func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] {
      guard let fleet else { return try store.edges(of: id) }
      return try fleet.read { (session) throws(FleetError) in try session.edges(of: [id])[id] ?? [] }
    }
    let edges = record.request.after.isEmpty && record.blockedBy == nil ? [] : try edges(of: record.id)
    let obstacle = try RetryObstacle.find(for: record, edges: edges(of:), request: view.request(_:))
    var query = RunQuery()
    (query.request, query.limit) = (record.id, 1)
    let lastEnded = try store.runs(query).first?.ended
    let answer = Awaited<(RequestExplanation, ForecastBasis)>()
    view.scheduler.explanation(of: record, edges: edges, obstacle: obstacle, lastEnded: lastEnded) { answer.set(($0, $1)) }
    let (explanation, basis) = answer.wait()
    do { return try basis.complete(explanation, of: record) { try queue(dueBy: $0) } } catch {
      throw error as? StoreError ?? .other("\(error)")
    }
  }

  /// The live requests that are due by then, and those that wait for an event.
  func queue(dueBy to: WallTime) throws -> ForecastQueue {
    var query = RequestQuery()
    query.states = [.blocked, .pending, .claimed, .running]
    query.dueBy = to
    query.limit = Self.forecastRequests
    let store = view.held
    var requests = try store.requests(query)
    // The forecast lists requests that wait for an event, without a time.
    query.dueBy = nil
    query.waitsForEvent = true
    requests += try store.requests(query).filter { $0.due > to }
    let durations = try lastRuns.current(store).compactMapValues(\.duration)
    var edges: [RequestID: [DependencyRecord]] = [:]
    for request in requests where request.state == .blocked { edges[request.id] = try store.edges(of: request.id) }
    return ForecastQueue(requests, edges: edges, durations: durations)
  }
}
