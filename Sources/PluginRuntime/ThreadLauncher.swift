import CCrashCell
import CTaskHost
import Glibc
public import HostThreads
public import TaskModel

/// Runs handlers in threads of this process: `isolation = "thread"` in the host, and every isolation inside a worker.
///
/// A thread cannot be ended from outside. A handler that ignores its expiration is abandoned: its run ends, its handle goes stale, and
/// its plugin takes no more runs until the thread has returned.
///
/// The sink learns of a plugin's suspension before the end of the run that caused it, and of `resumed` after both. An `expired` event is
/// sent beside the call of the expiration handler, so it may come after the `ended` of a run that returns at that very moment.
public final class ThreadLauncher: Launcher {
  private struct Plugin {
    var handler: PluginHandler
    /// Of all handlers of the same plugin.
    var kinds: [TaskIdentifier: TaskKind]
    let threads: RunThreads
    var abandoned = 0
    /// Whether it gets no more runs.
    var isGone = false
  }

  private struct State {
    var plugins: [TaskIdentifier: Plugin] = [:]
    var hooks: [(hook: ShutdownHook, identifiers: [TaskIdentifier])] = []
    var live: [RunID: LiveRun] = [:]
    /// Whether no deadline ends a run.
    var isSuspended = false
  }

  private let services: any RunServices
  private let sink: @Sendable (LauncherEvent) -> Void
  private let stallLimit: @Sendable (TaskKind) -> Duration?
  private let role: Role
  private let state = Guarded(State())
  /// Held while the sink is told of a suspension or its end, so that it learns of them in order.
  private let telling = Monitor()
  private let clock: any RunClock
  private let deadlines: any RunDeadlines
  private let idleness = IdleAllowance()

  /// The kind of process that the threads are in.
  public enum Role: Sendable {
    /// The host: a run whose grace is over is closed although its thread continues.
    case host
    /// A worker: when a grace is over, the worker only reports `stuck`, and its host, which also keeps the time, kills it. The resources of
    /// a run are measured for the whole process if no other run can have a share in them.
    case worker
  }

  /// - Parameters:
  ///   - services: Serve the calls of runs that go beyond their own thread.
  ///   - sink: Receives events on the launcher's threads; must return promptly.
  public convenience init(
    services: any RunServices, role: Role = .host, sink: @escaping @Sendable (LauncherEvent) -> Void
  ) throws(HostThread.Failure) {
    try self.init(services: services, role: role, stallLimit: { $0.stallLimit }, sink: sink)
  }

  /// As the public one, with another stall limit than the kinds', or another clock.
  package init(
    services: any RunServices, role: Role = .host, stallLimit: @escaping @Sendable (TaskKind) -> Duration?,
    clock: (any RunClock)? = nil, sink: @escaping @Sendable (LauncherEvent) -> Void
  ) throws(HostThread.Failure) {
    self.services = services
    self.role = role
    self.stallLimit = stallLimit
    self.sink = sink
    let relay = Guarded(Relay())
    self.clock = clock ?? MachineClock()
    deadlines = try self.clock.deadlines { run in
      relay.withLock { $0.launcher }?.carryOut(run.handle(.look(on: pthread_self())), of: run)
    }
    relay.withLock { $0.launcher = self }
  }

  /// Adds the handlers of a launched plugin, or puts them in the place of those that have served its identifiers: live runs keep theirs.
  /// `contracts` include the operator's limits.
  public func add(_ plugin: LaunchedPlugin, contracts: [HandlerContract]) {
    let kinds = Dictionary(plugin.handlers.map { ($0.registered.identifier, $0.registered.kind) }) { first, _ in first }
    for handler in plugin.handlers {
      guard let contract = contracts.first(where: { $0.identifier == handler.registered.identifier }) else { continue }
      let present = state.withLock { state -> RunThreads? in
        guard var present = state.plugins[contract.identifier] else { return nil }
        (present.handler, present.kinds, present.isGone) = (handler, kinds, false)
        state.plugins[contract.identifier] = present
        return present.threads
      }
      if let present {
        present.limit(to: contract.maxConcurrentRuns)
        continue
      }
      let threads = RunThreads(
        name: HostThread.name(for: contract.identifier.rawValue), limit: contract.maxConcurrentRuns, idleness: idleness,
        execute: { [self] run in execute(run) },
        refuse: { [self] runs, reason in
          sink(.shortage(contract.identifier, reason, .resources))
          for run in runs { carryOut(run.handle(.withdraw), of: run) }
        })
      state.withLock { $0.plugins[contract.identifier] = Plugin(handler: handler, kinds: kinds, threads: threads) }
    }
    guard let hook = plugin.shutdown else { return }
    let identifiers = plugin.handlers.map(\.registered.identifier)
    state.withLock { state in
      state.hooks.removeAll { $0.identifiers == identifiers }
      state.hooks.append((hook, identifiers))
    }
  }

  /// Lets these identifiers have no more runs. Their code stays loaded, live runs continue, and shutdown hooks are called in the end.
  public func remove(_ identifiers: some Sequence<TaskIdentifier>) {
    state.withLock { state in for identifier in identifiers { state.plugins[identifier]?.isGone = true } }
  }

  /// Begins runs, each on a thread of its plugin. A run without a handler ends immediately as a retry with a message; a run without
  /// a handle or a thread is given back.
  public func start(_ orders: [RunOrder]) {
    var batches: [(threads: RunThreads, runs: [LiveRun])] = []
    var positions: [TaskIdentifier: Int] = [:]
    var refused: [(run: LiveRun, reason: String)] = []
    var withoutHandle: [RunOrder] = []
    state.withLock { state in
      for order in orders {
        let identifier = order.contract.identifier
        let plugin = state.plugins[identifier].flatMap { $0.isGone ? nil : $0 }
        let run = LiveRun(
          order: order, handler: plugin?.handler, kinds: plugin?.kinds ?? [:], stallLimit: stallLimit(order.contract.kind),
          isSuspended: state.isSuspended, services: services, clock: clock, deadlines: deadlines, sink: sink)
        guard let plugin else {
          refused.append((run, "no handler for \(identifier) is loaded"))
          continue
        }
        guard RunTable.shared.enter(run) else {
          withoutHandle.append(order)
          continue
        }
        state.live[order.run] = run
        if let position = positions[identifier] {
          batches[position].runs.append(run)
        } else {
          positions[identifier] = batches.count
          batches.append((plugin.threads, [run]))
        }
      }
    }
    for batch in batches { batch.threads.start(batch.runs) }
    for (run, reason) in refused { carryOut(run.handle(.refuse(reason)), of: run) }
    for order in withoutHandle {
      sink(.shortage(order.contract.identifier, "no handle is left for a run: 65,536 are live", .resources))
      sink(.withdrawn(order.run))
    }
  }

  /// Forgets the runs of this process that have expired and returned: their requests are no longer accepted, even within their grace. Call
  /// it to leave only the memory that plugins keep themselves.
  public static func forgetReturnedRuns() { RunTable.shared.forgetGraced() }

  /// Withdraws those that wait for a thread.
  public func withdraw(_ runs: [RunID]) {
    var waiting: [TaskIdentifier: Set<ObjectIdentifier>] = [:]
    for id in runs {
      guard let run = state.withLock({ $0.live[id] }) else { continue }
      let effects = run.handle(.withdraw)
      guard !effects.isEmpty else {
        sink(.began(id))
        continue
      }
      waiting[run.order.contract.identifier, default: []].insert(ObjectIdentifier(run))
      carryOut(effects, of: run)
    }
    for (identifier, runs) in waiting { state.withLock { $0.plugins[identifier]?.threads }?.forget(runs) }
  }

  /// Suspends budgets, stall limits and graces, or lets those of all live runs begin anew. Runs that are asked to stop still are.
  public func suspendBudgets(_ isSuspended: Bool) {
    let live = state.withLock { state in
      state.isSuspended = isSuspended
      return Array(state.live.values)
    }
    for run in live { carryOut(run.handle(.suspendBudget(isSuspended)), of: run) }
  }

  /// Asks a run to stop, on a deadline thread.
  public func expire(_ run: RunID, reason: StopReason) { ask(run, .expire(reason)) }

  /// Ends a run on a deadline thread, and abandons the run's thread if it is in the handler.
  public func force(_ run: RunID, reason: StopReason) { ask(run, .force(reason)) }

  private func ask(_ run: RunID, _ event: RunMachine.Event) {
    guard let live = state.withLock({ $0.live[run] }) else { return }
    carryOut(live.handle(event), of: live)
  }

  /// Calls the hooks of plugins without abandoned runs, because a hook may rely on no run being live.
  public func shutdown() -> Int {
    let (hooks, abandoned) = state.withLock { state in
      let busy = state.plugins.filter { $0.value.abandoned > 0 }
      defer { state.hooks = [] }
      return (
        state.hooks.filter { entry in !entry.identifiers.contains { busy[$0] != nil } }.map(\.hook),
        busy.values.reduce(0) { $0 + $1.abandoned }
      )
    }
    deadlines.end()
    return abandoned + PluginImage.shutDown(hooks)
  }

  /// Forgets the handlers and the runs that have returned. No further run begins, and the launcher can be freed.
  package func forgetPlugins() {
    state.withLock { $0.plugins = [:] }
    RunTable.shared.forgetGraced { ($0.services as AnyObject) === (services as AnyObject) }
  }

  // MARK: One run, on its thread

  /// Returns whether the thread may serve another run.
  private func execute(_ run: LiveRun) -> Bool {
    guard let handler = run.handler else { return true }
    if let time = run.order.notBefore { SystemClock.waitExactly(until: time) }
    // Before it is told: what is told is never too early for what its record says.
    let began = services.wallTime
    let effects = run.handle(.begin(thread: taskhost_crash_thread_number()))
    if effects.isEmpty { return true }
    carryOut(effects, of: run)
    let isAlone = role == .worker && run.order.contract.maxConcurrentRuns == 1
    let meter = RunMeter(of: isAlone ? .process : .thread, measuringMemory: role == .worker, began: began)
    let watch = ThreadExit.begin(run) { [self] run in carryOut(run.handle(.vanished(meter.read())), of: run) }
    let result = handler.call(run)
    ThreadExit.end(watch)
    carryOut(run.handle(.returned(TaskResult(result), meter.read())), of: run)
    return !run.ask(\.report.forced)
  }

  /// Performs the effects of the run's machine.
  private func carryOut(_ effects: [RunMachine.Effect], of run: LiveRun) {
    for effect in effects {
      switch effect {
      case .rouse: break
      case .arm(let time): deadlines.arm(run, at: time)
      case .tell(let event): sink(event)
      case .callExpirationHandler(let call, let reason): carryOut(run.perform(call, reason: reason), of: run)
      case .callAssertionHandler(let assertion, let call): carryOut(run.perform(call, of: assertion), of: run)
      case .force(let reason): force(run, reason)
      case .leave: leave(run)
      case .suspend: suspend(run)
      case .replaceThread: state.withLock { $0.plugins[run.order.contract.identifier]?.threads }?.abandonThread()
      case .confirmTold: carryOut(run.handle(.abandonmentTold), of: run)
      case .resume: resume(run)
      }
    }
  }

  private func leave(_ run: LiveRun) {
    deadlines.disarm(run)
    RunTable.shared.leave(run, stillRunning: false)
    state.withLock { _ = $0.live.removeValue(forKey: run.order.run) }
  }

  /// Closes a run, on a deadline thread.
  private func force(_ run: LiveRun, _ reason: StopReason) {
    var trouble: String?
    if let number = run.ask(\.threadOfLiveHandler) {
      let (name, stack) = StuckThread.look(at: number)
      sink(.stuck(run.context, thread: name, stack: stack))
      // The host ends this process now.
      guard role == .host else { return }
      trouble = "stuck in thread \(name)" + (stack.isEmpty ? ", whose stack could not be read" : "\n\(stack)")
    }
    carryOut(run.handle(.close(reason, trouble: trouble)), of: run)
  }

  /// A run that was closed by force, and its handler still runs.
  private func suspend(_ run: LiveRun) {
    let identifier = run.order.contract.identifier
    deadlines.disarm(run)
    RunTable.shared.leave(run, stillRunning: true)
    telling.locked {
      state.withLock { state in
        state.plugins[identifier]?.abandoned += 1
        state.live[run.order.run] = nil
      }
      sink(.suspended(identifier, "run \(run.order.run) was stopped by force; its thread has not returned"))
    }
  }

  /// The handler of an abandoned run has returned late.
  private func resume(_ run: LiveRun) {
    RunTable.shared.forget(run)
    let identifier = run.order.contract.identifier
    telling.locked {
      let left = state.withLock { state in
        state.plugins[identifier]?.abandoned -= 1
        return state.plugins[identifier]?.abandoned ?? 0
      }
      if left == 0 { sink(.resumed(identifier)) }
    }
  }

  /// Connects the deadline threads, which are created first, with the launcher.
  private struct Relay {
    weak var launcher: ThreadLauncher?
  }
}
