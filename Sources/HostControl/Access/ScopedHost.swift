import RecordJSON
import TaskFilters
import TaskModel

/// A host as a client sees it that may see and change only some identifiers.
///
/// The one place that decides this. What has an id and belongs to another identifier does not exist for such a client; an identifier or an
/// event that it names itself is refused with what its token is for. Whatever concerns the whole host is refused by its route already.
struct ScopedHost: ControlledHost {
  private let host: any ControlledHost
  private let scope: AccessScope

  init(_ host: any ControlledHost, _ scope: AccessScope) { (self.host, self.scope) = (host, scope) }

  // MARK: What is in the scope

  private func checked(_ identifier: TaskIdentifier?, field: String = "identifier") throws(RequestRefusal) {
    guard let identifier else {
      throw RequestRefusal(.forbidden, "\(field): is missing: your token is only for \(scope), so name one of these", field: field)
    }
    guard scope.contains(identifier) else {
      throw RequestRefusal(.forbidden, "\(field): \(identifier) is not permitted: your token is only for \(scope)", field: field)
    }
  }

  private func own(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    let record = try await host.request(id)
    guard scope.contains(record.request.identifier) else { throw RequestRefusal(.notFound, "there is no request \(id)") }
    return record
  }

  // MARK: Requests

  func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] {
    try await check(requests)
    return try await host.submit(requests)
  }

  func submitOrPark(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] {
    try await check(requests)
    return try await host.submitOrPark(requests)
  }

  private func check(_ requests: [TaskRequest]) async throws(RequestRefusal) {
    for (index, request) in requests.enumerated() {
      do { try await check(request) } catch { throw requests.count > 1 ? error.at(index) : error }
    }
  }

  private func check(_ request: TaskRequest) async throws(RequestRefusal) {
    try checked(request.identifier)
    if request.identifier == .transfers, let target = TransferCompletions.target(ofPayload: request.payload) {
      try checked(target, field: "notify")
    }
    for edge in request.after {
      // A run reads the outputs of what it waits for.
      guard case .request(let id) = edge.predecessor else { continue }
      do { _ = try await own(id) } catch  where error.code == .notFound {
        throw RequestField.after.refusal(
          "there is no request \(id) to wait for: it may have ended so long ago that it is no longer on record")
      }
    }
  }

  func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    if let identifier = query.identifier, !scope.contains(identifier) { return [] }
    try checked(query.identifier)
    return try await host.requests(query)
  }

  func requests(
    matching filter: RequestFilter, after cursor: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> ScannedRequests {
    guard let filter = filter.narrowed(to: scope.patterns) else { return ScannedRequests() }
    return try await host.requests(matching: filter, after: cursor, limit: limit)
  }

  func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    try checked(query.identifier)
    return try await host.requestsWithProblems(query)
  }

  func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await own(id) }

  func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation {
    _ = try await own(id)
    return try await host.explanation(of: id)
  }

  func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    _ = try await own(id)
    return try await host.cancel(id)
  }

  func cancelAll(
    tag: String?, identifier: TaskIdentifier?, after: RequestID?, limit: Int?
  ) async throws(RequestRefusal) -> CancelledRequests {
    try checked(identifier)
    return try await host.cancelAll(tag: tag, identifier: identifier, after: after, limit: limit)
  }

  func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest {
    _ = try await own(id)
    return try await host.snooze(id, until: time)
  }

  func pause(_ id: RequestID, _ pause: RequestPause) async throws(RequestRefusal) -> RequestRecord {
    _ = try await own(id)
    return try await host.pause(id, pause)
  }

  func resume(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    _ = try await own(id)
    return try await host.resume(id)
  }

  func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    _ = try await own(id)
    return try await host.retry(id)
  }

  func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    try checked(identifier)
    return try await host.retryAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }

  func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    _ = try await own(id)
    return try await host.discard(id)
  }

  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    try checked(identifier)
    return try await host.discardAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }

  func carryOut(_ order: BulkOrder) async throws(RequestRefusal) -> BulkResult {
    guard let order = order.narrowed(to: scope.patterns) else { return BulkResult() }
    return try await host.carryOut(order)
  }

  // MARK: Runs and plugins

  func runs(_ query: RunQuery) async throws(RequestRefusal) -> (records: [RunRecord], next: RunID?) {
    var query = query
    if let identifier = query.identifier, !scope.contains(identifier) { return ([], nil) }
    query.identifiers =
      query.identifiers.isEmpty ? scope.patterns : query.identifiers.flatMap { own in scope.patterns.compactMap(own.intersection) }
    guard !query.identifiers.isEmpty else { return ([], nil) }
    return try await host.runs(query)
  }

  func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord {
    let record = try await host.run(id)
    guard scope.contains(record.identifier) else { throw RequestRefusal(.notFound, "there is no run \(id)") }
    return record
  }

  func plugins() async -> [PluginStatus] {
    await host.plugins().filter { $0.contract.map { scope.contains($0.identifier) } ?? false }
  }

  func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> PluginHealth {
    try checked(identifier)
    return try await host.release(identifier)
  }

  func debug(_ identifier: TaskIdentifier, by process: Int32) async throws(RequestRefusal) -> Int32 {
    try checked(identifier)
    return try await host.debug(identifier, by: process)
  }

  func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord {
    try checked(identifier)
    return try await host.simulateLaunch(identifier)
  }

  func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID] {
    try checked(identifier)
    return try await host.simulateExpiration(identifier)
  }

  // MARK: Events, the machine and the forecast

  func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    guard scope.contains(event: event) else {
      throw RequestRefusal(.forbidden, "the event \(event) is not permitted: your token is only for \(scope)", field: "name")
    }
    return try await host.notify(event, payload: payload)
  }

  func conditions() async throws(RequestRefusal) -> ConditionReport { try await host.conditions() }

  func forecast(
    hours: Int, limit: Int, of isWanted: @escaping @Sendable (TaskIdentifier) -> Bool
  ) async throws(RequestRefusal) -> Forecast {
    var forecast = try await host.forecast(hours: hours, limit: limit) { [scope] in scope.contains($0) && isWanted($0) }
    forecast.notes = []
    return forecast
  }

  func heldAssertions() async -> [Assertion] {
    await host.heldAssertions().filter { $0.request.run.map { scope.contains($0.identifier) } ?? false }
  }

  // MARK: The host as a whole

  // Their routes refuse such clients, except health and observation, which say nothing of identifiers or are filtered by their reader.

  private var ofHost: RequestRefusal { RequestRefusal(.forbidden, "this concerns the whole host, and your token is only for \(scope)") }

  func pause(_ order: PauseOrder, isDry: Bool) async throws(RequestRefusal) -> BegunPause { throw ofHost }
  func resume(_ selection: PauseSelection, ofFleet: Bool, by who: String) async throws(RequestRefusal) -> [Pause] { throw ofHost }
  func pauses() async -> [Pause] { [] }

  func listGap() async -> String? { await host.listGap() }
  var isInFleet: Bool { host.isInFleet }
  func overrideConditions(
    _ overrides: [(condition: Conditions, holds: Bool)]
  ) async throws(RequestRefusal) -> ConditionReport { throw ofHost }
  func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) -> ConditionReport { throw ofHost }
  func beginAssertion(_ request: AssertionRequest) async throws(RequestRefusal) -> Assertion { throw ofHost }
  func giveBackAssertion(_ id: AssertionID) async throws(RequestRefusal) -> Assertion { throw ofHost }
  func metrics() async -> HostMetrics { await host.metrics() }
  func status() async -> HostStatus { await host.status() }
  func loadedConfiguration() async -> LoadedConfiguration { LoadedConfiguration(file: nil, values: []) }
  func reload(isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport { throw ofHost }
  func approve(
    _ identifier: TaskIdentifier, _ fingerprint: String, reloads: Bool, by who: String
  ) async throws(RequestRefusal) -> ApprovalReport { throw ofHost }
  func revoke(_ identifier: TaskIdentifier, by who: String) async throws(RequestRefusal) -> RevocationReport { throw ofHost }
  func shutdown() async {}
  func health() async -> HostHealth { await host.health() }
  func observe(_ observer: HostObserver?) { host.observe(observer) }
  func settle() async { await host.settle() }
}
