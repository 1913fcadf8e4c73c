import PluginRuntime
import TaskModel
import TypedCalls
import WorkerProcesses

/// Runs each handler where its plugin is loaded: in threads of the host, or in a worker process.
struct PluginLauncher: Launcher {
  let threads: ThreadLauncher
  let processes: ProcessLauncher
  let inThreads: Set<TaskIdentifier>
  let payloads: TypedPayloads
  /// Receives the end of runs that cannot begin.
  let sink: @Sendable (LauncherEvent) -> Void

  func start(_ orders: [RunOrder]) {
    let orders = payloads.isEmpty ? orders : orders.compactMap(complete)
    let here = inThreads.isEmpty ? [] : orders.filter { inThreads.contains($0.contract.identifier) }
    if !here.isEmpty { threads.start(here) }
    guard here.count < orders.count else { return }
    processes.start(here.isEmpty ? orders : orders.filter { !inThreads.contains($0.contract.identifier) })
  }

  /// Adds the arguments of a typed handler. Returns nil if the payload does not fit; the run has then ended.
  private func complete(_ order: RunOrder) -> RunOrder? {
    do throws(TypedPayloadError) { return try payloads.complete(order) } catch {
      var report = RunReport()
      report.message = "the payload does not fit the handler, which has another signature than when it was submitted: \(error)"
      sink(.ended(order.run, .returned(.failure, stop: nil), report))
      return nil
    }
  }

  // Each launcher ignores runs that it does not have.

  func withdraw(_ runs: [RunID]) {
    guard !runs.isEmpty else { return }
    if !inThreads.isEmpty { threads.withdraw(runs) }
    processes.withdraw(runs)
  }

  func expire(_ run: RunID, reason: StopReason) {
    threads.expire(run, reason: reason)
    processes.expire(run, reason: reason)
  }

  func force(_ run: RunID, reason: StopReason) {
    threads.force(run, reason: reason)
    processes.force(run, reason: reason)
  }

  func shutdown() -> Int {
    processes.shutdown() + threads.shutdown()
  }
}
