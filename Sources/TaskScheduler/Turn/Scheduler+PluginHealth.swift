public import TaskModel

/// Plugin health. Completions are called on the scheduler's thread.
extension Scheduler {
  /// The plugins' health before any plugin is launched, including the crashes of the previous host process, as
  /// ``start(_:contracts:schedules:changes:rejection:completions:crashed:begun:clocks:observe:)`` will find it. Writes nothing.
  ///
  /// - Parameters:
  ///   - crashed: The same as for ``start(_:contracts:schedules:changes:rejection:completions:crashed:begun:clocks:observe:)``.
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

  /// Releases a held or quarantined plugin and clears its failures. Refused with `notFound` if the identifier is not registered and has no
  /// failures.
  ///
  /// - Parameter completion: Gets the previous health.
  public func release(_ identifier: TaskIdentifier, completion: @escaping @Sendable (Result<PluginHealth, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, _ in try core.release(identifier, transaction) }
  }

  /// Gets the time at which the next request may start, and the state of each handler.
  public func health(
    completion: @escaping @Sendable (_ nextStart: WallTime?, _ handlers: [TaskIdentifier: HandlerOverview]) -> Void
  ) {
    inspect { core, now in completion(core.nextStart(now: now), core.handlers.mapValues { core.overview(of: $0, now: now) }) }
  }
}
