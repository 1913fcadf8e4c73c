import FleetStore
import Glibc
import HostThreads
import PluginTrust
public import TaskModel
import TaskScheduler
import TaskStore
import WorkerProcesses
import WorkerSandbox

extension Host {
  /// The current status of the host.
  public func status() async -> HostStatus { await wholeStatus(onlyFailing: false).status }

  /// The status, the identifiers with handlers, and what the fleet remembers.
  ///
  /// - Parameter onlyFailing: Whether to leave out the tasks of the status that have no failures, which takes a tenth of the time.
  func wholeStatus(
    onlyFailing: Bool
  ) async -> (status: HostStatus, handlers: some Collection<TaskIdentifier>, shared: SharedActivity) {
    let (nextDue, handlers) = await handlers()
    let events = await withCheckedContinuation { continuation in scheduler.eventCounts { continuation.resume(returning: $0) } }
    let process = process()
    let shared = await sharedActivity(onlyFailing: onlyFailing)
    let tasks = (try? activity(handlers, shared, onlyFailing: onlyFailing)) ?? []
    let objectives = await objectives()
    let status = HostStatus(
      version: process.version, processID: getpid(), phase: phase, started: started, stateDirectory: stateDirectory,
      requests: (try? store.counts()) ?? [:], running: handlers.values.reduce(0) { $0 + $1.running },
      maxConcurrentRuns: configuration.maxConcurrentRuns, pluginsRegistered: registry.registered.reduce(0) { $0 + $1.contracts.count },
      pluginsRefused: registry.refused.count, nextDue: nextDue,
      problems: await problems(handlers, tasks, shared) + objectives.flatMap(\.problems) + process.problems,
      sandbox: WorkerSandbox.support(landlockLimit: WorkerSpecs.landlockLimit).missing, tasks: tasks,
      // Events dropped before they reached the scheduler count as received and as dropped.
      counters: HostCounters(
        eventsReceived: events.received + process.eventsDropped, eventsWoken: events.woken, eventsMerged: events.merged,
        eventsDropped: events.dropped + (fleet?.dropped.withLock { $0 } ?? 0) + process.eventsDropped,
        logLinesDropped: process.logLinesDropped, assertionsRefused: assertions.refused),
      assertions: assertions.all, pauses: await pauses(), objectives: objectives)
    return (status, handlers.keys, shared)
  }

  /// All plugin files found, ordered by file name.
  public func plugins() async -> [PluginStatus] {
    let (_, handlers) = await handlers()
    let registry = registry
    let registered = registry.registered.flatMap { plugin in
      let waiting = registry.held.first { $0.pending.isRunning && $0.pending.file == plugin.candidate.place }
      return plugin.contracts.map { contract in
        var status = plugin.status(
          of: contract, handlers[contract.identifier], command: configuration.commands[contract.identifier.rawValue],
          permissions: PluginPermissions(of: [contract.identifier], in: configuration).sentences)
        status.approval = waiting?.pending
        return status
      }
    }
    let places = Set(registry.registered.map(\.candidate.place))
    let held = registry.held.filter { !($0.pending.isRunning && places.contains($0.pending.file)) }.map { held in
      var status = PluginStatus(file: held.pending.file, health: .unapproved, permissions: held.permissions.sentences)
      status.approval = held.pending
      return status
    }
    let refused = registry.refused.map {
      PluginStatus(
        file: $0.refusal.file, health: .refused, reasonCode: $0.refusal.code.rawValue,
        reasonMessage: "\($0.refusal.observed). \($0.refusal.remedy)")
    }
    return (registered + held + refused).sorted { $0.file < $1.file }
  }

  /// The due time of the next pending request that could start then, and the state of each handler.
  private func handlers() async -> (nextDue: WallTime?, [TaskIdentifier: HandlerOverview]) {
    await withCheckedContinuation { continuation in scheduler.health { continuation.resume(returning: ($0, $1)) } }
  }

  /// The last activity of each schedule, ordered by identifier. Identifiers with a handler but no schedule get their own entry.
  private func activity(
    _ handlers: [TaskIdentifier: HandlerOverview], _ shared: SharedActivity, onlyFailing: Bool
  ) throws(StoreError) -> [TaskActivity] {
    var schedules = try store.schedules(limit: Self.shownSchedules, onlyFailing: onlyFailing)
    // What the host's store remembers of them is from before the fleet had them.
    if let fleet { schedules.removeAll { $0.request == nil && fleet.identifiers.contains($0.identifier) } }
    let known = Dictionary(schedules.map { ($0.identifier, 1) }, uniquingKeysWith: +)
    schedules += shared.schedules
    let scheduled = Set(shared.schedules.map(\.identifier))
    for identifier in handlers.keys where !onlyFailing && known[identifier] == nil {
      let lastRun = shared.lastRuns[identifier]
      if lastRun != nil || !scheduled.contains(identifier) { schedules.append(ScheduleRecord(of: identifier, lastRun)) }
    }
    return ScheduleRecord.listed(schedules).map { schedule in
      let throttle = handlers[schedule.identifier]?.throttle
      if let request = schedule.request {
        // One that waits for others was due long ago: nobody knows its next start.
        let isKnown = request.state != .running && request.state != .blocked
        return TaskActivity(schedule, nextStart: isKnown ? request.due : nil, throttle: throttle)
      }
      let isAlone = (known[schedule.identifier] ?? 0) < 2
      let nextStart = isAlone && schedule.key == nil ? handlers[schedule.identifier]?.nextDue : nil
      return TaskActivity(schedule, nextStart: nextStart, throttle: throttle)
    }
  }

  /// What the fleet remembers of its identifiers; nothing while its database does not say so at once.
  ///
  /// - Parameter onlyFailing: Whether to leave out the last runs, and the schedules without failures.
  func sharedActivity(onlyFailing: Bool) async -> SharedActivity {
    guard let fleet, !fleet.identifiers.isEmpty else { return SharedActivity() }
    let (identifiers, overdueAfter) = (fleet.identifiers.sorted(), configuration.overdueAfter)
    let activity = await askFleet { (session) throws(FleetError) in
      var activity = try SharedActivity(of: identifiers, session, onlyFailing: onlyFailing)
      activity.full = try fleet.agent.bound.full(session)
      activity.overdue = try session.overdue(of: identifiers, for: overdueAfter)
      return activity
    }
    return activity ?? SharedActivity()
  }

  /// The maximum number of schedules in a status; failing ones come first.
  static let shownSchedules = 1000
}

/// What a fleet remembers of the identifiers that it has, wherever they ran.
struct SharedActivity: Sendable {
  var schedules: [ScheduleRecord] = []
  /// Of all schedules of each identifier, where those without failures are left out.
  var sums: [TaskIdentifier: ScheduleSum] = [:]
  /// The last runs that are none of these schedules'.
  var lastRuns: [TaskIdentifier: RunRecord] = [:]
  var deadLetters: [DeadLetters] = []
  /// Those of which this host has refused submissions, and which still have as many live requests as they may have.
  var full: [TaskIdentifier] = []
  /// What has been due for long, and no host takes it.
  var overdue: [RequestRecord] = []
}

extension SharedActivity {
  init(of identifiers: [TaskIdentifier], _ session: FleetSession, onlyFailing: Bool) throws(FleetError) {
    schedules = try session.schedules(of: identifiers, limit: Host.shownSchedules, onlyFailing: onlyFailing)
    if onlyFailing {
      sums = try session.scheduleSums(of: identifiers)
    } else {
      lastRuns = try session.lastRuns(of: identifiers, besides: schedules.compactMap(\.request?.id))
    }
    deadLetters = try session.deadLetters(of: identifiers)
  }
}

extension ScheduleRecord {
  /// Of runs of which only the last one is known.
  fileprivate init(of identifier: TaskIdentifier, _ run: RunRecord?) {
    self.init(identifier: identifier, lastRun: run)
    if run?.outcome?.isSuccess == true { lastSuccess = run?.ended }
    if run?.outcome?.isFailure == true { (failures, failingSince) = (1, run?.ended) }
  }
}

extension RegisteredPlugin {
  fileprivate func status(
    of contract: HandlerContract, _ handler: HandlerOverview?, command: CommandConfiguration?, permissions: [String]
  ) -> PluginStatus {
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
      quota: handler?.quota, rate: handler?.rate, command: command?.words, permissions: permissions)
  }
}

extension HostConfiguration {
  /// Throws if an identifier that is permitted by its full name has no handler: its requests would wait forever.
  ///
  /// - Parameters:
  ///   - offered: The identifiers that have a handler.
  ///   - refused: The plugins that were refused.
  func checkPermitted(offered: Set<TaskIdentifier>, refused: [RefusedPlugin]) throws(HostFailure) {
    var problems: [String] = []
    var isTemporary = true
    for pattern in permittedIdentifiers ?? [] {
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
