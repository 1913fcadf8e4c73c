import PluginRuntime
import TaskModel
import WorkerProcesses

/// Runs each handler where its plugin is: in threads of the host, or in a worker process.
struct PluginLauncher: Launcher {
  let threads: ThreadLauncher
  let processes: ProcessLauncher
  /// The identifiers whose plugins are in the host.
  let inThreads: Set<TaskIdentifier>

  func start(_ orders: [RunOrder]) {
    guard !inThreads.isEmpty else { return processes.start(orders) }
    let here = orders.filter { inThreads.contains($0.contract.identifier) }
    if !here.isEmpty { threads.start(here) }
    if here.count < orders.count { processes.start(orders.filter { !inThreads.contains($0.contract.identifier) }) }
  }

  // A run that one of them does not have, it leaves alone.

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
