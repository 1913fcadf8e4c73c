import CTaskHost
import TaskHostSDK

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Starting runs, and the end of the test host.
extension HostCore {
  /// Starts a run of a pending request on a thread of its own, now.
  ///
  /// - Throws: ``TestHostError``.
  func start(_ id: String, _ interruptions: [Interruption]) throws(TestHostError) -> RunState {
    let plugin = try monitor.locked { () throws(TestHostError) in try startable(id).0 }
    if monitor.locked({ plugin.mustRelaunch }) { try launch(plugin) }
    let run = try monitor.locked { () throws(TestHostError) in
      let (plugin, handler, record) = try startable(id)
      let run = try RunState(core: self, plugin: plugin, handler: handler, request: record, interruptions: interruptions)
      requests[id]?.state = .running
      runs.append(run)
      lastMovement = Monitor.realNanoseconds
      Registry.enter(run)
      return run
    }
    let name = String(run.handler.identifier.split(separator: ".").last ?? "task")
    do throws(TestHostError) {
      try PluginThread.start(name) { [self] in serve(run) }
    } catch {
      monitor.locked { kill(run) }
      Registry.leave(run)
      throw error
    }
    return run
  }

  /// The body of a run's thread.
  private func serve(_ run: RunState) {
    monitor.locked { run.thread = pthread_self() }
    let result = run.handler.function(run.handle, run.handler.context)
    let isKilled = monitor.locked {
      returned(run, result)
      run.thread = nil
      return run.phase == .killed
    }
    if !isKilled { Registry.leave(run) }
  }

  /// With the lock held: whose run it would be.
  private func startable(_ id: String) throws(TestHostError) -> (HostedPlugin, RegisteredHandler, RequestRecord) {
    guard !isStopped else { throw TestHostError.notPossible("the test host was stopped") }
    guard let record = requests[id] else { throw TestHostError.nothingThere("there is no request \(id)") }
    guard record.state == .pending else {
      throw TestHostError.notPossible("the request \(id) is \(record.state.rawValue), not pending:\n\(snapshot(record))")
    }
    let identifier = record.submitted.identifier
    guard let plugin = plugins.first(where: { $0.registers(identifier) }),
      let handler = plugin.handlers.first(where: { $0.identifier == identifier })
    else { throw TestHostError.nothingThere("no plugin of this test host has registered \(identifier)") }
    guard !isDraining else { throw TestHostError.notPossible("the test host is draining") }
    let live = runs.count { $0.handler.identifier == identifier }
    guard live < handler.maxConcurrentRuns else {
      throw TestHostError.notPossible("\(live) of \(handler.maxConcurrentRuns) runs of \(identifier) are live, the most it registered for")
    }
    return (plugin, handler, record)
  }

  /// With the lock held.
  func snapshot(_ record: RequestRecord) -> HostedRequest {
    HostedRequest(
      id: record.id, submitted: record.submitted, state: record.state, attempt: record.attempt, due: moment(record.due),
      checkpoint: record.checkpoint, runs: record.runs)
  }

  /// With the lock held: the pending request that is due first, of those whose handler is here and whose conditions hold.
  func next() -> RequestRecord? {
    requestOrder.compactMap { requests[$0] }
      .filter { record in
        record.state == .pending && conditions.isSuperset(of: record.submitted.conditions)
          && plugins.contains { $0.registers(record.submitted.identifier) }
      }
      .min { moment($0.due) < moment($1.due) }
  }

  /// Gives up all runs and ends the clock's thread.
  func stop() {
    monitor.locked {
      isStopped = true
      for run in runs { force(run) }
      abandonWaiters()
      monitor.wakeClock()
    }
  }
}
