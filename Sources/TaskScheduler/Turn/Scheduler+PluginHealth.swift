import HostThreads
public import TaskModel

/// How plugins stand. Answers come on the scheduler's thread.
extension Scheduler {
  /// The plugins' health as ``start(contracts:schedules:changes:crashed:)`` will find it, before any plugin is launched: whoever took
  /// the host along is counted already. Writes nothing.
  ///
  /// - Parameters:
  ///   - crashed: As for ``start(contracts:schedules:changes:crashed:)``.
  ///   - retry: The operator's backoff.
  public static func pluginHealth(
    in store: any RequestStore, crashed: [RunID: String], retry: RetryPolicy, now: WallTime
  ) throws(StoreError) -> [TaskIdentifier: PluginHealth] {
    try store.commit { transaction in
      SchedulerCore.pluginHealth(
        try transaction.pluginHealth(), afterHostDiedOf: crashed, among: try transaction.running() + transaction.claimed(), retry: retry,
        now: now)
    }
  }

  /// Lets a plugin run again that is held back or quarantined, with nothing held against it. Refused with `notFound` when nobody
  /// registered the identifier and it has no health.
  ///
  /// - Parameter completion: Gets the health it had.
  public func release(_ identifier: TaskIdentifier, completion: @escaping @Sendable (Result<PluginHealth, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, _ in try core.release(identifier, transaction) }
  }

  /// When the next request is due that could be started then, and how each handler stands.
  public func health(
    completion: @escaping @Sendable (_ nextStart: WallTime?, _ handlers: [TaskIdentifier: HandlerOverview]) -> Void
  ) {
    inspect { core, now in completion(core.nextStart(now: now), core.handlers.mapValues { core.overview(of: $0, now: now) }) }
  }

  /// Has runs begun. Those of a plugin whose crash or forced stop waits to be recorded are given back instead: from that turn on it is held
  /// back. On the thread.
  func begin(_ orders: [RunOrder]) {
    let struck = failuresToCome()
    guard !struck.isEmpty else { return launcher.start(orders) }
    let sound = orders.filter { !struck.contains($0.contract.identifier) }
    if !sound.isEmpty { launcher.start(sound) }
    for order in orders where struck.contains(order.contract.identifier) { send(.input(.withdrawn(order.run))) }
  }

  private func failuresToCome() -> Set<TaskIdentifier> {
    let runs = monitor.locked {
      commands.compactMap { command -> RunID? in
        switch command {
        case .input(.ended(let run, .crashed, _)), .input(.ended(let run, .forced, _)): run
        default: nil
        }
      }
    }
    return Set(runs.compactMap { core.live[$0]?.identifier ?? core.claims[$0]?.entry.identifier })
  }
}
