public import TaskModel

/// What the control API needs of a host. Every call may be made from any task; answers to changes come after they are durable.
public protocol ControlledHost: Sendable {
  /// Submits requests, all or none.
  func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission]
  /// The requests that match, newest first, without payload.
  func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord]
  /// The requests that match and need a person: dead letters, schedules that fail, overdue work; newest first.
  func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord]
  /// A request with its payload.
  func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Why a request is not running now: every gate that holds it.
  func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation
  /// Cancels a request; while it runs, its run is asked to stop and the request ends with it.
  func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Cancels the requests that have not ended and match both, as ``cancel(_:)`` does each; nil matches all. At least one is given. Those
  /// that stand for a `schedule` of the configuration stay.
  ///
  /// - Returns: How many were cancelled or asked to stop.
  func cancelAll(tag: String?, identifier: TaskIdentifier?) async throws(RequestRefusal) -> Int
  /// Postpones a pending request to `time`; one that is due later keeps its time.
  func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest
  /// Makes a dead letter pending again.
  func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Makes the dead letters that match both pending again, the oldest first; nil matches all.
  ///
  /// - Parameters:
  ///   - after: Only those after it in the order of ids.
  ///   - limit: At most so many of the identifier's are looked at.
  func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests
  /// Discards a dead letter: nobody will retry it.
  func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Discards the dead letters that match both, the oldest first; nil matches all.
  ///
  /// - Parameters:
  ///   - after: Only those after it in the order of ids.
  ///   - limit: At most so many of the identifier's are looked at.
  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests
  /// The runs that match, the live ones first, then newest first.
  func runs(_ query: RunQuery) async throws(RequestRefusal) -> [RunRecord]
  /// A run, live or ended.
  func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord
  /// Every plugin file that was found, in file-name order.
  func plugins() async -> [PluginStatus]
  /// Releases a held or quarantined plugin; refused with `notFound` if there is no such plugin and nothing was recorded against it.
  ///
  /// - Returns: What was recorded against it.
  func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> PluginHealth
  /// Makes the identifier's first pending request due at once, or submits one, and starts it ahead of its turn.
  func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord
  /// Expires the identifier's live runs as if their budget were spent.
  ///
  /// - Returns: The runs that were asked to stop.
  func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID]
  /// What is known of every condition of the machine.
  func conditions() async throws(RequestRefusal) -> ConditionReport
  /// Overrides conditions until the override is cleared; a restart keeps it.
  ///
  /// - Returns: What is known of every condition afterwards.
  func overrideConditions(_ overrides: [(condition: Conditions, holds: Bool)]) async throws(RequestRefusal) -> ConditionReport
  /// Ends the override of these conditions.
  ///
  /// - Returns: What is known of every condition afterwards.
  func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) -> ConditionReport
  /// Wakes the requests that wait for an event.
  ///
  /// - Parameter payload: What their runs are given instead of their own payload; nil: their own.
  func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt
  /// What would run in the next hours, at most `limit` runs, if everything stayed as it is now.
  func forecast(hours: Int, limit: Int) async throws(RequestRefusal) -> Forecast
  /// One look at the host.
  func status() async -> HostStatus
  /// Begins to drain. Returns at once.
  func shutdown() async
  /// Whether it takes and runs requests. Answers at once, whatever the store is doing.
  func health() async -> HostHealth
  /// From now on tells `observer`, and nobody else, everything that happens; nil: tells nobody. Returns at once.
  func observe(_ observer: HostObserver?)
  /// Returns when ``observe(_:)`` is in force: the observer is told everything that becomes durable afterwards.
  func settle() async
}
