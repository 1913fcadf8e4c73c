import Glibc
import HostControl
import HostThreads
import TaskHost
import TaskModel
import TaskScheduler

/// The host as the control API sees it.
struct ControlledHostAdapter: ControlledHost {
  let host: Host
  let service: HostService
  /// Nil: the configuration has none.
  let eventSockets: EventSockets?
  let log: LogWriter

  func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] {
    return try await host.submit(requests)
  }

  func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    return try host.requests(query)
  }

  func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    return try host.requestsWithProblems(query)
  }

  func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    return try host.request(id)
  }

  func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation {
    return try await host.explanation(of: id)
  }

  func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    return try await host.cancel(id)
  }

  func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    return try await host.retry(id)
  }

  func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    return try await host.retryAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }

  func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    return try await host.discard(id)
  }

  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    return try await host.discardAll(identifier: identifier, tag: tag, after: after, limit: limit)
  }

  func runs(_ query: RunQuery) async throws(RequestRefusal) -> [RunRecord] {
    return try await host.runs(query)
  }

  func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord {
    return try await host.run(id)
  }

  func plugins() async -> [PluginStatus] {
    await host.overview().plugins.map { plugin in
      PluginStatus(
        file: plugin.file, standing: plugin.contract == nil ? .refused : plugin.obstacleCode == nil ? .registered : .suspended,
        contract: plugin.contract, isolation: plugin.isolation?.rawValue, running: plugin.running, reasonCode: plugin.obstacleCode,
        reasonMessage: plugin.obstacle, workerProcessID: plugin.worker, strikes: plugin.standing.strikes,
        heldUntil: plugin.standing.heldUntil.flatMap { $0 > SystemClock().wallTime ? $0 : nil },
        isQuarantined: plugin.standing.isQuarantined, lastTrouble: plugin.standing.lastTrouble, signature: plugin.signature,
        digest: plugin.digest, sandbox: plugin.sandbox, quota: plugin.quota, rate: plugin.rate)
    }
  }

  func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> Standing {
    return try await host.release(identifier)
  }

  func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord {
    return try await host.simulateLaunch(identifier)
  }

  func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID] {
    await host.simulateExpiration(identifier)
  }

  func status() async -> HostStatus {
    let overview = await host.overview()
    let events = await host.eventCounts()
    // What was dropped before the scheduler saw it counts as received and dropped too.
    let lost = eventSockets?.counts.dropped ?? 0
    let tasks = (try? await host.activity()) ?? []
    let problems = await host.problems(overview, tasks) + (eventSockets?.problems ?? []) + [log.problem].compactMap(\.self)
    return HostStatus(
      version: Version.text, processID: getpid(), phase: overview.phase, started: host.started, stateDirectory: host.stateDirectory,
      requests: overview.requests, running: overview.running, maxConcurrentRuns: host.configuration.maxConcurrentRuns,
      pluginsRegistered: overview.plugins.filter { $0.contract != nil }.count,
      pluginsRefused: overview.plugins.filter { $0.contract == nil }.count, nextDue: overview.nextDue, problems: problems,
      sandbox: overview.sandbox, tasks: tasks,
      counters: HostCounters(
        eventsReceived: events.received + lost, eventsWoken: events.woken, eventsMerged: events.merged,
        eventsDropped: events.dropped + lost, logLinesDropped: log.dropped))
  }

  func shutdown() async { await service.shutDown() }

  func health() async -> HostHealth { HostHealth(phase: host.phase, storeProblem: host.storeProblem) }

  func observe(_ backlog: EventBacklog?) {
    guard let backlog else { return host.observe(nil) }
    host.observe { backlog.receive($0) }
  }

  func settle() async { await host.settle() }
}

extension ControlledHostAdapter {
  func cancelAll(tag: String?, identifier: TaskIdentifier?) async throws(RequestRefusal) -> Int {
    return try await host.cancelAll(tag: tag, identifier: identifier)
  }

  func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRecord {
    let snoozed = try await host.snooze(id, until: time)
    return SnoozedRecord(snoozed.record, notes: snoozed.notes)
  }

  func conditions() async throws(RequestRefusal) -> ConditionReport {
    return try await host.conditions()
  }

  func overrideConditions(_ overrides: [(Conditions, Bool)]) async throws(RequestRefusal) {
    _ = try await host.overrideConditions(overrides.map { (condition: $0, holds: $1) })
  }

  func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) {
    _ = try await host.clearConditions(conditions)
  }

  func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    return try await host.notify(event, payload: payload)
  }

  func forecast(hours: Int, limit: Int) async throws(RequestRefusal) -> Forecast {
    return try await host.forecast(hours: hours, limit: limit)
  }
}
