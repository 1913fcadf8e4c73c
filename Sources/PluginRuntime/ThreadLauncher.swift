import CTaskHost
public import HostThreads
import Synchronization
public import TaskModel

/// Runs handlers in threads of this process: `isolation = "thread"` in the host, and every isolation inside a worker.
///
/// A thread cannot be ended from outside. A handler that ignores its expiration is abandoned: its run ends, its handle goes stale, and
/// its plugin takes no more runs until the thread has returned.
public final class ThreadLauncher: Launcher {
  private struct Plugin {
    let handler: PluginHandler
    let threads: RunThreads
    var abandoned = 0
  }

  private struct State {
    var plugins: [TaskIdentifier: Plugin] = [:]
    var hooks: [ShutdownHook] = []
    var live: [RunID: LiveRun] = [:]
  }

  private let services: any RunServices
  private let sink: @Sendable (LauncherEvent) -> Void
  private let state = Mutex(State())
  private let deadlines: DeadlineThreads

  /// - Parameters:
  ///   - services: What runs ask for beyond their own thread.
  ///   - sink: Told what happens, on the launcher's threads; returns promptly.
  public init(services: any RunServices, sink: @escaping @Sendable (LauncherEvent) -> Void) throws(HostThread.Failure) {
    self.services = services
    self.sink = sink
    let relay = Relay()
    deadlines = try DeadlineThreads { run in relay.launcher?.carryOut(run) }
    relay.launcher = self
  }

  /// Adds the handlers of a plugin that has launched. `contracts` are what it registered with the operator's limits applied.
  public func add(_ plugin: LaunchedPlugin, contracts: [HandlerContract]) {
    for handler in plugin.handlers {
      guard let contract = contracts.first(where: { $0.identifier == handler.registered.identifier }) else { continue }
      let threads = RunThreads(
        name: HostThread.name(for: contract.identifier.rawValue), limit: contract.maxConcurrentRuns,
        execute: { [self] run in execute(run, with: handler) },
        refuse: { [self] run, reason in
          let (ending, report) = run.abandonStart(reason)
          finish(run, ending, report)
        })
      state.withLock { $0.plugins[contract.identifier] = Plugin(handler: handler, threads: threads) }
    }
    if let hook = plugin.shutdown { state.withLock { $0.hooks.append(hook) } }
  }

  public func start(_ orders: [RunOrder]) {
    var batches: [(threads: RunThreads, runs: [LiveRun])] = []
    var positions: [TaskIdentifier: Int] = [:]
    var refused: [LiveRun] = []
    state.withLock { state in
      for order in orders {
        let run = LiveRun(order: order, services: services, sink: sink)
        let identifier = order.contract.identifier
        guard let plugin = state.plugins[identifier], RunTable.shared.enter(run) else {
          refused.append(run)
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
    for run in refused {
      let (ending, report) = run.abandonStart("no handler or no free slot for it: 65,536 runs are live")
      sink(.ended(run.order.run, ending, report))
    }
  }

  public func expire(_ run: RunID, reason: StopReason) { stop(run, reason: reason, force: false) }

  public func force(_ run: RunID, reason: StopReason) { stop(run, reason: reason, force: true) }

  private func stop(_ run: RunID, reason: StopReason, force: Bool) {
    guard let live = state.withLock({ $0.live[run] }) else { return }
    live.request(stop: reason, force: force)
    deadlines.arm(live, at: SystemClock.now)
  }

  public func shutdown() -> Int {
    let (hooks, abandoned) = state.withLock { state in
      defer { state.hooks = [] }
      return (state.hooks, state.plugins.values.reduce(0) { $0 + $1.abandoned })
    }
    return abandoned + PluginImage.shutDown(hooks)
  }

  // MARK: One run, on its thread

  /// Returns whether the thread may serve another run.
  private func execute(_ run: LiveRun, with handler: PluginHandler) -> Bool {
    guard run.begin() else { return true }
    deadlines.arm(run, at: run.deadline)
    let cpu = SystemClock.threadTime
    let result = handler.function(run.handle, handler.context)
    guard let (ending, report) = run.end(result: result, cpuTime: SystemClock.threadTime - cpu) else {
      threadCameBack(run)
      return false
    }
    finish(run, ending, report)
    return true
  }

  private func finish(_ run: LiveRun, _ ending: RunEnding, _ report: RunReport) {
    deadlines.disarm(run)
    RunTable.shared.leave(run, stillRunning: false)
    state.withLock { _ = $0.live.removeValue(forKey: run.order.run) }
    sink(.ended(run.order.run, ending, report))
  }

  // MARK: Expiration and force, on a deadline thread

  private func carryOut(_ run: LiveRun) {
    switch run.due(at: SystemClock.now) {
    case .nothing(let next): if next != .distantFuture { deadlines.arm(run, at: next) }
    case .expire(let reason):
      // Force must come on time even if the handler called now never returns.
      deadlines.arm(run, at: SystemClock.now + run.order.contract.grace)
      run.expire(reason)
    case .force(let reason): abandon(run, reason)
    }
  }

  private func abandon(_ run: LiveRun, _ reason: StopReason) {
    guard let (ending, report, wasLive) = run.close(byForce: reason) else { return }
    guard wasLive else { return finish(run, ending, report) }
    let identifier = run.order.contract.identifier
    state.withLock { state in
      state.plugins[identifier]?.abandoned += 1
      state.plugins[identifier]?.threads.abandonThread()
      state.live.removeValue(forKey: run.order.run)
    }
    deadlines.disarm(run)
    RunTable.shared.leave(run, stillRunning: true)
    sink(.suspended(identifier, "run \(run.order.run) ignored its expiration; its thread has not returned"))
    sink(.ended(run.order.run, ending, report))
  }

  /// The handler of an abandoned run has returned after all.
  private func threadCameBack(_ run: LiveRun) {
    let identifier = run.order.contract.identifier
    let left = state.withLock { state in
      state.plugins[identifier]?.abandoned -= 1
      return state.plugins[identifier]?.abandoned ?? 0
    }
    RunTable.shared.forget(run)
    if left == 0 { sink(.resumed(identifier)) }
  }

  /// Lets the deadline threads, which are made first, know the launcher.
  private final class Relay: @unchecked Sendable {  // reason: set once, before any run is armed
    weak var launcher: ThreadLauncher?
  }
}
