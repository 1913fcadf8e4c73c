public import HostThreads
public import TaskModel

/// Runs handlers in worker processes, one for each plugin: `isolation = "process"`.
///
/// A crash, a hang, an `exit()` or a memory blow-up of a plugin costs its worker alone.
public final class ProcessLauncher: Launcher {
  private let surroundings: PluginWorker.Surroundings
  private let workers = Guarded<[TaskIdentifier: PluginWorker]>([:])
  /// Those that only have runs to end.
  private let leaving = Guarded<[PluginWorker]>([])
  /// The identifiers whose workers the kernel kills, and when; see ``lease(_:until:)``. Held while workers are told, so that they hear of
  /// renewals in order.
  private let leased = Guarded<(identifiers: Set<TaskIdentifier>, end: Int64)>(([], 0))

  /// - Parameters:
  ///   - services: What runs ask for beyond their own process.
  ///   - cgroups: Where each worker gets a group of its own; nil: none does.
  ///   - sink: Told what happens, on one thread for all workers or on a caller's; returns promptly.
  public init(
    services: any WorkerServices, cgroups: WorkerCgroups? = nil, sink: @escaping @Sendable (LauncherEvent) -> Void
  ) throws(HostThread.Failure) {
    surroundings = PluginWorker.Surroundings(
      loop: try WorkerEventLoop(), spawner: try WorkerSpawner(), services: services, cgroups: cgroups, owners: RunOwners(), sink: sink)
  }

  /// A plugin's worker, without a process yet.
  ///
  /// - Parameter policy: What the host decides while it launches.
  public func worker(_ spec: WorkerSpec, policy: any LaunchPolicy) -> PluginWorker {
    PluginWorker(spec, policy: policy, surroundings: surroundings)
  }

  /// Adds a plugin that has launched, for the identifiers of `contracts`.
  public func add(_ worker: PluginWorker, contracts: [HandlerContract]) {
    workers.withLock { for contract in contracts { $0[contract.identifier] = worker } }
  }

  /// Puts these plugins in the place of all that were added before. A worker that is not among them keeps its live runs and ends with the last
  /// of them.
  public func replace(with plugins: [(worker: PluginWorker, contracts: [HandlerContract])]) {
    let kept = Set(plugins.map { ObjectIdentifier($0.worker) })
    let replaced = workers.withLock { workers in
      let before = Dictionary(workers.values.map { (ObjectIdentifier($0), $0) }) { first, _ in first }
      workers = [:]
      for (worker, contracts) in plugins { for contract in contracts { workers[contract.identifier] = worker } }
      return before.filter { !kept.contains($0.key) }.map(\.value)
    }
    leaving.withLock { leaving in
      leaving.removeAll(where: \.isOver)
      leaving += replaced
    }
    for worker in replaced { worker.leave() }
    // A host that freezes before its next renewal tells them nothing.
    leased.withLock { leased in
      for (worker, contracts) in plugins where contracts.contains(where: { leased.identifiers.contains($0.identifier) }) {
        worker.lease(until: leased.end)
      }
    }
  }

  /// The process that serves an identifier now; nil: none.
  public func processID(of identifier: TaskIdentifier) -> Int32? { workers.withLock { $0[identifier] }?.processID }

  /// Has the kernel kill the workers of these identifiers at a time of the boot clock, unless a later call sets another time. Workers that start
  /// later, or that ``replace(with:)`` brings, are killed then too.
  ///
  /// - Parameter end: In nanoseconds. With 0, workers that start later are not killed; nil keeps the time of the last call.
  public func lease(_ identifiers: [TaskIdentifier], until end: Int64?) {
    leased.withLock { leased in
      leased = (Set(identifiers), end ?? leased.end)
      let all = workers.withLock { workers in identifiers.compactMap { workers[$0] } } + leaving.withLock { $0 }
      for worker in all { worker.lease(until: leased.end) }
    }
  }

  /// Gives each run to its plugin's worker, which is started if need be.
  public func start(_ orders: [RunOrder]) {
    var batches: [(worker: PluginWorker, orders: [RunOrder])] = []
    var refused: [RunOrder] = []
    let workers = workers.withLock { $0 }
    for order in orders {
      guard let worker = workers[order.contract.identifier] else {
        refused.append(order)
        continue
      }
      if let position = batches.lastIndex(where: { $0.worker === worker }) {
        batches[position].orders.append(order)
      } else {
        batches.append((worker, [order]))
      }
    }
    for batch in batches {
      surroundings.owners.add(batch.orders.map(\.run), of: batch.worker)
      batch.worker.start(batch.orders)
    }
    for order in refused {
      var report = RunReport()
      report.message = "no handler for \(order.contract.identifier) is loaded"
      surroundings.sink(.ended(order.run, .returned(.retry, stop: nil), report))
    }
  }

  /// Takes back those that have not begun. What a worker has been sent, it is asked for.
  public func withdraw(_ runs: [RunID]) {
    for (worker, runs) in surroundings.owners.grouped(runs) { worker.withdraw(runs) }
  }

  /// Asks a run to stop.
  public func expire(_ run: RunID, reason: StopReason) { surroundings.owners[run]?.expire(run, reason: reason) }

  /// Kills the run's worker; the other runs it had are lost.
  public func force(_ run: RunID, reason: StopReason) { surroundings.owners[run]?.force(run, reason: reason) }

  /// Lets every worker call its plugin's shutdown hook and end; kills those that do not in 5 s.
  public func shutdown() -> Int {
    let every = workers.withLock { Array($0.values) } + leaving.withLock { $0 }
    let all = Array(Dictionary(every.map { (ObjectIdentifier($0), $0) }) { first, _ in first }.values)
    for worker in all { worker.close() }
    // The loop kills a worker that is late; what is waited for here is that it has been reaped.
    let deadline = SystemClock.now + WorkerMachine.shutdownLimit + .seconds(3)
    let left = all.filter { !$0.hasEnded(by: deadline) }.count
    surroundings.spawner.end()
    surroundings.loop.end()
    return left
  }
}
