public import TaskModel

// What the machine and its operator tell, and what people ask.

extension Scheduler {
  /// The machine's conditions are these now.
  public func receive(_ report: ConditionReport) { send(.conditions(report)) }

  /// The wall clock was set, or the machine slept; `reference` is what the clocks are to each other now.
  public func clockChanged(_ reference: ClockReference, completion: @escaping @Sendable (Result<Void, RequestRefusal>) -> Void = { _ in }) {
    write(completion) { core, transaction, now in try core.clockChanged(reference, transaction, now: now) }
  }

  /// An event has come; see ``EventReceipt``.
  ///
  /// - Parameter payload: What the runs it wakes are given instead of what was submitted; nil: what was submitted.
  public func notify(_ event: String, payload: [UInt8]?, completion: @escaping @Sendable (Result<EventReceipt, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in try core.notify(event, payload: payload, transaction, now: now) }
  }

  /// Why a request is not running now.
  ///
  /// - Parameters:
  ///   - edges: What it waits for, as the store knows it.
  ///   - lastEnded: When its last run ended; nil: it has not run, or that is not known.
  ///   - completion: Gets the gates, and how the host stands at that moment: ``ForecastBasis/complete(_:of:queue:)`` finds from it, on another
  ///     thread, when the request starts.
  public func explanation(
    of record: RequestRecord, edges: [DependencyRecord], lastEnded: WallTime?,
    completion: @escaping @Sendable (RequestExplanation, ForecastBasis) -> Void
  ) {
    inspect { core, now in
      completion(core.explanation(of: record, edges: edges, lastEnded: lastEnded, now: now), ForecastBasis(core, now: now))
    }
  }

  /// What became of events so far.
  public func eventCounts(completion: @escaping @Sendable (EventCounts) -> Void) { inspect { core, _ in completion(core.eventCounts) } }

  /// Cancels the live requests of an identifier but that of its `schedule`, in one commit; those that run are asked to stop.
  ///
  /// - Parameter completion: Gets how many.
  public func cancelAll(of identifier: TaskIdentifier, completion: @escaping @Sendable (Result<Int, RequestRefusal>) -> Void) {
    write(completion) { core, transaction, now in
      var count = 0
      for entry in core.live.values where entry.identifier == identifier && entry.stopRequested == nil {
        guard var record = try transaction.request(entry.request), !record.request.isSchedule else { continue }
        try core.requestStop(&record, .cancelled, transaction)
        count += 1
      }
      return try count + core.cancelPending(of: [identifier], transaction, now: now)
    }
  }
}
