public import TaskFilters
public import TaskModel

/// Something that clients do to requests: to those of the host, or to those of its fleet that it takes for that.
public struct SchedulerChange<Value: Sendable>: Sendable {
  let perform: @Sendable (SchedulerCore, any StoreTransaction, WallTime) throws -> Value

  init(_ perform: @escaping @Sendable (SchedulerCore, any StoreTransaction, WallTime) throws -> Value) { self.perform = perform }

  /// The same on behalf of a run, which must still be its request's current run, or have expired with its grace not over.
  public func onBehalf(of run: RunReference) -> Self {
    Self { core, transaction, now in
      try core.checkMaySubmit(run.run, of: run.request, transaction)
      return try perform(core, transaction, now)
    }
  }
}

extension SchedulerChange<RequestRecord> {
  /// Cancels a request. A running one is asked to stop, see ``RequestRecord/stopRequested``.
  ///
  /// - Parameter quietly: Tells nobody who waits for its end, see ``CompletionRule``.
  public static func cancel(_ id: RequestID, quietly: Bool = false) -> Self {
    Self { core, transaction, now in try core.cancel(id, quietly: quietly, transaction, now: now) }
  }

  /// Makes a dead letter pending again, or blocked if it waits for a live request. Requests that failed because of it wait for it again;
  /// ``RequestRecord/lastMessage`` says how many. Refused if its own predecessor has failed: retry that one instead.
  public static func retry(_ id: RequestID) -> Self { Self { core, transaction, now in try core.retry(id, transaction, now: now) } }

  /// Discards a dead letter: it becomes cancelled and is removed with the history.
  public static func discard(_ id: RequestID) -> Self { Self { core, transaction, now in try core.discard(id, transaction, now: now) } }

  /// Holds a live request back until it is resumed. A running one is asked to stop as if a condition were lost, which spends no attempt.
  public static func pause(_ id: RequestID, _ pause: RequestPause) -> Self {
    Self { core, transaction, now in try core.pause(id, pause, transaction, now: now) }
  }

  /// Lets a paused request go on.
  ///
  /// - Parameter isPlugins: Whether a plugin asks: it ends no pause of the operator's.
  public static func resume(_ id: RequestID, isPlugins: Bool = false) -> Self {
    Self { core, transaction, now in try core.resume(id, isPlugins: isPlugins, transaction, now: now) }
  }
}

extension SchedulerChange<SnoozedRequest> {
  /// Postpones a waiting request until `time`, but not before its own time.
  public static func snooze(_ id: RequestID, until time: WallTime) -> Self {
    Self { core, transaction, now in try core.snooze(id, until: time, transaction, now: now) }
  }
}

extension SchedulerChange<BulkResult> {
  /// Carries out a bulk action on those of `ids` that it is for when its turn comes.
  public static func bulk(_ order: BulkOrder, on ids: [RequestID]) -> Self {
    Self { core, transaction, now in try core.carryOut(order, on: ids, transaction, now: now) }
  }
}

extension SchedulerChange<Void> {
  /// Relaxes requests whose deadline has passed: of their conditions, only network and power still count.
  public static func relax(_ ids: [RequestID]) -> Self {
    Self { core, transaction, now in
      for id in ids {
        guard var record = try transaction.request(id), record.state == .pending, let deadline = record.request.deadline, deadline <= now
        else { continue }
        try core.relax(&record, transaction)
      }
    }
  }
}

extension SchedulerChange<Void> {
  /// Decides what becomes of requests that wait for others, of which some have ended.
  public static func decide(_ ids: [RequestID]) -> Self {
    Self { core, transaction, now in for id in ids { try core.decide(id, transaction, now: now) } }
  }
}

extension SchedulerChange<[Submission]> {
  /// Submits requests, all or none.
  public static func submit(_ requests: [TaskRequest]) -> Self {
    Self { core, transaction, now in try core.submit(requests, transaction, now: now) }
  }
}

extension SchedulerChange<Submission> {
  /// Submits a request of a plugin.
  ///
  /// - Parameter plugin: The first identifier that the plugin registered.
  public static func submit(_ request: TaskRequest, by plugin: TaskIdentifier) -> Self {
    Self { core, transaction, now in try core.submit(request, by: .plugin(plugin), transaction, now: now) }
  }

  /// Replaces the fields of a live request. It keeps its unique key, its idempotency key and its predecessors.
  public static func update(_ id: RequestID, with fields: TaskRequest) -> Self {
    Self { core, transaction, now in try core.update(id, with: fields, transaction, now: now) }
  }
}

extension SchedulerChange<Int> {
  /// Cancels the waiting requests of these identifiers, except those of a `schedule`. Live runs continue.
  public static func cancelPending(of identifiers: [TaskIdentifier]) -> Self {
    Self { core, transaction, now in try core.cancelPending(of: identifiers, transaction, now: now) }
  }

  /// Cancels those of these requests that wait, in this order, except those of a `schedule`.
  public static func cancelPending(_ ids: [RequestID]) -> Self {
    Self { core, transaction, now in try core.cancel(waiting: ids.compactMap { try transaction.request($0) }, transaction, now: now) }
  }
}

extension SchedulerChange<EventReceipt> {
  /// Wakes those of `ids` that wait for the event.
  ///
  /// - Parameter payload: Replaces the submitted payload for the runs it wakes; nil keeps the submitted one.
  public static func wake(_ ids: [RequestID], by event: String, payload: [UInt8]?) -> Self {
    Self { core, transaction, now in try core.wake(ids, by: event, payload: payload, transaction, now: now) }
  }
}

extension Scheduler {
  /// Makes a change. `completion` is called on the scheduler's thread, once it is durable, or refused.
  public func perform<Value>(_ change: SchedulerChange<Value>, completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void) {
    write(completion, change.perform)
  }

  /// Makes a change to a request of the fleet that the host holds. If its run has not begun, it comes with ``Notice/surrendered(_:)`` before
  /// `completion` is called.
  public func changeHeld<Value>(
    _ id: RequestID, _ change: SchedulerChange<Value>, completion: @escaping @Sendable (Result<HeldChange<Value>, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.changeHeld(id, transaction) { try change.perform(core, transaction, core.fleetNow(now)) }
    }
  }

  /// Makes a change to requests of the fleet that the host has taken for it, and gives them back. Nothing of them stays here.
  public func visit<Value>(
    _ visitors: FleetVisitors, _ change: SchedulerChange<Value>,
    completion: @escaping @Sendable (Result<FleetVisit<Value>, RequestRefusal>) -> Void
  ) {
    write(completion) { core, transaction, now in
      try core.visit(visitors, transaction) { try change.perform(core, transaction, core.fleetNow(now)) }
    }
  }
}
