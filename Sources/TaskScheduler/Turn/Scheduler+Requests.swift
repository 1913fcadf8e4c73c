public import TaskModel
import Failpoints

/// What other threads ask of the scheduler. Each call returns at once; the answer comes on the scheduler's thread, once it is durable.
extension Scheduler {
  /// Submits requests, all or none; `completion` is called on the scheduler's thread when that is durable.
  public func submit(_ requests: [TaskRequest], completion: @escaping @Sendable (Result<[Submission], RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in try core.submit(requests, transaction, now: now) }
  }

  /// Cancels a request; see ``RequestRecord/stopRequested`` for one that runs.
  public func cancel(_ id: RequestID, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in try core.cancel(id, transaction, now: now) }
  }

  /// Cancels the live requests with a tag, of one identifier or with nil of all, in one commit. Those that run are asked to stop; those of
  /// a `schedule` stay.
  ///
  /// - Parameter completion: Gets how many, on the scheduler's thread, once that is durable.
  public func cancelAll(
    tag: String, identifier: TaskIdentifier?, completion: @escaping @Sendable (Result<Int, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in try core.cancelAll(tag: tag, identifier: identifier, transaction, now: now) }
  }

  /// Makes a dead letter pending again, or blocked where it waits for a live request. What failed because of it waits for it again; how many
  /// those are is in ``RequestRecord/lastMessage``. Refused for one whose own predecessor has failed: that is to be retried.
  public func retry(_ id: RequestID, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in try core.retry(id, transaction, now: now) }
  }

  /// Makes dead letters pending again, in one commit, each graph in its order; but not those whose unique key another request holds by now.
  ///
  /// - Parameters:
  ///   - identifier: Only those of it, and what failed because of them; nil: all.
  ///   - tag: Only those with it, and what failed because of them; nil: all.
  ///   - after: Only those after it in the order of ids.
  ///   - limit: At most so many of the identifier's are looked at, from 1.
  ///   - completion: Gets what became of them, on the scheduler's thread, once that is durable.
  public func retryAll(
    identifier: TaskIdentifier?, tag: String? = nil, after: RequestID? = nil, limit: Int = .max,
    completion: @escaping @Sendable (Result<RetriedRequests, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.retryAll(identifier: identifier, tag: tag, after: after, limit: limit, transaction, now: now)
    }
  }

  /// Discards a dead letter: it is cancelled, and goes with the history.
  public func discard(_ id: RequestID, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, _ in try core.discard(id, transaction) }
  }

  /// Discards dead letters, in one commit.
  ///
  /// - Parameters:
  ///   - identifier: Only those of it; nil: all.
  ///   - tag: Only those with it; nil: all.
  ///   - after: Only those after it in the order of ids.
  ///   - limit: At most so many of the identifier's are looked at, from 1.
  ///   - completion: Gets those that were discarded, on the scheduler's thread, once that is durable.
  public func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int,
    completion: @escaping @Sendable (Result<DiscardedRequests, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, _ in
      try core.discardAll(identifier: identifier, tag: tag, after: after, limit: limit, transaction)
    }
  }

  /// Puts a request that waits off until `time`; never to before its own time.
  public func snooze(
    _ id: RequestID, until time: WallTime, completion: @escaping @Sendable (Result<SnoozedRequest, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in try core.snooze(id, until: time, transaction, now: now) }
  }

  /// Starts the identifier's first pending request, or a new one, whatever gates hold it. Refused where no handler could be called.
  public func simulateLaunch(_ identifier: TaskIdentifier, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void)
  {
    write(completion) { core, transaction, now in try core.simulateLaunch(identifier, transaction, now: now) }
  }

  /// Expires the identifier's live runs as if their budget were spent.
  public func simulateExpiration(_ identifier: TaskIdentifier, completion: @escaping @Sendable ([RunID]) -> Void) {
    send(.expire(identifier, completion))
  }

  /// Writes a value of a plugin's state on behalf of a run, if that is still its request's present one.
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

  /// Records where a run is, or with nil that it is at its beginning, if that is still its request's present one.
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

  /// Submits on behalf of a run, if that is still its request's present one, or has expired and its grace is not over.
  public func submit(
    _ request: TaskRequest, from run: RunID, of parent: RequestID,
    completion: @escaping @Sendable (Result<Submission, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.checkMaySubmit(run, of: parent, transaction)
      return try core.submit(request, transaction, now: now)
    }
  }

  /// Cancels the pending requests of these identifiers on behalf of a run, if that is still its request's present one, or has expired and
  /// its grace is not over. Runs go on.
  ///
  /// - Parameter completion: Gets how many, on the scheduler's thread, once that is durable.
  public func cancelPending(
    of identifiers: [TaskIdentifier], from run: RunID, of parent: RequestID,
    completion: @escaping @Sendable (Result<Int, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.checkMaySubmit(run, of: parent, transaction)
      return try core.cancelPending(of: identifiers, transaction, now: now)
    }
  }

  /// The runs that are live, the newest first.
  public func liveRuns(completion: @escaping @Sendable ([LiveRunEntry]) -> Void) {
    inspect { core, _ in completion(core.live.values.sorted { $0.run > $1.run }) }
  }

  /// Whether ``Notice/event(_:)`` is sent from now on.
  public func observeEvents(_ isObserved: Bool) { inspect { core, _ in core.isObserved = isObserved } }

  /// Begins no more runs. Live ones may go on until `timeout`, then they expire with `draining`.
  ///
  /// - Parameter completion: Called once, when no run is live.
  public func drain(timeout: Duration, completion: @escaping @Sendable () -> Void) {
    send(.drain(deadline: clock.monotonicTime + timeout, drained: completion))
  }

  /// While draining: stops the live runs by force.
  public func force() { send(.force) }

  /// Calls `completion` when everything that was sent before has been carried out.
  public func afterTurn(completion: @escaping @Sendable () -> Void) { inspect { _, _ in completion() } }
}
