import HostThreads
import RecordJSON
import TaskFilters
import TaskModel

/// Hides members of the payloads that a host gives. The API, the dashboard and the stream all ask this host, so no client sees them.
struct RedactedHost: ControlledHost {
  private let host: any ControlledHost
  /// What is hidden now.
  private let redacting: @Sendable () -> PayloadRedaction

  init(_ host: any ControlledHost, _ redacting: @escaping @Sendable () -> PayloadRedaction) {
    (self.host, self.redacting) = (host, redacting)
  }

  private func shown(_ record: RequestRecord) -> RequestRecord {
    let redaction = redacting()
    guard !redaction.isEmpty else { return record }
    var record = record
    record.request.payload = redaction.redacted(record.request.payload)
    return record
  }

  /// What is selected by a hidden value would tell it.
  private func check(_ filter: RequestFilter) throws(RequestRefusal) {
    let redaction = redacting()
    guard let path = filter.payloadPaths.first(where: redaction.hides) else { return }
    throw RequestRefusal(
      .invalid, "filter: payload.\(path.joined(separator: ".")) is redacted by the configuration, so nothing can be selected by it",
      field: "filter")
  }

  // MARK: Requests

  func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] { try await host.submit(requests) }

  func submitOrPark(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] { try await host.submitOrPark(requests) }

  func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] { try await host.requests(query).map(shown) }

  func requests(
    matching filter: RequestFilter, after cursor: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> ScannedRequests {
    try check(filter)
    var found = try await host.requests(matching: filter, after: cursor, limit: limit)
    found.records = found.records.map(shown)
    return found
  }

  func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    try await host.requestsWithProblems(query).map(shown)
  }

  func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { shown(try await host.request(id)) }

  func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation { try await host.explanation(of: id) }

  func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { shown(try await host.cancel(id)) }

  func cancelAll(
    tag: String?, identifier: TaskIdentifier?, after: RequestID?, limit: Int?
  ) async throws(RequestRefusal) -> CancelledRequests {
    try await host.cancelAll(tag: tag, identifier: identifier, after: after, limit: limit)
  }

  func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest {
    let snoozed = try await host.snooze(id, until: time)
    return SnoozedRequest(record: shown(snoozed.record), notes: snoozed.notes)
  }

  func pause(_ id: RequestID, _ pause: RequestPause) async throws(RequestRefusal) -> RequestRecord {
    shown(try await host.pause(id, pause))
  }

  func resume(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { shown(try await host.resume(id)) }

  func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { shown(try await host.retry(id)) }

  func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    try await host.retryAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }

  func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { shown(try await host.discard(id)) }

  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    try await host.discardAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }

  func carryOut(_ order: BulkOrder) async throws(RequestRefusal) -> BulkResult {
    try check(order.filter)
    return try await host.carryOut(order)
  }

  func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord {
    shown(try await host.simulateLaunch(identifier))
  }

  /// A pause counts what its filter selects.
  func pause(_ order: PauseOrder, isDry: Bool) async throws(RequestRefusal) -> BegunPause {
    if let filter = try? RequestFilter(order.filter, now: SystemClock().wallTime) { try check(filter) }
    return try await host.pause(order, isDry: isDry)
  }

  func observe(_ observer: HostObserver?) {
    guard let observer else { return host.observe(nil) }
    host.observe(
      HostObserver(
        receive: { event in
          if case .request(let record) = event { observer.receive(.request(shown(record))) } else { observer.receive(event) }
        }, finish: observer.finish))
  }

  // MARK: What has no payload

  func resume(_ selection: PauseSelection, ofFleet: Bool, by who: String) async throws(RequestRefusal) -> [Pause] {
    try await host.resume(selection, ofFleet: ofFleet, by: who)
  }
  func pauses() async -> [Pause] { await host.pauses() }

  func listGap() async -> String? { await host.listGap() }
  var isInFleet: Bool { host.isInFleet }
  func runs(_ query: RunQuery) async throws(RequestRefusal) -> (records: [RunRecord], next: RunID?) { try await host.runs(query) }
  func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord { try await host.run(id) }
  func plugins() async -> [PluginStatus] { await host.plugins() }
  func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> PluginHealth { try await host.release(identifier) }
  func debug(_ identifier: TaskIdentifier, by process: Int32) async throws(RequestRefusal) -> Int32 {
    try await host.debug(identifier, by: process)
  }
  func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID] {
    try await host.simulateExpiration(identifier)
  }
  func conditions() async throws(RequestRefusal) -> ConditionReport { try await host.conditions() }
  func overrideConditions(_ overrides: [(condition: Conditions, holds: Bool)]) async throws(RequestRefusal) -> ConditionReport {
    try await host.overrideConditions(overrides)
  }
  func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) -> ConditionReport {
    try await host.clearConditions(conditions)
  }
  func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    try await host.notify(event, payload: payload)
  }
  func forecast(
    hours: Int, limit: Int, of isWanted: @escaping @Sendable (TaskIdentifier) -> Bool
  ) async throws(RequestRefusal) -> Forecast { try await host.forecast(hours: hours, limit: limit, of: isWanted) }
  func beginAssertion(_ request: AssertionRequest) async throws(RequestRefusal) -> Assertion { try await host.beginAssertion(request) }
  func giveBackAssertion(_ id: AssertionID) async throws(RequestRefusal) -> Assertion { try await host.giveBackAssertion(id) }
  func heldAssertions() async -> [Assertion] { await host.heldAssertions() }
  func metrics() async -> HostMetrics { await host.metrics() }
  func status() async -> HostStatus { await host.status() }
  func loadedConfiguration() async -> LoadedConfiguration { await host.loadedConfiguration() }
  func reload(isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport { try await host.reload(isDry: isDry, by: who) }
  func approve(
    _ identifier: TaskIdentifier, _ fingerprint: String, reloads: Bool, by who: String
  ) async throws(RequestRefusal) -> ApprovalReport {
    try await host.approve(identifier, fingerprint, reloads: reloads, by: who)
  }
  func revoke(_ identifier: TaskIdentifier, by who: String) async throws(RequestRefusal) -> RevocationReport {
    try await host.revoke(identifier, by: who)
  }
  func shutdown() async { await host.shutdown() }
  func health() async -> HostHealth { await host.health() }
  func settle() async { await host.settle() }
}
