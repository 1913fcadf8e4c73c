import FleetStore
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
    let record = try await request(id)
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
    return try await onThread { [explainer, fleet] in
      do {
        var queue = try explainer.queue(dueBy: to)
        let shared = try fleet?.readIfThere { (session) throws(FleetError) in
          try session.waiting(dueBy: to, limit: RequestExplainer.forecastRequests)
        }
        queue.requests += (shared ?? nil) ?? []
        var forecast = basis.forecast(of: queue, to: to, limit: limit, isWanted: isWanted)
        if queue.requests.count >= RequestExplainer.forecastRequests {
          forecast.notes.append("more than \(queue.requests.count) requests are due in that time: the forecast covers only the newest")
          forecast.isTruncated = true
        }
        if fleet != nil, (shared ?? nil) == nil {
          forecast.notes.append("the fleet's database cannot be asked now: what the fleet has besides is not in the forecast")
        }
        if (shared ?? nil)?.isEmpty == false { forecast.notes.append("requests of the fleet are shown as if this host ran them") }
        return .success(forecast)
      } catch let refusal as RequestRefusal {
        return .failure(refusal)
      } catch { return .failure(RequestRefusal(error as? StoreError ?? .other("\(error)"))) }
    }
  }

  /// Reads what clients are shown. The fleet's database may answer late: then the caller's thread, which other clients' connections use too,
  /// does not wait for it.
  func look<Value: Sendable>(
    _ body: @escaping @Sendable (RequestView) throws(StoreError) -> Value
  ) async throws(RequestRefusal) -> Value {
    guard fleet != nil else { return try read { () throws(StoreError) in try body(view) } }
    return try await onThread { [view] in Result { () throws(StoreError) in try body(view) }.mapError { RequestRefusal($0) } }
  }

  /// Asks the fleet's database for its part of an answer. Returns nil without a fleet, and if the database does not answer.
  func askFleet<Value: Sendable>(_ body: @escaping @Sendable (FleetSession) throws(FleetError) -> Value) async -> Value? {
    guard let fleet else { return nil }
    let answer = try? await onThread { .success((try? fleet.readIfThere(body)) ?? nil) }
    return answer ?? nil
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
