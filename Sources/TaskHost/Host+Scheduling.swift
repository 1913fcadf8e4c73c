import HostConditions
import HostThreads
import Logging
public import TaskModel
import TaskScheduler

// When what runs, and why not: what operators ask and decide.

extension Host {
  /// Why a request is not running now, its place in line, and when it starts if nothing changes.
  public func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation {
    let record = try request(id)
    let edges: [DependencyRecord]
    let lastEnded: WallTime?
    do {
      edges = record.request.after.isEmpty && record.blockedBy == nil ? [] : try store.edges(of: id)
      var query = RunQuery()
      (query.request, query.limit) = (id, 1)
      lastEnded = try store.runs(query).first?.ended
    } catch { throw RequestRefusal(error) }
    let (explanation, basis) = await withCheckedContinuation { continuation in
      scheduler.explanation(of: record, edges: edges, lastEnded: lastEnded) { continuation.resume(returning: ($0, $1)) }
    }
    return try await onThread { [store, lastRuns = events.lastRuns] in
      do { return .success(try basis.complete(explanation, of: record) { try Self.queue(dueBy: $0, store, lastRuns) }) } catch {
        return .failure(RequestRefusal(error as? StoreError ?? .other("\(error)")))
      }
    }
  }

  /// The conditions of the machine, those included that nobody waits for: they are read for it.
  public func conditions() async throws(RequestRefusal) -> ConditionReport {
    try await onThread { [surroundings] in .success(surroundings.conditions.look()) }
  }

  /// Decides what counts as held, whatever the machine says, until it is cleared, also after a restart. Refused when it cannot be kept.
  public func overrideConditions(_ conditions: [(condition: Conditions, holds: Bool)]) async throws(RequestRefusal) -> ConditionReport {
    let now = SystemClock().wallTime
    try await keeping { surroundings throws(TextProblem) in try surroundings.override(conditions, at: now) }
    for (condition, holds) in conditions {
      log.notice("condition \(condition.names.joined(separator: ", ")) is set to \(holds ? "hold" : "not hold") by an operator")
    }
    return try await self.conditions()
  }

  /// Clears overrides. Refused if the change cannot be saved.
  public func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) -> ConditionReport {
    try await keeping { surroundings throws(TextProblem) in try surroundings.clearOverrides(conditions) }
    log.notice("condition \(conditions.names.joined(separator: ", ")) is the machine's again")
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

  /// An event has come, whose name and payload the caller has checked: the requests that wait for it are due.
  ///
  /// - Parameter payload: What their runs are given instead of what was submitted; nil: what was submitted.
  public func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    try await ask { self.scheduler.notify(event, payload: payload, completion: $0) }
  }

  /// An event has come by a socket of the configuration, which has checked its name and the payload's size. Returns at once.
  ///
  /// - Parameter recorded: Called on the scheduler's thread once what it did is durable; false: it could not be recorded.
  public func notify(_ event: String, payload: [UInt8]?, recorded: @escaping @Sendable (Bool) -> Void) {
    scheduler.notify(event, payload: payload) { result in
      if case .success = result { recorded(true) } else { recorded(false) }
    }
  }

  /// Makes a pending request due at `time`, or later if it is due later.
  public func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest {
    try await ask { self.scheduler.snooze(id, until: time, completion: $0) }
  }

  /// Cancels the live requests with a tag, of an identifier, or both; those of a `schedule` stay. Returns how many.
  public func cancelAll(tag: String?, identifier: TaskIdentifier?) async throws(RequestRefusal) -> Int {
    switch (tag, identifier) {
    case (let tag?, _): return try await ask { self.scheduler.cancelAll(tag: tag, identifier: identifier, completion: $0) }
    case (nil, let identifier?): return try await ask { self.scheduler.cancelAll(of: identifier, completion: $0) }
    case (nil, nil): throw RequestRefusal(.invalid, "name a tag, an identifier or both: everything at once is not cancelled")
    }
  }

  /// Makes the dead letters that match both pending again, the oldest first; nil matches all.
  ///
  /// - Parameters:
  ///   - after: Only those after it in the order of ids.
  ///   - limit: At most so many of the identifier's are looked at.
  public func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    try await ask { self.scheduler.retryAll(identifier: identifier, tag: tag, after: after, limit: limit, completion: $0) }
  }

  /// Discards a dead letter.
  public func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    try await ask { self.scheduler.discard(id, completion: $0) }
  }

  /// Discards the dead letters that match both, the oldest first; nil matches all.
  ///
  /// - Parameters:
  ///   - after: Only those after it in the order of ids.
  ///   - limit: At most so many of the identifier's are looked at.
  public func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    try await ask { self.scheduler.discardAll(identifier: identifier, tag: tag, after: after, limit: limit, completion: $0) }
  }

  /// What would run in the hours to come, if everything stayed as it is.
  ///
  /// - Parameters:
  ///   - hours: 1 to 24 × 366.
  ///   - limit: At most so many runs.
  public func forecast(hours: Int, limit: Int) async throws(RequestRefusal) -> Forecast {
    let basis = await withCheckedContinuation { continuation in scheduler.forecastBasis { continuation.resume(returning: $0) } }
    let to = basis.from + .seconds(hours * 3600)
    return try await onThread { [store, lastRuns = events.lastRuns] in
      do {
        let queue = try Self.queue(dueBy: to, store, lastRuns)
        var forecast = basis.forecast(of: queue, to: to, limit: limit)
        if queue.requests.count >= Self.forecastRequests {
          forecast.notes.append("more than \(queue.requests.count) requests are due in that time: the newest are foreseen")
          forecast.isTruncated = true
        }
        return .success(forecast)
      } catch { return .failure(RequestRefusal(error as? StoreError ?? .other("\(error)"))) }
    }
  }

  private static let forecastRequests = 20_000

  /// What is foreseen: the live requests that are due by then, and those that wait for an event.
  private static func queue(dueBy to: WallTime, _ store: any RequestStore, _ lastRuns: LastRuns) throws -> ForecastQueue {
    var query = RequestQuery()
    query.states = [.blocked, .pending, .claimed, .running]
    query.dueBy = to
    query.limit = forecastRequests
    var requests = try store.requests(query)
    // Requests that wait for an event are listed without a time.
    query.dueBy = nil
    query.waitsForEvent = true
    requests += try store.requests(query).filter { $0.due > to }
    let durations = try lastRuns.current(store).compactMapValues(\.duration)
    var edges: [RequestID: [DependencyRecord]] = [:]
    for request in requests where request.state == .blocked { edges[request.id] = try store.edges(of: request.id) }
    return ForecastQueue(requests, edges: edges, durations: durations)
  }

  /// Calls `body`, which blocks for a while, on a thread of its own.
  private func onThread<Value: Sendable>(
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
