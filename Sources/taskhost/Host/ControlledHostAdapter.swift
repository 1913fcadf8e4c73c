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

  func submit(_ requests: [TaskRequest]) async throws(ControlError) -> [Submission] {
    do { return try await host.submit(requests) } catch { throw ControlError(error) }
  }

  func requests(_ query: RequestQuery) async throws(ControlError) -> [RequestRecord] {
    do { return try host.requests(query) } catch { throw ControlError(error) }
  }

  func requestsWithProblems(_ query: RequestQuery) async throws(ControlError) -> [RequestRecord] {
    do { return try host.requestsWithProblems(query) } catch { throw ControlError(error) }
  }

  func request(_ id: RequestID) async throws(ControlError) -> RequestRecord {
    do { return try host.request(id) } catch { throw ControlError(error) }
  }

  func explanation(of id: RequestID) async throws(ControlError) -> RequestExplanation {
    do { return try await host.explanation(of: id) } catch { throw ControlError(error) }
  }

  func cancel(_ id: RequestID) async throws(ControlError) -> RequestRecord {
    do { return try await host.cancel(id) } catch { throw ControlError(error) }
  }

  func retry(_ id: RequestID) async throws(ControlError) -> RequestRecord {
    do { return try await host.retry(id) } catch { throw ControlError(error) }
  }

  func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(ControlError) -> RetriedRequests {
    do { return try await host.retryAll(identifier: identifier, tag: tag, after: after, limit: limit) } catch { throw ControlError(error) }
  }

  func discard(_ id: RequestID) async throws(ControlError) -> RequestRecord {
    do { return try await host.discard(id) } catch { throw ControlError(error) }
  }

  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(ControlError) -> DiscardedRequests {
    do { return try await host.discardAll(identifier: identifier, tag: tag, after: after, limit: limit) } catch {
      throw ControlError(error)
    }
  }

  func runs(_ query: RunQuery) async throws(ControlError) -> [RunRecord] {
    do { return try await host.runs(query) } catch { throw ControlError(error) }
  }

  func run(_ id: RunID) async throws(ControlError) -> RunRecord {
    do { return try await host.run(id) } catch { throw ControlError(error) }
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

  func release(_ identifier: TaskIdentifier) async throws(ControlError) -> Standing {
    do { return try await host.release(identifier) } catch { throw ControlError(error) }
  }

  func simulateLaunch(_ identifier: TaskIdentifier) async throws(ControlError) -> RequestRecord {
    do { return try await host.simulateLaunch(identifier) } catch { throw ControlError(error) }
  }

  func simulateExpiration(_ identifier: TaskIdentifier) async throws(ControlError) -> [RunID] {
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
    host.observe { backlog.receive(HostEvent($0)) }
  }

  func settle() async { await host.settle() }
}

extension ControlledHostAdapter {
  func cancelAll(tag: String?, identifier: TaskIdentifier?) async throws(ControlError) -> Int {
    do { return try await host.cancelAll(tag: tag, identifier: identifier) } catch { throw ControlError(error) }
  }

  func snooze(_ id: RequestID, until time: WallTime) async throws(ControlError) -> SnoozedRecord {
    do {
      let snoozed = try await host.snooze(id, until: time)
      return SnoozedRecord(snoozed.record, notes: snoozed.notes)
    } catch { throw ControlError(error) }
  }

  func conditions() async throws(ControlError) -> ConditionReport {
    do { return try await host.conditions() } catch { throw ControlError(error) }
  }

  func overrideConditions(_ overrides: [(Conditions, Bool)]) async throws(ControlError) {
    do { _ = try await host.overrideConditions(overrides.map { (condition: $0, holds: $1) }) } catch { throw ControlError(error) }
  }

  func clearConditions(_ conditions: Conditions) async throws(ControlError) {
    do { _ = try await host.clearConditions(conditions) } catch { throw ControlError(error) }
  }

  func notify(_ event: String, payload: [UInt8]?) async throws(ControlError) -> EventReceipt {
    do { return try await host.notify(event, payload: payload) } catch { throw ControlError(error) }
  }

  func forecast(hours: Int, limit: Int) async throws(ControlError) -> Forecast {
    do { return try await host.forecast(hours: hours, limit: limit) } catch { throw ControlError(error) }
  }
}

extension HostEvent {
  fileprivate init(_ news: HostNews) {
    switch news {
    case .request(let record): self = .request(record)
    case .run(let record): self = .run(record)
    case .progress(let run, let progress): self = .progress(run.run, run.request, progress)
    case .log(let run, let line): self = .log(run.run, run.request, line)
    }
  }
}

extension ControlError {
  /// What a refusal of the scheduler is over HTTP.
  fileprivate init(_ refusal: RequestRefusal) {
    let code: Code =
      switch refusal.code {
      case .invalid: .invalid
      case .unknownIdentifier: .refused
      case .notFound: .notFound
      case .conflict: .conflict
      case .tooBig: .tooBig
      case .limit: .limit
      case .unsupported: .unsupported
      case .unavailable: .unavailable
      }
    self.init(code, refusal.message, field: refusal.field)
  }
}
