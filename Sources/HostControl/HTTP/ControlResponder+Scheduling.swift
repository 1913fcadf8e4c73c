import HostThreads
import NIOHTTP1
import RecordJSON
import StrictText
import TaskFilters
import TaskModel

/// Conditions, events, assertions, the forecast, and operations on many requests.
extension ControlResponder {
  /// Hours and runs of a forecast by default.
  static let forecastPresets = (hours: 24, limit: 1000)
  /// Dead letters that one commit examines by default.
  static let retryPreset = 1000

  /// `DELETE /v1/requests?tag=T&identifier=I` cancels all; with `limit`, of a fleet only so many. If the answer has `next`, there are more:
  /// send it as `after`.
  func cancelAll(_ parameters: QueryParameters) async throws -> ControlResponse {
    let (tag, identifier) = (try parameters.one("tag"), try parameters.identifier())
    guard tag != nil || identifier != nil else {
      throw RequestRefusal(.invalid, "all requests would be cancelled: send tag, identifier or both", field: "tag")
    }
    let cursor = parameters.cursor(of: .cancel)
    let result = try await host.cancelAll(
      tag: tag, identifier: identifier, after: cursor.read(parameters.one("after")), limit: parameters.limit())
    return one(result) { writer, result in
      writer.member("cancelled", result.count)
      writer.member("next", cursor.text(after: result.last))
    }.about(count: result.count, of: Self.selection(identifier, tag))
  }

  /// `POST /v1/requests/bulk`: an action on the requests that match a filter, or in a dry run what it would do. If the answer has `next`, there may
  /// be more: send it as `after`.
  func bulk(_ request: ControlRequest) async throws -> ControlResponse {
    let order = try BulkReader.read(request.body, now: SystemClock().wallTime)
    let result = try await host.carryOut(order)
    return one(result) { writer, result in
      writer.member("action", order.action.rawValue)
      writer.member("dry_run", order.isDry)
      writer.member("matched", result.matched)
      writer.member("changes", result.changes)
      writer.member("done", result.done.map(\.description))
      writer.array("refused", result.refused) { writer, refused in
        writer.member("id", refused.id.description)
        writer.member("message", refused.message)
      }
      writer.array("reasons", result.reasons) { writer, reason in
        writer.member("reason", reason.reason)
        writer.member("count", reason.count)
      }
      writer.member("next", BulkReader.cursor(of: order.action, order.filter).text(after: result.next))
    }.about(result.done.map(\.description), of: "\(order.action.rawValue) \(order.filter.text)", isDry: order.isDry)
  }

  private static func selection(_ identifier: TaskIdentifier?, _ tag: String?) -> String? {
    let terms = [identifier.map { "identifier:\($0)" }, tag.map { "tag:\(RequestFilter.quoted($0))" }].compactMap(\.self)
    return terms.isEmpty ? nil : terms.joined(separator: " ")
  }

  /// `POST /v1/requests/retry?identifier=I&tag=T&limit=1000&after=CURSOR` makes the matching dead letters pending again. If the answer has
  /// `next`, there are more: send it as `after`.
  func retryAll(_ query: QueryParameters) async throws -> ControlResponse {
    let cursor = query.cursor(of: .retry)
    let (identifier, tag, after, limit) = try deadLetters(query, cursor)
    let result = try await host.retryAll(identifier: identifier, tag: tag, after: after, limit: limit)
    return one(result) { writer, result in
      writer.member("retried", result.retried.map(\.description))
      writer.array("refused", result.refused) { writer, refused in
        writer.member("id", refused.id.description)
        writer.member("message", refused.message)
      }
      writer.member("next", cursor.text(after: result.last))
    }.about(result.retried.map(\.description), of: Self.selection(identifier, tag))
  }

  /// `POST /v1/requests/discard` discards the matching dead letters, with the query and the pages of ``retryAll(_:)``.
  func discardAll(_ query: QueryParameters) async throws -> ControlResponse {
    let cursor = query.cursor(of: .discard)
    let (identifier, tag, after, limit) = try deadLetters(query, cursor)
    let result = try await host.discardAll(identifier: identifier, tag: tag, after: after, limit: limit)
    return one(result) { writer, result in
      writer.member("discarded", result.discarded.map(\.description))
      writer.member("next", cursor.text(after: result.last))
    }.about(result.discarded.map(\.description), of: Self.selection(identifier, tag))
  }

  private func deadLetters(
    _ parameters: QueryParameters, _ cursor: PageCursor
  ) throws -> (identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int) {
    (
      try parameters.identifier(), try parameters.one("tag"), try cursor.read(parameters.one("after")),
      try parameters.limit(preset: Self.retryPreset)
    )
  }

  /// `POST /v1/requests/ID/snooze` with `{"delay_ms": …}`
  func snooze(_ id: RequestID, _ request: ControlRequest) async throws -> ControlResponse {
    let delay = try SchedulingReader.delay(in: request.body)
    return try await one(host.snooze(id, until: SystemClock().wallTime + delay)) { $0.request($1.record, notes: $1.notes) }
  }

  /// `PUT /v1/conditions` with `{"network": "none", …}`; the answer shows all conditions.
  func overrideConditions(_ request: ControlRequest) async throws -> ControlResponse {
    let overrides = try SchedulingReader.overrides(in: request.body)
    let names = overrides.map { "\($0.condition.names.joined(separator: "+"))=\($0.holds)" }.joined(separator: " ")
    return try await one(host.overrideConditions(overrides)) { $0.conditions($1) }.about(of: names)
  }

  /// `DELETE /v1/conditions?name=…`; without a name, all of them.
  func clearConditions(_ parameters: QueryParameters) async throws -> ControlResponse {
    let conditions = try parameters.conditions() ?? .all
    return try await one(host.clearConditions(conditions)) { $0.conditions($1) }.about(of: conditions.names.joined(separator: " "))
  }

  /// `POST /v1/events/NAME` with `{"payload": …}`, `{"payload_base64": …}` or nothing.
  func notify(_ event: String, _ request: ControlRequest) async throws -> ControlResponse {
    let payload = try SchedulingReader.eventPayload(in: request.body)
    return try await one(host.notify(event, payload: payload)) { $0.receipt($1) }
  }

  /// `POST /v1/assertions` with `{"name": …, "reason": …, "for_ms": …, "process_id": …}`
  func beginAssertion(_ request: ControlRequest) async throws -> ControlResponse {
    var wanted = try AssertionReader.read(request.body)
    wanted.user = request.principal.peer?.user
    let assertion = try await host.beginAssertion(wanted)
    return one(assertion, status: .created) { $0.assertion($1) }.about([assertion.id.description], of: wanted.name)
  }

  /// `GET /v1/forecast?hours=24&limit=1000&identifier=I`
  func forecast(_ parameters: QueryParameters) async throws -> ControlResponse {
    let hours = try parameters.hours(preset: Self.forecastPresets.hours)
    let limit = try parameters.limit(preset: Self.forecastPresets.limit)
    let identifier = try parameters.identifier()
    var forecast = try await host.forecast(hours: hours, limit: limit) { identifier == nil || $0 == identifier }
    if let identifier, forecast.entries.isEmpty, forecast.held.isEmpty {
      let known = await host.plugins().compactMap { $0.contract?.identifier.rawValue }
      if !known.contains(identifier.rawValue) {
        forecast.notes.append("nothing is registered for \(identifier)\(NearestName.hint(for: identifier.rawValue, among: known))")
      }
    }
    return one(forecast) { $0.forecast($1) }
  }
}
