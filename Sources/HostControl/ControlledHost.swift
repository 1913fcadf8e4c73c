public import RecordJSON
public import TaskFilters
public import TaskModel

/// What the control API needs of a host. Any task may call it. Changes are durable before the call returns.
public protocol ControlledHost: Sendable {
  /// Submits all requests or none.
  func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission]
  /// The same, but if the fleet's database is away, the host keeps what is for the fleet, and submits it once when the database answers.
  func submitOrPark(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission]
  /// Why lists of requests and runs have only a part of them now, for people; nil if they have all.
  func listGap() async -> String?
  /// Whether it shares a queue with other hosts, whose requests are in its lists.
  var isInFleet: Bool { get }
  /// The matching requests, newest first, without payload.
  func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord]
  /// The requests that match a filter, newest first, without payload: those after `cursor`, at most `limit`. Looks at a bounded number of
  /// requests, so there may be more even if it found none.
  func requests(
    matching filter: RequestFilter, after cursor: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> ScannedRequests
  /// The matching requests that need a person, newest first: dead letters, failing schedules, overdue work.
  func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord]
  /// A request with its payload.
  func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Every gate that keeps a request from running now.
  func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation
  /// Cancels a request. If it is running, its run is asked to stop, and the request ends with the run.
  func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Cancels, as ``cancel(_:)`` does, the requests that have not ended and match both filters; nil matches all. At least one must be given.
  /// Requests that stand for a `schedule` of the configuration stay. Those of a fleet come first; the host's own are cancelled in one commit.
  ///
  /// - Parameters:
  ///   - after: The last request that the part before examined; nil begins with the first one.
  ///   - limit: How many of the fleet's requests to examine at most; nil examines all.
  func cancelAll(
    tag: String?, identifier: TaskIdentifier?, after: RequestID?, limit: Int?
  ) async throws(RequestRefusal) -> CancelledRequests
  /// Postpones a pending request to `time`; one that is due later keeps its time.
  func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest
  /// Holds a live request back until it is resumed, also over restarts. A running one is asked to stop, which spends no attempt; one that is
  /// paused already stays as it is.
  func pause(_ id: RequestID, _ pause: RequestPause) async throws(RequestRefusal) -> RequestRecord
  /// Lets a paused request go on. Nothing changes for one that is not paused.
  func resume(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Holds what a filter selects until the pause ends, also over restarts; live runs continue. A dry run only checks and counts.
  func pause(_ order: PauseOrder, isDry: Bool) async throws(RequestRefusal) -> BegunPause
  /// Ends pauses. Refused with `notFound` if none is selected.
  ///
  /// - Parameters:
  ///   - ofFleet: Whether the fleet's pauses are meant, instead of this host's own. The number of a pause says that by itself.
  ///   - who: Who asks, in words for people.
  func resume(_ selection: PauseSelection, ofFleet: Bool, by who: String) async throws(RequestRefusal) -> [Pause]
  /// The pauses in force, oldest first.
  func pauses() async -> [Pause]
  /// Makes a dead letter pending again.
  func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Makes the matching dead letters pending again, oldest first; nil matches all.
  ///
  /// - Parameters:
  ///   - after: Only dead letters with a greater id.
  ///   - limit: How many of the identifier's dead letters to examine at most.
  func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests
  /// Discards a dead letter; it is never retried.
  func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord
  /// Discards the matching dead letters, oldest first; nil matches all.
  ///
  /// - Parameters:
  ///   - after: Only dead letters with a greater id.
  ///   - limit: How many of the identifier's dead letters to examine at most.
  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests
  /// Carries out a part of a bulk action. Each request is changed on its own, and some may be refused.
  func carryOut(_ order: BulkOrder) async throws(RequestRefusal) -> BulkResult
  /// The matching runs: live ones first, then newest first. Looks at a bounded number of runs, so there may be more even if it found none.
  ///
  /// - Returns: Also where the next page begins; nil on the last page.
  func runs(_ query: RunQuery) async throws(RequestRefusal) -> (records: [RunRecord], next: RunID?)
  /// A run, live or ended.
  func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord
  /// Every plugin file found, by file name.
  func plugins() async -> [PluginStatus]
  /// Releases a held or quarantined plugin. Refused with `notFound` if the plugin is unknown and nothing was recorded against it.
  ///
  /// - Returns: What was recorded against it.
  func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> PluginHealth
  /// Suspends the time limits of a plugin's runs until the debugger's process ends, and starts its worker if it has none. Refused with
  /// `notFound` if no plugin has registered the identifier, with `conflict` if it has no worker or another process debugs it.
  ///
  /// - Parameter process: The debugger's process, on the host's machine.
  /// - Returns: The number of the worker's process.
  func debug(_ identifier: TaskIdentifier, by process: Int32) async throws(RequestRefusal) -> Int32
  /// Makes the identifier's first pending request due at once, or submits one, and starts it ahead of others.
  func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord
  /// Expires the identifier's live runs as if their budgets were used up. Refused with `notFound` if no plugin has registered it.
  ///
  /// - Returns: The runs that were asked to stop.
  func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID]
  /// The known state of every condition of the machine.
  func conditions() async throws(RequestRefusal) -> ConditionReport
  /// Overrides conditions until the override is cleared, even across restarts.
  func overrideConditions(_ overrides: [(condition: Conditions, holds: Bool)]) async throws(RequestRefusal) -> ConditionReport
  /// Ends the override of these conditions, and returns the state of all.
  func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) -> ConditionReport
  /// Wakes the requests that wait for an event.
  ///
  /// - Parameter payload: Replaces the payload of their runs; nil keeps each request's own.
  func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt
  /// The runs, at most `limit`, that would start in the next hours if nothing changed.
  func forecast(hours: Int, limit: Int, of isWanted: @escaping @Sendable (TaskIdentifier) -> Bool) async throws(RequestRefusal) -> Forecast
  /// Takes an execution assertion: a drain waits for it until it ends. Refused with `unavailable` while the host drains, and with `limit`
  /// if too many are held.
  func beginAssertion(_ request: AssertionRequest) async throws(RequestRefusal) -> Assertion
  /// Gives an execution assertion back. Refused with `notFound` if it has ended.
  func giveBackAssertion(_ id: AssertionID) async throws(RequestRefusal) -> Assertion
  /// The execution assertions that are held, oldest first.
  func heldAssertions() async -> [Assertion]
  /// The host's figures for monitoring.
  func metrics() async -> HostMetrics
  /// A snapshot of the host.
  func status() async -> HostStatus
  /// What the host has loaded of its configuration, without secrets.
  func loadedConfiguration() async -> LoadedConfiguration
  /// Puts the configuration and the plugins in force as they are now. Refused with all that is wrong, a line each, and nothing has changed then.
  ///
  /// - Parameters:
  ///   - isDry: Whether only to say what would change.
  ///   - who: Who asks, in words for people.
  func reload(isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport
  /// Starts to drain and returns at once.
  func shutdown() async
  /// Approves what a plugin waits for, as its status has it. Refused with `conflict` if it waits for something else by now.
  ///
  /// - Parameters:
  ///   - fingerprint: Of what is approved.
  ///   - reloads: Whether to put it in force at once, by a reload.
  ///   - who: Who approves, in words for people.
  func approve(
    _ identifier: TaskIdentifier, _ fingerprint: String, reloads: Bool, by who: String
  ) async throws(RequestRefusal) -> ApprovalReport
  /// Takes back what was approved for a plugin, by a reload. Refused with `conflict` if there is nothing to revoke.
  ///
  /// - Parameter who: Who revokes, in words for people.
  func revoke(_ identifier: TaskIdentifier, by who: String) async throws(RequestRefusal) -> RevocationReport
  /// Whether the host accepts and runs requests. Answers at once, even while the store is busy.
  func health() async -> HostHealth
  /// Reports every event from now on to `observer` and to no other; nil ends it. Returns at once.
  func observe(_ observer: HostObserver?)
  /// Returns when ``observe(_:)`` is in force: the observer receives all events that become durable afterwards.
  func settle() async
}
