import HostConditions
import HostThreads
import Logging
public import TaskModel
import TaskScheduler
import TaskStore

// The operator's questions and decisions about when requests run.

extension Host {
  /// Explains why a request is not running, its place in the queue, and when it starts if nothing changes.
  public func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation {
    let record = try request(id)
    return try await onThread { [explainer] in
      Result { () throws(StoreError) in try explainer.explain(record) }.mapError { RequestRefusal($0) }
    }
  }

  /// All conditions of the machine. Reads those that no request waits for.
  public func conditions() async throws(RequestRefusal) -> ConditionReport {
    try await onThread { [surroundings] in .success(surroundings.conditions.look()) }
  }

  /// Overrides conditions until they are cleared, also across restarts. Refused if the overrides cannot be saved.
  public func overrideConditions(_ conditions: [(condition: Conditions, holds: Bool)]) async throws(RequestRefusal) -> ConditionReport {
    let now = SystemClock().wallTime
    try await keeping { surroundings throws(TextProblem) in try surroundings.override(conditions, at: now) }
    for (condition, holds) in conditions {
      log.notice("condition \(condition.names.joined(separator: ", ")) is set to \(holds ? "hold" : "not hold") by an operator")
    }
    return try await self.conditions()
  }

  /// Clears overrides, so that the machine decides again. Refused if that cannot be saved.
  public func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) -> ConditionReport {
    try await keeping { surroundings throws(TextProblem) in try surroundings.clearOverrides(conditions) }
    log.notice("condition \(conditions.names.joined(separator: ", ")) is no longer overridden: an operator cleared it")
    return try await self.conditions()
  }

  private func keeping(_ change: @escaping @Sendable (MachineMonitor) throws(TextProblem) -> Void) async throws(RequestRefusal) {
    try await onThread { [surroundings] () -> Result<Void, RequestRefusal> in
      do throws(TextProblem) { try change(surroundings) } catch {
        return .failure(
          RequestRefusal(
            .unavailable, "overrides of conditions cannot be kept, so nothing was changed: \(error.message): free some space, or clear all")
        )
      }
      return .success(())
    }
  }

  /// Makes the requests due that wait for an event. The caller has checked its name and payload.
  ///
  /// - Parameter payload: Replaces the submitted payload in their runs; nil keeps it.
  public func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    try await ask { self.scheduler.notify(event, payload: payload, completion: $0) }
  }

  /// Like ``notify(_:payload:)``, for a configured socket, which has checked the name and the payload's size. Returns immediately.
  ///
  /// - Parameter recorded: Called on the scheduler's thread once the effect is durable, or with false if it could not be recorded.
  public func notify(_ event: String, payload: [UInt8]?, recorded: @escaping @Sendable (Bool) -> Void) {
    scheduler.notify(event, payload: payload) { result in
      if case .success = result { recorded(true) } else { recorded(false) }
    }
  }

  /// Postpones a pending request to `time`, unless it is due later anyway.
  public func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest {
    try await ask { self.scheduler.snooze(id, until: time, completion: $0) }
  }

  /// Holds a live request back until it is resumed, also over restarts.
  public func pause(_ id: RequestID, _ pause: RequestPause) async throws(RequestRefusal) -> RequestRecord {
    try await ask { self.scheduler.pause(id, pause, completion: $0) }
  }

  /// Lets a paused request go on.
  public func resume(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    try await ask { self.scheduler.resume(id, completion: $0) }
  }

  /// Cancels the live requests with a tag, of an identifier, or both, except those of a `schedule`. Returns their number.
  public func cancelAll(tag: String?, identifier: TaskIdentifier?) async throws(RequestRefusal) -> Int {
    switch (tag, identifier) {
    case (let tag?, _): return try await ask { self.scheduler.cancelAll(tag: tag, identifier: identifier, completion: $0) }
    case (nil, let identifier?): return try await ask { self.scheduler.cancelAll(of: identifier, completion: $0) }
    case (nil, nil): throw RequestRefusal(.invalid, "name a tag, an identifier or both: everything at once is not cancelled")
    }
  }

  /// Makes dead letters that match both filters pending again, oldest first; nil matches all.
  ///
  /// - Parameters:
  ///   - after: Skips ids up to this one.
  ///   - limit: The maximum number of the identifier's dead letters to examine.
  public func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    try await ask { self.scheduler.retryAll(identifier: identifier, tag: tag, after: after, limit: limit, completion: $0) }
  }

  /// Discards a dead letter.
  public func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    try await ask { self.scheduler.discard(id, completion: $0) }
  }

  /// Discards dead letters, selected like those of ``retryAll(identifier:tag:after:limit:)``.
  public func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    try await ask { self.scheduler.discardAll(identifier: identifier, tag: tag, after: after, limit: limit, completion: $0) }
  }

  /// Predicts the runs of the coming hours, assuming that nothing changes.
  ///
  /// - Parameters:
  ///   - hours: 1 to 24 × 366.
  ///   - limit: The maximum number of runs.
  ///   - isWanted: Whether the result has the runs of an identifier.
  public func forecast(
    hours: Int, limit: Int, of isWanted: @escaping @Sendable (TaskIdentifier) -> Bool
  ) async throws(RequestRefusal) -> Forecast {
    let basis = await withCheckedContinuation { continuation in scheduler.forecastBasis { continuation.resume(returning: $0) } }
    let to = basis.from + .seconds(hours * 3600)
    return try await onThread { [explainer] in
      do {
        let queue = try explainer.queue(dueBy: to)
        var forecast = basis.forecast(of: queue, to: to, limit: limit, isWanted: isWanted)
        if queue.requests.count >= RequestExplainer.forecastRequests {
          forecast.notes.append("more than \(queue.requests.count) requests are due in that time: the forecast covers only the newest")
          forecast.isTruncated = true
        }
        return .success(forecast)
      } catch { return .failure(RequestRefusal(error as? StoreError ?? .other("\(error)"))) }
    }
  }

  /// Calls `body`, which may block, on a new thread.
  func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () -> Result<Value, RequestRefusal>
  ) async throws(RequestRefusal) -> Value {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, RequestRefusal>, Never>) in
      do { try HostThread.start("question") { continuation.resume(returning: body()) } } catch {
        continuation.resume(returning: .failure(RequestRefusal(.unavailable, "\(error)")))
      }
    }
    return try result.get()
  }
}
