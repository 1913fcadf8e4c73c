public import Logging
import Failpoints
import Glibc
import HostConditions
import HostThreads
import PluginRuntime
import PluginTrust
public import RecordJSON
import Synchronization
import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore
import TypedCalls
import WorkerProcesses
import WorkerSandbox

/// A host with its plugins, requests and runs. To end it, call ``drain()``, then ``close()``.
///
/// Every method may be called from any task. Results of changes are delivered once the changes are durable.
public final class Host: Sendable {
  /// The configuration in force.
  public var configuration: HostConfiguration { rules.current.configuration }
  /// What nobody sees of payloads.
  public var redaction: PayloadRedaction { rules.current.redaction }
  /// The absolute path of the state directory.
  public let stateDirectory: String
  /// The time of the launch.
  public let started: WallTime

  let log: Logger
  /// Holds the lock of the state directory while the host exists.
  private let directory: StateDirectory
  let store: SQLiteRequestStore
  let launchedFiles: LaunchedFiles
  let scheduler: Scheduler
  let surroundings: MachineMonitor
  let parts: HostParts
  let rules: RulesInForce
  /// The plugins that get runs, and what runs them.
  struct Launched {
    var registry: PluginLaunching.Result
    /// What their workers were made with.
    var specs: WorkerSpecs
    var launcher: PluginLauncher
  }
  let launched: Guarded<Launched>
  var registry: PluginLaunching.Result { launched.withLock { $0.registry } }
  let allowsMissing: Bool
  /// Nil if the configuration cannot be read anew.
  let reloading: Reloading?
  let reloadTurn = ReloadTurn()
  /// Whether a signal waits for its reload, which then stands for later signals too.
  let hangupWaits = Atomic(false)
  /// Nil if nothing is watched.
  let reloadWatch = Guarded<ReloadWatch?>(nil)
  private let crashMemory: CrashMemory
  let events: EventBroadcaster
  let explainer: RequestExplainer
  let assertions: AssertionKeeper
  let process: @Sendable () -> ProcessStatus
  /// Finishes when a shutdown is requested. Its single reader must then drain and close the host.
  public let shutdownRequest: AsyncStream<Never>
  private let requestShutdown: AsyncStream<Never>.Continuation
  private let endsSoon = Atomic(false)
  private let currentPhase = Mutex(HostPhase.launched)
  let board = ProblemBoard()
  /// Nil if the host is in no fleet.
  let fleet: FleetView?
  let view: RequestView
  let debugged = DebuggedPlugins()

  /// Opens the store, finds plugins, lets them register, seals the registry, and starts due runs.
  ///
  /// - Parameters:
  ///   - allowMissing: Whether to launch even if an identifier that is permitted by its full name has no handler.
  ///   - acceptsStoreLoss: Whether to launch even if the store lacks records that it once had.
  ///   - directory: The state directory of this configuration.
  ///   - program: The version of this program, which the store records.
  ///   - log: The log of the host and its runs.
  ///   - reloading: How the configuration is read anew; nil if it is not.
  ///   - process: Returns the process's current additions to the host's status.
  /// - Throws: A ``HostFailure`` with the exit code for the process.
  public static func launch(
    _ configuration: HostConfiguration, allowMissing: Bool, acceptsStoreLoss: Bool = false, in directory: StateDirectory,
    program: String? = nil, log: Logger, reloading: Reloading? = nil, process: @escaping @Sendable () -> ProcessStatus
  ) throws(HostFailure) -> Host {
    let crashMemory = try CrashMemory(directory.crashMemory)
    Failpoint.directoryLocked.hit()
    if let mark = configuration.storeMark { try StateDirectory.check(mark: mark, outsideOf: directory.path) }
    let sealing = try configuration.sealing()
    let store: SQLiteRequestStore
    let marks = [directory.storeMark] + (configuration.storeMark.map { [$0] } ?? [])
    do {
      store = try SQLiteRequestStore(
        path: directory.database, marks: marks, traces: directory.storeTraces, program: program, sealing: sealing,
        acceptsLoss: acceptsStoreLoss
      ) { failure in
        guard let failure else { return log.notice("checkpoints of the store work again") }
        log.error("a checkpoint of the store failed, and its write-ahead log grows until one succeeds: \(failure)")
      }
    } catch {
      throw HostFailure(.configuration, "store \(directory.database): \(error)")
    }
    let parts: HostParts
    // Before the plugins are looked at: what changes from then on is noticed.
    let sources = ReloadSources(of: configuration)
    let (registry, specs): (PluginLaunching.Result, WorkerSpecs)
    var problems: [Problem] = []
    do throws(HostFailure) {
      parts = try HostParts(configuration, directory, store, crashMemory, program: program, log)
      let approvals = parts.approvalRule(atLaunchOf: configuration, &problems)
      (registry, specs) = try launchPlugins(parts, approvals, allowMissing: allowMissing, log)
    } catch {
      // The next launch then finds a store that was closed, not one of a killed host; so what this one found is said now.
      for note in store.lossNotes { log.warning("the store: \(note)") }
      store.close()
      throw error
    }
    let host = try Host(parts, registry, specs, problems, allowsMissing: allowMissing, log, reloading, process)
    host.watchSources(sources)
    return host
  }

  private static func launchPlugins(
    _ parts: HostParts, _ approvals: ApprovalRule?, allowMissing: Bool, _ log: Logger
  ) throws(HostFailure) -> (PluginLaunching.Result, WorkerSpecs) {
    let launching = try PluginLaunching(parts, parts.rules.current, approvals: approvals, log)
    let registry = try launching.launch()
    launching.conclude(registry, log)
    for refused in registry.refused {
      log.warning("plugin refused: \(refused.refusal)", metadata: ["code": "\(refused.refusal.code.rawValue)"])
    }
    if !allowMissing {
      let offered = Set(registry.registered.flatMap(\.identifiers) + registry.held.flatMap(\.identifiers))
      try launching.configuration.checkPermitted(offered: offered, refused: registry.refused)
    }
    return (registry, launching.specs)
  }

  private init(
    _ parts: HostParts, _ registry: PluginLaunching.Result, _ specs: WorkerSpecs, _ problems: [Problem], allowsMissing: Bool,
    _ log: Logger, _ reloading: Reloading?, _ process: @escaping @Sendable () -> ProcessStatus
  ) throws(HostFailure) {
    self.process = process
    (self.parts, self.rules, self.allowsMissing, self.reloading) = (parts, parts.rules, allowsMissing, reloading)
    (shutdownRequest, requestShutdown) = AsyncStream.makeStream(of: Never.self)
    let inForce = parts.rules.current
    let configuration = inForce.configuration
    let clock = parts.clock
    let events = parts.events
    let contracts = registry.registered.flatMap(\.contracts)
    let schedules = configuration.scheduledRequests()
    let payloads = TypedPayloads(contracts)
    let rejection = payloads.rejecting
    try Self.check(schedules, rejection)
    events.begin(try Tellers(configuration, contracts: contracts, log: log))
    let launcher = try parts.launcher(for: registry.registered, payloads: payloads)
    launched = Guarded(Launched(registry: registry, specs: specs, launcher: launcher))
    let scheduler = parts.scheduler
    self.scheduler = scheduler
    let fleet = try parts.fleetView(configuration, contracts, log)
    self.fleet = fleet
    let view = RequestView(scheduler: scheduler, store: parts.store, held: parts.requests, fleet: fleet)
    self.view = view
    explainer = RequestExplainer(view: view, lastRuns: events.lastRuns, host: configuration.fleetName)
    surroundings = try MachineMonitor(configuration, parts.directory, scheduler, clock: clock, log: log)
    parts.services.begin(registry.registered.map(\.identifiers), view, explainer) { [conditions = surroundings.conditions] in
      conditions.look()
    }
    self.events = events
    assertions = parts.assertions
    directory = parts.directory
    store = parts.store
    launchedFiles = LaunchedFiles(
      plugins: registry.files, directory: parts.directory, store: parts.store.files, board: board, log: log)
    if !parts.store.lossNotes.isEmpty {
      let problem = Problem(
        .storeLoss, of: parts.directory.database, "the store: \(parts.store.lossNotes.joined(separator: "; "))",
        remedy: "look for what is missing, and restore it from a copy if there is one", since: clock.wallTime, needsAction: false)
      board.raise(problem)
      log.warning("\(problem.text)")
    }
    crashMemory = parts.crashMemory
    self.log = log
    stateDirectory = parts.directory.path
    started = clock.wallTime
    for problem in configuration.problems(withHandlersFor: registry.known) + ProcessLimits.problems
      + problems + registry.held.map(\.pending.problem)
    {
      board.raise(problem)
      log.warning("\(problem.text)")
    }
    crashMemory.watch()
    if let loss = parts.store.checksumLoss { launchedFiles.lostChecksums(loss) }
    parts.store.beginCheck { [launchedFiles] in launchedFiles.checked($0) }
    SealingWatch(parts.directory.database, board, log).begin(parts.store)
    Failpoint.launchSealed.hit()
    do {
      let surroundings = self.surroundings
      let (lost, refused) = try scheduler.start(
        launcher, contracts: contracts, awaitingApproval: registry.awaitingApproval,
        schedules: schedules.filter { fleet?.identifiers.contains($0.key.identifier) != true },
        changes: registry.changes(sharing: fleet?.identifiers ?? []), rejection: rejection,
        completions: inForce.completions(among: registry.registered.map(\.identifiers)),
        crashed: parts.crashed, begun: parts.begun, moved: parts.moved,
        clocks: MachineMonitor.clockReference,
        observe: { notice in
          surroundings.receive(notice)
          events.receive(notice)
          if case .surrendered(let requests) = notice { fleet?.agent.surrendered(requests) }
        })
      parts.begunRuns.clear()
      if lost > 0 { log.notice("\(lost) runs were lost with the previous host process: their requests are pending again") }
      for (request, refusal) in refused { log.warning("a launch submission for \(request.identifier) was refused: \(refusal)") }
    } catch { throw HostFailure(.configuration, "store: \(error)") }
    fleet?.agent.cancelForLaunch(registry.cancelled(among: fleet?.identifiers ?? []))
    try fleet?.agent.begin()
    for plugin in registry.registered {
      plugin.logRegistration(to: log)
    }
    log.notice(
      "launched: \(registry.registered.count) plugins registered, \(registry.refused.count) refused",
      metadata: ["state": "\(stateDirectory)"])
  }

  // MARK: Plugins

  /// Releases a held or quarantined plugin, so that it gets runs immediately.
  public func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> PluginHealth {
    try await ask { self.scheduler.release(identifier, completion: $0) }
  }

  /// Starts the identifier's first pending request, or a new one, regardless of gates. Refused if no handler can be called, and if the fleet
  /// has the identifier and this host holds no such request: a new one would be the host's own.
  public func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord {
    if view.shares([identifier]) {
      var query = RequestQuery()
      (query.identifier, query.states, query.limit) = (identifier, [.pending, .claimed], 1000)
      guard try read({ () throws(StoreError) in try view.held.requests(query) }).contains(where: { $0.paused?.isParked != true }) else {
        throw RequestRefusal(
          .conflict,
          "this host holds no waiting request of \(identifier), and the fleet's requests wait in its database: "
            + "submit one with taskhost submit \(identifier)",
          field: "identifier")
      }
    }
    return try await ask { self.scheduler.simulateLaunch(identifier, completion: $0) }
  }

  /// Expires the identifier's live runs as if their budget were spent. Refused if no plugin has registered it.
  public func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID] {
    try await ask { self.scheduler.simulateExpiration(identifier, completion: $0) }
  }

  /// Replaces the observer of events; nil removes it.
  public func observe(_ observer: HostObserver?) {
    events.observe(observer)
    fleet?.agent.wake()
  }

  /// Returns once an observer set before this call receives every change that becomes durable from then on.
  public func settle() async { await withCheckedContinuation { continuation in scheduler.afterTurn { continuation.resume() } } }

  // MARK: The host

  var phase: HostPhase { currentPhase.withLock { $0 } }

  /// Calls `changed` once the file is watched, and whenever it may have changed, on a thread that must not block for long.
  public func watchFile(_ path: String, changed: @escaping @Sendable () -> Void) {
    guard !path.hasPrefix("/") else { return surroundings.watch(path, changed: changed) }
    guard let directory = getcwd(nil, 0) else { return log.warning("\(path) is not watched: the working directory is gone") }
    defer { free(directory) }
    surroundings.watch("\(String(cString: directory))/\(path)", changed: changed)
  }

  /// Calls `body` on the scheduler's thread, between its turns, with the number of live runs: never, if the scheduler hangs.
  public func whenScheduled(_ body: @escaping @Sendable (_ live: Int) -> Void) { scheduler.whenScheduled(body) }

  /// Whether the host accepts and runs requests. Reads from the store.
  public func health() -> HostHealth { HostHealth(phase: phase, storeProblem: storeProblem) }

  private var storeProblem: String? {
    // A host that is ending closes the store.
    guard phase == .launched else { return nil }
    if let error = launchedFiles.lookAtStore() ?? events.storeTrouble?.error { return "\(error)" }
    do throws(StoreError) {
      _ = try storeReports()
      return nil
    } catch { return "\(error)" }
  }

  /// Finishes ``shutdownRequest``. Returns immediately.
  public func shutdown() {
    endsSoon.store(true, ordering: .relaxed)
    requestShutdown.finish()
  }

  /// Whether ``shutdown()`` was called.
  public var isAskedToEnd: Bool { endsSoon.load(ordering: .relaxed) }

  /// Starts no more runs and waits for the live ones. After `drain_timeout` they expire with `draining`, and their grace begins. Takes no
  /// more assertions, and waits until none is held.
  public func drain() async {
    currentPhase.withLock { $0 = max($0, .draining) }
    assertions.close()
    await withCheckedContinuation { continuation in
      scheduler.drain(timeout: configuration.drainTimeout) { continuation.resume() }
      log.notice("draining: no new runs; live ones get \(configuration.drainTimeout.wholeMilliseconds / 1000) s")
    }
    await waitForAssertions()
  }

  /// Stops the live runs by force while the host drains, and waits for no assertion any more.
  public func forceDrain() {
    log.warning("stopping the live runs by force")
    scheduler.force()
    assertions.overrule()
  }

  /// Ends the drained host: calls the plugins' shutdown hooks, and closes the store last.
  ///
  /// - Returns: Whether some threads could not be ended; the process must then exit by `_exit`.
  public func close() -> Bool {
    Failpoint.beforeClose.hit()
    CrashMemory.leave()
    let left = launched.withLock { $0.launcher }.shutdown()
    reloadWatch.withLock { $0 }?.stop()
    launchedFiles.stop()
    surroundings.stop()
    assertions.stop()
    fleet?.agent.stop()
    scheduler.stop()
    events.stopNotifying()
    events.finish()
    store.close()
    Failpoint.storeClosed.hit()
    currentPhase.withLock { $0 = .stopped }
    log.notice("stopped", metadata: left > 0 ? ["abandoned_threads": "\(left)"] : [:])
    return left > 0
  }
}

extension TypedPayloads {
  /// Why a payload is refused; nil if it is not.
  var rejecting: @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? {
    { rejection(to: $0, for: $1) ?? TransferCheck.rejection(to: $0, for: $1) }
  }
}

extension PluginLaunching.Result {
  /// The registered identifiers by the paths of the files.
  var files: [String: [TaskIdentifier]] { Dictionary(registered.map { ($0.candidate.path, $0.identifiers) }) { $0 + $1 } }

  /// The identifiers whose plugins are not loaded because they wait for approval.
  var awaitingApproval: Set<TaskIdentifier> {
    Set(held.flatMap(\.identifiers)).subtracting(registered.flatMap(\.identifiers))
  }

  /// The identifiers that have a plugin, also if it waits for approval.
  var known: Set<String> { Set((registered.flatMap(\.identifiers) + held.flatMap(\.identifiers)).map(\.rawValue)) }

  /// What plugins asked for while they launched.
  ///
  /// - Parameter shared: The identifiers of the host's fleet.
  func changes(sharing shared: Set<TaskIdentifier>) -> [PluginLaunchChange] {
    registered.flatMap { plugin -> [PluginLaunchChange] in
      guard let first = plugin.identifiers.first else { return [] }
      return plugin.changes.map { change in
        var isForFleet = false
        if case .submit(let request) = change { isForFleet = shared.contains(request.identifier) }
        return PluginLaunchChange(change, by: first, isForFleet: isForFleet)
      }
    }
  }

  /// Those of these identifiers of which plugins have cancelled what was pending, while they launched.
  func cancelled(among shared: Set<TaskIdentifier>) -> Set<TaskIdentifier> {
    registered.reduce(into: []) { cancelled, plugin in
      for case .cancel(let identifiers) in plugin.changes { cancelled.formUnion(shared.intersection(identifiers)) }
    }
  }
}

extension RegisteredPlugin {
  func logRegistration(to log: Logger) {
    for contract in contracts {
      log.info(
        "registered \(contract.identifier)",
        metadata: ["file": "\(candidate.name)", "kind": "\(contract.kind.rawValue)", "isolation": "\(placement.isolation.rawValue)"])
    }
  }
}
