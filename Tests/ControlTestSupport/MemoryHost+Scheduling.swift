import Synchronization
public import TaskFilters
public import TaskModel

/// Why, conditions, events and the forecast.
extension MemoryHost {
  /// As the protocol says.
  public func explanation(of id: RequestID) async throws(RequestRefusal) -> RequestExplanation {
    _ = try await request(id)
    return state.withLock { state in
      var explanation = RequestExplanation(
        id: id, gates: state.gates, earliestStart: state.earliestStart, wouldRunIf: state.wouldRunIf)
      explanation.assumptions = state.assumptions
      return explanation
    }
  }

  /// As the protocol says.
  public func cancelAll(
    tag: String?, identifier: TaskIdentifier?, after: RequestID?, limit: Int?
  ) async throws(RequestRefusal) -> CancelledRequests {
    var query = RequestQuery()
    (query.tag, query.identifier, query.limit) = (tag, identifier, .max)
    let matching = try await requests(query).filter { !$0.state.isFinal }
    for record in matching { _ = try await cancel(record.id) }
    var result = CancelledRequests()
    result.count = matching.count
    return result
  }

  /// As the protocol says; one with a unique key is refused.
  public func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    var query = RequestQuery()
    (query.tag, query.identifier, query.states, query.limit) = (tag, identifier, [.failed], .max)
    let matching = try await requests(query).reversed().filter { record in after.map { $0 < record.id } ?? true }
    var result = RetriedRequests()
    for record in matching.prefix(limit) {
      if record.request.uniqueKey != nil {
        result.refused.append(RetriedRequests.Refused(id: record.id, RequestRefusal(.conflict, "another holds the key")))
      } else {
        result.retried.append(try await retry(record.id).id)
      }
    }
    if matching.count > limit { result.last = matching.prefix(limit).last?.id }
    return result
  }

  /// As the protocol says.
  public func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    guard try await request(id).state == .failed else { throw RequestRefusal(.conflict, "only a failed request can be discarded") }
    change(id, to: .cancelled)
    return try await request(id)
  }

  /// As the protocol says.
  public func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    var query = RequestQuery()
    (query.tag, query.identifier, query.states, query.limit) = (tag, identifier, [.failed], .max)
    let matching = try await requests(query).reversed().filter { record in after.map { $0 < record.id } ?? true }
    var result = DiscardedRequests()
    for record in matching.prefix(limit) { result.discarded.append(try await discard(record.id).id) }
    if matching.count > limit { result.last = matching.prefix(limit).last?.id }
    return result
  }

  /// As the protocol says, all in one part; one with a unique key is refused.
  public func carryOut(_ order: BulkOrder) async throws(RequestRefusal) -> BulkResult {
    let found = try await requests(matching: order.filter, after: nil, limit: .max).records.filter(order.isFor)
    var result = BulkResult()
    result.matched = found.count
    for record in found {
      if let key = record.request.uniqueKey {
        let refusal = RequestRefusal(.conflict, "it has the key \(key)", reason: "it has a key")
        result.refused.append(RetriedRequests.Refused(id: record.id, refusal))
        continue
      }
      result.changes += 1
      if order.isDry { continue }
      switch order.action {
      case .retry: result.done.append(try await retry(record.id).id)
      case .cancel: result.done.append(try await cancel(record.id).id)
      case .discard: result.done.append(try await discard(record.id).id)
      case .snooze: result.done.append(try await snooze(record.id, until: order.until ?? now).record.id)
      }
    }
    return result
  }

  /// As the protocol says.
  public func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest {
    guard try await request(id).state == .pending else { throw RequestRefusal(.conflict, "only a pending request can be postponed") }
    let isLater = try await request(id).due > time
    if !isLater { change(id) { $0.due = time } }
    return SnoozedRequest(record: try await request(id), notes: isLater ? ["its own time is later"] : [])
  }

  /// As the protocol says: every condition holds unless it is overridden.
  public func conditions() async throws(RequestRefusal) -> ConditionReport {
    state.withLock { state in
      ConditionReport(
        states: Conditions.named.map { name, condition in
          ConditionState(
            condition: condition, holds: state.overrides[condition] ?? true, since: now, observed: "\(name) as it should be",
            isKnown: condition != .idle, isWatched: condition != .power, isOverridden: state.overrides[condition] != nil)
        })
    }
  }

  /// As the protocol says.
  public func overrideConditions(_ overrides: [(condition: Conditions, holds: Bool)]) async throws(RequestRefusal) -> ConditionReport {
    state.withLock { state in for (condition, holds) in overrides { state.overrides[condition] = holds } }
    return try await conditions()
  }

  /// As the protocol says.
  public func clearConditions(_ conditions: Conditions) async throws(RequestRefusal) -> ConditionReport {
    state.withLock { state in state.overrides = state.overrides.filter { !conditions.contains($0.key) } }
    return try await self.conditions()
  }

  /// As the protocol says; nothing is merged.
  public func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    let waiting = state.withLock { state in
      state.requests.values.filter { $0.request.event?.name == event && $0.state == .pending }.map(\.id)
    }
    for id in waiting {
      state.withLock { $0.payloads[id] = payload }
      change(id) { [now] in $0.due = now }
    }
    return EventReceipt(event: event, woken: waiting.count, dropped: waiting.isEmpty ? 1 : 0, waiting: waiting.count)
  }

  /// As the protocol says.
  public func forecast(
    hours: Int, limit: Int, of isWanted: @escaping @Sendable (TaskIdentifier) -> Bool
  ) async throws(RequestRefusal) -> Forecast {
    state.withLock { state in
      var forecast = state.forecast ?? Forecast(from: now, to: now + .seconds(hours * 3600))
      forecast.entries.removeAll { !isWanted($0.identifier) }
      forecast.held.removeAll { !isWanted($0.identifier) }
      forecast.isTruncated = forecast.isTruncated || forecast.entries.count > limit
      forecast.entries = Array(forecast.entries.prefix(limit))
      return forecast
    }
  }
}
