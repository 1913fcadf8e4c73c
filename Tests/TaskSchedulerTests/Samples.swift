import StoreTestSupport
import TaskModel

extension HandlerContract {
  /// A handler of `identifier` that allows `runs` at once.
  static func sample(_ identifier: TaskIdentifier = .sample(), kind: TaskKind = .refresh, runs: Int = 1) -> HandlerContract {
    HandlerContract(identifier: identifier, kind: kind, budget: .seconds(30), grace: .seconds(5), maxConcurrentRuns: runs)
  }
}

extension TaskRequest {
  /// A request that is due `begin`, or at once.
  static func sample(
    _ identifier: TaskIdentifier = .sample(), begin: WallTime? = nil, priority: Int = 0, key: String? = nil,
    onConflict: ConflictPolicy = .none, retry: RetryPolicy? = nil, every: Duration? = nil
  ) -> TaskRequest {
    TaskRequest(
      identifier: identifier, earliestBegin: begin, priority: priority, uniqueKey: key, onConflict: onConflict, retry: retry,
      repetition: every.map { RepeatRule(every: $0) })
  }
}
