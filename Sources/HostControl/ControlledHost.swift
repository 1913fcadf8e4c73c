public import TaskModel

/// What the control API needs of a host. Every call may be made from any task; answers to changes come after they are durable.
public protocol ControlledHost: Sendable {
  /// Submits requests, all or none.
  func submit(_ requests: [TaskRequest]) async throws(ControlError) -> [Submission]
  /// The requests that match, newest first, without payload.
  func requests(_ query: RequestQuery) async throws(ControlError) -> [RequestRecord]
  /// A request with its payload.
  func request(_ id: RequestID) async throws(ControlError) -> RequestRecord
  /// Why a request is not running now, a sentence for each gate that holds it; empty: nothing holds it.
  func gates(of id: RequestID) async throws(ControlError) -> [String]
  /// Cancels a request; while it runs, its run is asked to stop and the request ends with it.
  func cancel(_ id: RequestID) async throws(ControlError) -> RequestRecord
  /// Makes a dead letter pending again.
  func retry(_ id: RequestID) async throws(ControlError) -> RequestRecord
  /// The runs that match, the live ones first, then newest first.
  func runs(_ query: RunQuery) async throws(ControlError) -> [RunRecord]
  /// A run, live or ended.
  func run(_ id: RunID) async throws(ControlError) -> RunRecord
  /// Every plugin file that was found, in file-name order.
  func plugins() async -> [PluginStatus]
  /// Lets a plugin run again that is held back or quarantined; refused with `notFound` when there is none and nothing is held against it.
  ///
  /// - Returns: What was held against it.
  func release(_ identifier: TaskIdentifier) async throws(ControlError) -> Standing
  /// Makes the identifier's first pending request due at once, or submits one, and starts it ahead of its turn.
  func simulateLaunch(_ identifier: TaskIdentifier) async throws(ControlError) -> RequestRecord
  /// Expires the identifier's live runs as if their budget were spent.
  ///
  /// - Returns: The runs that were asked to stop.
  func simulateExpiration(_ identifier: TaskIdentifier) async throws(ControlError) -> [RunID]
  /// One look at the host.
  func status() async -> HostStatus
  /// Begins to drain. Returns at once.
  func shutdown() async
  /// Events from now on, until the stream is dropped or the host ends. A reader that lags loses the oldest (at most 10,000 wait).
  func events(_ filter: EventFilter) async -> AsyncStream<HostEvent>
}
