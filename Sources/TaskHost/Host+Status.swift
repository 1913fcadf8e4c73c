import Glibc
import HostThreads
import PluginTrust
public import TaskModel
import TaskScheduler
import WorkerProcesses
import WorkerSandbox

// What operators look at.

extension Host {
  /// One look at the host.
  public func status() async -> HostStatus {
    let (nextDue, handlers) = await handlers()
    let events = await withCheckedContinuation { continuation in scheduler.eventCounts { continuation.resume(returning: $0) } }
    let process = process()
    let tasks = (try? activity(handlers)) ?? []
    return HostStatus(
      version: process.version, processID: getpid(), phase: phase, started: started, stateDirectory: stateDirectory,
      requests: (try? store.counts()) ?? [:], running: handlers.values.reduce(0) { $0 + $1.running },
      maxConcurrentRuns: configuration.maxConcurrentRuns, pluginsRegistered: registry.registered.reduce(0) { $0 + $1.contracts.count },
      pluginsRefused: registry.refused.count, nextDue: nextDue, problems: await problems(handlers, tasks) + process.problems,
      sandbox: WorkerSandbox.support(landlockLimit: WorkerSpecs.landlockLimit).missing, tasks: tasks,
      // What was dropped before the scheduler saw it counts as received and dropped too.
      counters: HostCounters(
        eventsReceived: events.received + process.eventsDropped, eventsWoken: events.woken, eventsMerged: events.merged,
        eventsDropped: events.dropped + process.eventsDropped, logLinesDropped: process.logLinesDropped))
  }

  /// Every plugin file that was found, in file-name order.
  public func plugins() async -> [PluginStatus] {
    let (_, handlers) = await handlers()
    let registered = registry.registered.flatMap { plugin in plugin.contracts.map { plugin.status(of: $0, handlers[$0.identifier]) } }
    let refused = registry.refused.map {
      PluginStatus(
        file: $0.refusal.file, health: .refused, reasonCode: $0.refusal.code.rawValue,
        reasonMessage: "\($0.refusal.observed). \($0.refusal.remedy)")
    }
    return (registered + refused).sorted { $0.file < $1.file }
  }

  /// When the next pending request is due that could be started then, and how each handler stands.
  private func handlers() async -> (nextDue: WallTime?, [TaskIdentifier: HandlerOverview]) {
    await withCheckedContinuation { continuation in scheduler.health { continuation.resume(returning: ($0, $1)) } }
  }

  /// What each schedule did last, in the order of identifiers; of the identifiers with a handler that have none, themselves.
  private func activity(_ handlers: [TaskIdentifier: HandlerOverview]) throws(StoreError) -> [TaskActivity] {
    var schedules = try store.schedules(limit: Self.shownSchedules)
    let known = Dictionary(grouping: schedules, by: \.identifier)
    for identifier in handlers.keys where known[identifier] == nil { schedules.append(ScheduleRecord(identifier: identifier)) }
    return schedules.sorted(by: ScheduleRecord.isListedBefore).map { schedule in
      if let request = schedule.request { return TaskActivity(schedule, nextStart: request.state == .running ? nil : request.due) }
      let isAlone = (known[schedule.identifier]?.count ?? 0) < 2
      return TaskActivity(schedule, nextStart: isAlone && schedule.key == nil ? handlers[schedule.identifier]?.nextDue : nil)
    }
  }

  /// Schedules that a status shows; those that fail first.
  static let shownSchedules = 1000
}

extension RegisteredPlugin {
  /// One of its handlers.
  fileprivate func status(of contract: HandlerContract, _ handler: HandlerOverview?) -> PluginStatus {
    let worker: PluginWorker? = if case .process(let worker) = placement { worker } else { nil }
    let signature: String? = if case .signed(let key) = candidate.signature { "\(key.name) (\(key.key.id))" } else { nil }
    let (health, suspension) = (handler?.health ?? PluginHealth(), handler?.suspension)
    return PluginStatus(
      file: candidate.path, health: suspension == nil ? .registered : .suspended, contract: contract,
      isolation: placement.isolation.rawValue, running: handler?.running ?? 0,
      reasonCode: suspension == nil ? nil : PluginRefusal.Code.suspended.rawValue, reasonMessage: suspension,
      workerProcessID: worker?.processID, failures: health.failures,
      heldUntil: health.heldUntil.flatMap { $0 > SystemClock().wallTime ? $0 : nil }, isQuarantined: health.isQuarantined,
      lastTrouble: health.lastTrouble, signature: signature, digest: candidate.digestText, sandbox: worker?.unenforced ?? [],
      quota: handler?.quota, rate: handler?.rate)
  }
}

extension PluginLaunching.Result {
  /// Throws when an identifier that is permitted by its full name has no handler: its work would wait for ever.
  func checkPermitted(_ configuration: HostConfiguration) throws(HostFailure) {
    let offered = Set(registered.flatMap(\.contracts).map(\.identifier))
    var problems: [String] = []
    var isTemporary = true
    for pattern in configuration.permittedIdentifiers ?? [] {
      guard let identifier = pattern.exact, !offered.contains(identifier) else { continue }
      if let refused = refused.first(where: { $0.identifier == identifier }) {
        problems.append("permitted identifier \(identifier): \(refused.refusal)")
        isTemporary = isTemporary && refused.isTemporary
      } else {
        problems.append(
          "permitted identifier \(identifier): no plugin registers it, so its requests would wait for ever: install its plugin, remove it from permitted_identifiers, or use --allow-missing"
        )
        isTemporary = false
      }
    }
    guard !problems.isEmpty else { return }
    throw HostFailure(isTemporary ? .temporary : .configuration, problems.joined(separator: "\n"))
  }
}
