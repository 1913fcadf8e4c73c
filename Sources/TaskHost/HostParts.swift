import FleetStore
import HostConditions
import HostThreads
import Logging
import PluginRuntime
import PluginTrust
import TaskModel
import TaskScheduler
import TaskStore
import TypedCalls
import WorkerProcesses

/// The parts of a host that exist before its plugins launch.
struct HostParts: Sendable {
  let directory: StateDirectory
  let store: SQLiteRequestStore
  /// The store, and what the host holds for its fleet.
  let requests: any RequestStore
  /// What the ids of the fleet's requests share; nil if the host is in none.
  let fleet: UInt64?
  /// What of the store's requests the fleet has now, and as what: see `taskhost fleet import`.
  let moved: [RequestID: RequestID]
  /// Requests that the fleet has from the store, and that have ended in the store.
  let stale: [RequestID]
  /// The fleet for plugins that launch; nil if the host is in none.
  let launchFleet: LaunchFleet?
  /// The version of this program; nil if nobody says it.
  let program: String?
  let crashMemory: CrashMemory
  let begunRuns: BegunRuns
  let clock = SystemClock()
  let scheduler: Scheduler
  let rules: RulesInForce
  let services: PluginServices
  let events: EventBroadcaster
  let assertions: AssertionKeeper
  /// Receives launcher events. `events` notes a begin in memory that outlives the host before the scheduler records it.
  let sink: @Sendable (LauncherEvent) -> Void
  let processes: ProcessLauncher
  let copies: PluginCopies
  let approvals: ApprovalBook
  /// The runs that crashed the previous host process, each with a description.
  let crashed: [RunID: String]
  /// The runs that the previous host process handed out ahead and that had begun.
  let begun: Set<RunID>

  init(
    _ configuration: HostConfiguration, _ directory: StateDirectory, _ store: SQLiteRequestStore, _ crashMemory: CrashMemory,
    program: String?, _ log: Logger
  ) throws(HostFailure) {
    self.directory = directory
    self.store = store
    self.crashMemory = crashMemory
    self.program = program
    approvals = ApprovalBook(path: directory.approvals)
    rules = RulesInForce(HostRules(configuration, stateDirectory: directory.path))
    let failure: FleetError?
    (fleet, moved, stale, failure) = try Self.fleetOrigin(configuration, directory, store, log)
    launchFleet = LaunchFleet(configuration, origin: fleet, failure: failure)
    // By their ids, its own requests would be the fleet's.
    guard fleet != store.origin else {
      throw HostFailure(
        .configuration, "fleet.url: the store is an export of this fleet: remove fleet.url, or begin with an empty state directory")
    }
    requests = fleet.map { LeasedRequestStore(store, fleet: $0) } ?? store
    do { scheduler = try Self.scheduler(configuration.schedulingPolicy(), requests, clock, fleet: fleet, log) } catch {
      throw HostFailure(.configuration, "\(error)")
    }
    begunRuns = try BegunRuns(directory.begunRuns)
    let events = EventBroadcaster(scheduler, begunRuns: begunRuns, notices: configuration.noticeRules, log: log)
    self.events = events
    let inhibitor = ShutdownInhibitor { log.notice("\($0): a shutdown of the machine does not wait for execution assertions") }
    let assertions = AssertionKeeper(
      tell: { events.receive($0) }, spare: { [scheduler] in scheduler.spare($0) }, held: { inhibitor.set($0) })
    self.assertions = assertions
    services = PluginServices(scheduler, store: requests, clock: clock, rules: rules, assertions: assertions)
    let sink: @Sendable (LauncherEvent) -> Void = { [scheduler] event in
      events.receive(event)
      scheduler.receive(event)
      if case .ended(let run, _, _) = event { assertions.end(of: run) }
    }
    self.sink = sink
    let cgroups = WorkerCgroups.prepare()
    for sentence in cgroups.missing {
      log.log(level: configuration.limitsProcessors ? .warning : .debug, "limits are not enforced: \(sentence)")
    }
    do { processes = try ProcessLauncher(services: services, cgroups: cgroups.groups, sink: sink) } catch {
      throw HostFailure(.configuration, error.description)
    }
    do { copies = try PluginCopies(directory: directory.copies) } catch { throw HostFailure(.configuration, "plugin copies: \(error)") }
    if let previous = crashMemory.previous {
      log.error("the previous host process \(previous.observed)", metadata: previous.stack.isEmpty ? [:] : ["stack": "\(previous.stack)"])
    }
    let begun = Set(begunRuns.previous.map { RunID(sequence: $0, origin: store.origin) })
    self.begun = begun
    crashed = crashMemory.previous.map { CrashBlame.runs($0, begun: begun, in: store) } ?? [:]
  }

  /// A scheduler that has not started. Logs runs that it cannot record.
  static func scheduler(
    _ policy: SchedulingPolicy, _ store: any RequestStore, _ clock: any HostClock, fleet: UInt64? = nil, _ log: Logger
  ) throws(StoreError) -> Scheduler {
    try Scheduler(policy: policy, store: store, clock: clock, fleet: fleet) { run in
      log.error("the run ended too late to be recorded; the next host process counts it as lost", metadata: ["run": "\(run)"])
    }
  }

  func launcher(for plugins: [RegisteredPlugin], payloads: TypedPayloads) throws(HostFailure) -> PluginLauncher {
    let threads: ThreadLauncher
    do { threads = try ThreadLauncher(services: services, sink: sink) } catch {
      throw HostFailure(.configuration, error.description)
    }
    return PluginLauncher(
      threads: threads, processes: processes, inThreads: [], payloads: payloads, sink: sink
    ).serving(plugins, payloads: payloads)
  }
}

extension PluginLauncher {
  /// Puts these plugins in the place of all that it served, and returns the launcher of their runs. Live runs continue, also those of plugins
  /// that are not among them.
  func serving(_ plugins: [RegisteredPlugin], payloads: TypedPayloads) -> PluginLauncher {
    var here: Set<TaskIdentifier> = []
    var workers: [(worker: PluginWorker, contracts: [HandlerContract])] = []
    for plugin in plugins {
      switch plugin.placement {
      case .thread(let launched):
        threads.add(launched, contracts: plugin.contracts)
        here.formUnion(plugin.contracts.map(\.identifier))
      case .process(let worker):
        if plugin.isKept { worker.adopt(plugin.registrations, contracts: plugin.contracts) }
        workers.append((worker, plugin.contracts))
      case .untried: break
      }
    }
    threads.remove(inThreads.subtracting(here))
    processes.replace(with: workers)
    return PluginLauncher(threads: threads, processes: processes, inThreads: here, payloads: payloads, sink: sink)
  }
}
