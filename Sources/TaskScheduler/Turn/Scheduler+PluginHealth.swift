public import TaskModel

/// How plugins stand. Answers come on the scheduler's thread.
extension Scheduler {
  /// The plugins' health as ``start(_:contracts:schedules:changes:rejection:crashed:begun:clocks:observe:)`` will find it, before any plugin is launched: whoever took
  /// the host along is counted already. Writes nothing.
  ///
  /// - Parameters:
  ///   - crashed: As for ``start(_:contracts:schedules:changes:rejection:crashed:begun:clocks:observe:)``.
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
}
