import HostThreads
import TaskModel

/// Which worker has a live run. The launcher adds a run when it hands it out; the worker removes it when it tells that the run is over.
final class RunOwners: Sendable {
  private let owners = Guarded<[RunID: PluginWorker]>([:])

  subscript(run: RunID) -> PluginWorker? { owners.withLock { $0[run] } }

  func add(_ runs: [RunID], of worker: PluginWorker) {
    owners.withLock { owners in for run in runs { owners[run] = worker } }
  }

  func remove(_ run: RunID) { owners.withLock { _ = $0.removeValue(forKey: run) } }

  /// The runs that are live, each with its worker.
  func grouped(_ runs: [RunID]) -> [(worker: PluginWorker, runs: [RunID])] {
    let owned = owners.withLock { owners in runs.compactMap { run in owners[run].map { (worker: $0, run: run) } } }
    return Dictionary(grouping: owned) { ObjectIdentifier($0.worker) }.values.map { ($0[0].worker, $0.map(\.run)) }
  }
}
