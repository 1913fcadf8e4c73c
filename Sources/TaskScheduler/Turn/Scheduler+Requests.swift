public import TaskFilters
public import TaskModel
import Failpoints

/// Calls from other threads. Each returns at once; `completion` is called on the scheduler's thread, once the change is durable.
extension Scheduler {
  /// Cancels the live requests with a tag, of one identifier or (nil) of all, in one commit. Running ones are asked to stop; those of a
  /// `schedule` stay.
  ///
  /// - Parameter completion: Gets the number of cancelled requests.
  public func cancelAll(
    tag: String, identifier: TaskIdentifier?, completion: @escaping @Sendable (Result<Int, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in try core.cancelAll(tag: tag, identifier: identifier, transaction, now: now) }
  }

  /// Makes dead letters pending again, in one commit, each graph in its order, except those whose unique key another request now holds.
  ///
  /// - Parameters:
  ///   - identifier: Only dead letters of this identifier, and requests that failed because of them; nil: all.
  ///   - tag: Only those with this tag, and requests that failed because of them; nil: all.
  ///   - after: Only those with a later id.
  ///   - limit: The maximum number of the identifier's dead letters to examine, at least 1.
  ///   - completion: Gets the retried and the refused requests.
  public func retryAll(
    identifier: TaskIdentifier?, tag: String? = nil, after: RequestID? = nil, limit: Int = .max,
    completion: @escaping @Sendable (Result<RetriedRequests, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.retryAll(identifier: identifier, tag: tag, after: after, limit: limit, transaction, now: now)
    }
  }

  /// Discards dead letters, in one commit.
  ///
  /// - Parameters:
  ///   - identifier: Only dead letters of this identifier; nil: all.
  ///   - tag: Only those with this tag; nil: all.
  ///   - after: Only those with a later id.
  ///   - limit: The maximum number of the identifier's dead letters to examine, at least 1.
  ///   - completion: Gets the discarded requests.
  public func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int,
    completion: @escaping @Sendable (Result<DiscardedRequests, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.discardAll(identifier: identifier, tag: tag, after: after, limit: limit, transaction, now: now)
    }
  }

  /// What ``carryOut(_:on:completion:)`` would do now: it is done, and undone in the same commit.
  public func rehearse(
    _ order: BulkOrder, on ids: [RequestID], completion: @escaping @Sendable (Result<BulkResult, RequestRefusal>) -> Void
  ) {
    let rehearsal = Write(completion, isRehearsal: true) { core, transaction, now in
      try core.carryOut(order, on: ids, transaction, now: now)
    }
    send(.input(.write(rehearsal)))
  }

  /// Starts the identifier's first pending request, or a new one, regardless of gates. Refused if no handler can be called.
  public func simulateLaunch(_ identifier: TaskIdentifier, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void)
  {
    write(completion) { core, transaction, now in try core.simulateLaunch(identifier, transaction, now: now) }
  }

  /// Expires the identifier's live runs as if their budget were spent. Refused if no plugin has registered it.
  ///
  /// - Parameter completion: Gets these runs.
  public func simulateExpiration(
    _ identifier: TaskIdentifier, completion: @escaping @Sendable (Result<[RunID], RequestRefusal>) -> Void
  ) {
    send(.expire(identifier, completion))
  }

  /// Writes a value of a plugin's state on behalf of a run, which must still be its request's current run.
  public func setState(
    _ key: String, to value: [UInt8]?, run: RunID, request: RequestID, identifier: TaskIdentifier,
    completion: @escaping @Sendable (Result<Void, RequestRefusal>) -> Void
  ) {
    write({
      if case .success = $0 { Failpoint.stateSetCommitted.hit() }
      completion($0)
    }) { _, transaction, _ in
      _ = try transaction.requestRunning(as: run, of: request)
      try transaction.setState(key, to: value, of: identifier)
    }
  }

  /// Writes the checkpoint of a request (nil removes it) on behalf of a run, which must still be the request's current run.
  public func setCheckpoint(
    _ value: [UInt8]?, run: RunID, request: RequestID, completion: @escaping @Sendable (Result<Void, RequestRefusal>) -> Void
  ) {
    write({
      if case .success = $0 { Failpoint.checkpointSetCommitted.hit() }
      completion($0)
    }) { _, transaction, _ in
      _ = try transaction.requestRunning(as: run, of: request)
      try transaction.setCheckpoint(value, of: request)
    }
  }

  /// Gets the live runs, newest first.
  public func liveRuns(completion: @escaping @Sendable ([LiveRunEntry]) -> Void) {
    inspect { core, _ in completion(core.live.values.sorted { $0.run > $1.run }) }
  }

  /// Turns ``Notice/event(_:)`` on or off.
  public func observeEvents(_ isObserved: Bool) { inspect { core, _ in core.isObserved = isObserved } }

  /// Begins no more runs. Live runs may continue for `timeout`; then they expire with `draining`, those in ``spare(_:)`` once they are not in
  /// it any more.
  ///
  /// - Parameter completion: Called once, when no run is live or the scheduler stops.
  public func drain(timeout: Duration, completion: @escaping @Sendable () -> Void) {
    send(.drain(deadline: clock.monotonicTime + timeout, drained: completion))
  }

  /// A drain does not expire these runs, which hold execution assertions: all of them, each time.
  public func spare(_ runs: Set<RunID>) { send(.spare(runs)) }

  /// Stops the live runs by force; for use while draining.
  public func force() { send(.force) }

  /// Calls `completion` between turns, after all earlier commands were received; the turn that follows may be the one that records them.
  public func afterTurn(completion: @escaping @Sendable () -> Void) { inspect { _, _ in completion() } }
}
