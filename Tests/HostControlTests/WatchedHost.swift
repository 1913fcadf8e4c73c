import ControlTestSupport
import HostControl
import TaskModel

/// A host that says when the last reader has been dropped, and has much to tell to who reads.
struct WatchedHost: ControlledHost {
  private let memory = MemoryHost()
  /// Log lines of 8 KiB that every reader is sent at once.
  var lines = 0
  var onReader: @Sendable () -> Void = {}
  let onReaderGone: @Sendable () -> Void

  func observe(_ backlog: EventBacklog?) {
    memory.observe(backlog)
    if backlog == nil { onReaderGone() }
  }
  func settle() async {
    let line = LogLine(time: WallTime(unixMilliseconds: 0), level: .info, message: String(repeating: "x", count: 8192))
    guard let identifier = try? TaskIdentifier("a") else { preconditionFailure("\"a\" is no identifier") }
    let run = RunReference(run: RunID(sequence: 1, origin: 1), request: RequestID(sequence: 1, origin: 1), identifier: identifier)
    for _ in 0..<lines { memory.emit(.log(run, line)) }
    onReader()
  }
  func health() async -> HostHealth { await memory.health() }

  func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] { try await memory.submit(requests) }
  func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] { try await memory.requests(query) }
  func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await memory.request(id) }
  func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation { try await memory.explanation(of: id) }
  func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await memory.cancel(id) }
  func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await memory.retry(id) }
  func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    try await memory.retryAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }
  func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    try await memory.requestsWithProblems(query)
  }
  func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await memory.discard(id) }
  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    try await memory.discardAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }
  func runs(_ query: RunQuery) async throws(RequestRefusal) -> [RunRecord] { try await memory.runs(query) }
  func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord { try await memory.run(id) }
  func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> Standing { try await memory.release(identifier) }
  func plugins() async -> [PluginStatus] { await memory.plugins() }
  func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord {
    try await memory.simulateLaunch(identifier)
  }
  func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID] {
    try await memory.simulateExpiration(identifier)
  }
  func cancelAll(tag: String?, identifier: TaskIdentifier?) async throws(RequestRefusal) -> Int {
    try await memory.cancelAll(tag: tag, identifier: identifier)
  }
  func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRecord {
    try await memory.snooze(id, until: time)
  }
  func conditions() async throws(RequestRefusal) -> ConditionReport { try await memory.conditions() }
  func overrideConditions(_ overrides: [(Conditions, Bool)]) async throws(RequestRefusal) { try await memory.overrideConditions(overrides) }
  func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) { try await memory.clearConditions(conditions) }
  func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    try await memory.notify(event, payload: payload)
  }
  func forecast(hours: Int, limit: Int) async throws(RequestRefusal) -> Forecast { try await memory.forecast(hours: hours, limit: limit) }
  func status() async -> HostStatus { await memory.status() }
  func shutdown() async { await memory.shutdown() }
}
