public import TaskModel

// Reports from the machine and the operator, and questions about requests.

extension Scheduler {
  /// Receives the machine's current conditions.
  public func receive(_ report: ConditionReport) { send(.conditions(report)) }

  /// Notes that the machine cannot be woken for requests that ask for it; explanations say so.
  ///
  /// - Parameter trouble: A clause without a full stop.
  public func cannotWake(_ trouble: String) { inspect { core, _ in core.wakeTrouble = trouble } }

  /// Handles a change of the wall clock or a sleep of the machine; `reference` is the new relation of the clocks.
  ///
  /// - Parameter slept: Whether the machine slept: then occurrences before now were missed.
  public func clockChanged(
    _ reference: ClockReference, slept: Bool, completion: @escaping @Sendable (Result<Void, RequestRefusal>) -> Void = { _ in }
  ) {
    write(completion) { core, transaction, now in try core.clockChanged(reference, slept: slept, transaction, now: now) }
  }

  /// Delivers an event to the requests that wait for it; see ``EventReceipt``.
  ///
  /// - Parameter payload: Replaces the submitted payload for the runs it wakes; nil keeps the submitted one.
  public func notify(_ event: String, payload: [UInt8]?, completion: @escaping @Sendable (Result<EventReceipt, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in try core.notify(event, payload: payload, transaction, now: now) }
  }

  /// Delivers an event on behalf of a run, which must still be its request's current run, or have expired with its grace not over.
  public func notify(
    _ event: String, payload: [UInt8]?, from run: RunID, of parent: RequestID,
    completion: @escaping @Sendable (Result<EventReceipt, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.checkMaySubmit(run, of: parent, transaction)
      return try core.notify(event, payload: payload, transaction, now: now)
    }
  }

  /// Delivers one of the ``HostEvents``. Without a request that waits for it, nothing happens and nothing is counted.
  public func raise(_ event: String) { send(.input(.raised(event))) }

  /// Explains why a request is not running now.
  ///
  /// - Parameters:
  ///   - edges: What the request waits for, from the store.
  ///   - obstacle: Why a dead letter cannot be retried by itself; nil if it can.
  ///   - lastEnded: When its last run ended; nil if it has not run, or if that is unknown.
  ///   - completion: Gets the gates and the state of the host: from it, ``ForecastBasis/complete(_:of:queue:)`` computes the start of the
  ///     request on another thread.
  public func explanation(
    of record: RequestRecord, edges: [DependencyRecord], obstacle: RetryObstacle? = nil, lastEnded: WallTime?,
    completion: @escaping @Sendable (RequestExplanation, ForecastBasis) -> Void
  ) {
    inspect { core, now in
      let explanation = core.explanation(of: record, edges: edges, obstacle: obstacle, lastEnded: lastEnded, now: now)
      completion(explanation, ForecastBasis(core, now: now))
    }
  }

  /// Gets the counts of events so far.
  public func eventCounts(completion: @escaping @Sendable (EventCounts) -> Void) { inspect { core, _ in completion(core.eventCounts) } }

  /// Cancels the live requests of an identifier except that of its `schedule`, in one commit; running ones are asked to stop.
  ///
  /// - Parameter completion: Gets the number of cancelled requests.
  public func cancelAll(of identifier: TaskIdentifier, completion: @escaping @Sendable (Result<Int, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in
      var count = 0
      for entry in core.live.values where entry.identifier == identifier && entry.stopRequested == nil && entry.request.origin != core.fleet
      {
        guard var record = try transaction.request(entry.request), !record.request.isSchedule else { continue }
        try core.requestStop(&record, .cancelled, transaction)
        count += 1
      }
      return try count + core.cancelPending(of: [identifier], transaction, now: now)
    }
  }
}
