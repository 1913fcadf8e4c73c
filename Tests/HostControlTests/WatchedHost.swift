import ControlTestSupport
import HostControl
import TaskModel

/// A host whose one interest is that its readers are dropped.
struct WatchedHost: ControlledHost {
  private let memory = MemoryHost()
  let onReaderGone: @Sendable () -> Void

  func events(_ filter: EventFilter) async -> AsyncStream<HostEvent> {
    let (stream, continuation) = AsyncStream<HostEvent>.makeStream()
    continuation.onTermination = { _ in onReaderGone() }
    return stream
  }

  func submit(_ requests: [TaskRequest]) async throws(ControlError) -> [Submission] { try await memory.submit(requests) }
  func requests(_ query: RequestQuery) async throws(ControlError) -> [RequestRecord] { try await memory.requests(query) }
  func request(_ id: RequestID) async throws(ControlError) -> RequestRecord { try await memory.request(id) }
  func gates(of id: RequestID) async throws(ControlError) -> [String] { try await memory.gates(of: id) }
  func cancel(_ id: RequestID) async throws(ControlError) -> RequestRecord { try await memory.cancel(id) }
  func retry(_ id: RequestID) async throws(ControlError) -> RequestRecord { try await memory.retry(id) }
  func runs(_ query: RunQuery) async throws(ControlError) -> [RunRecord] { try await memory.runs(query) }
  func run(_ id: RunID) async throws(ControlError) -> RunRecord { try await memory.run(id) }
  func plugins() async -> [PluginStatus] { await memory.plugins() }
  func simulateLaunch(_ identifier: TaskIdentifier) async throws(ControlError) -> RequestRecord {
    try await memory.simulateLaunch(identifier)
  }
  func simulateExpiration(_ identifier: TaskIdentifier) async throws(ControlError) -> [RunID] {
    try await memory.simulateExpiration(identifier)
  }
  func status() async -> HostStatus { await memory.status() }
  func shutdown() async { await memory.shutdown() }
}
