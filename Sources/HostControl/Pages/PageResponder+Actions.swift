import Dashboard
import NIOHTTP1
import StrictText
import TaskFilters
import TaskModel

/// What forms do. Each ends at a page that says what was done.
extension PageResponder {
  func act(_ request: ControlRequest) async throws -> ControlResponse {
    let parts = try request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { try QueryParameters.decode($0) }
    if let query = request.query { _ = try PageQuery(query, known: []) }
    switch (parts.count, parts.count > 1 ? parts[1] : "") {
    case (4, "requests"):
      let id: RequestID = try id(parts[2], request)
      return try await act(parts[3], on: id, request).about([id.description])
    case (4, "tasks"):
      let identifier = try identifier(parts[2])
      switch parts[3] {
      case "run":
        let id = try await host.simulateLaunch(identifier).id
        return seeOther(PagePath.request(id), .started).about([id.description])
      case "expire":
        let runs = try await host.simulateExpiration(identifier)
        return seeOther(PagePath.task(identifier), .expired, count: runs.count).about(runs.map(\.description))
      default: break
      }
    case (4, "plugins") where parts[3] == "release":
      _ = try await host.release(try identifier(parts[2]))
      return seeOther("/ui/plugins", .released)
    case (4, "conditions"):
      if let response = try await act(parts[3], onCondition: parts[2]) { return response }
    case (3, "conditions") where parts[2] == "clear":
      _ = try await host.clearConditions(.all)
      return seeOther("/ui/conditions", .cleared)
    case (2, "pauses"): return try await pauseByForm(request)
    case (3, "pauses") where parts[2] == "resume": return try await resume(.all, request)
    case (4, "pauses") where parts[3] == "resume":
      guard let id = PauseID(parts[2]) else { throw Self.nothing(at: request) }
      return try await resume(.id(id), request)
    case (2, "submit"): return try await submit(request)
    case (2, "bulk"): return try await bulk(request)
    default: break
    }
    throw Self.nothing(at: request)
  }

  private func act(_ action: String, on id: RequestID, _ request: ControlRequest) async throws -> ControlResponse {
    let page = PagePath.request(id)
    switch action {
    case "cancel": return seeOther(page, try await host.cancel(id).state == .running ? .stopping : .cancelled)
    case "retry":
      _ = try await host.retry(id)
      return seeOther(page, .retried)
    case "discard":
      _ = try await host.discard(id)
      return seeOther(page, .discarded)
    case "snooze":
      let form = try PageQuery(form: request.body, known: ["delay"])
      let body = try JSONWriter.object { writer in try Self.delay(form, &writer) }
      _ = try await host.snooze(id, until: now + SchedulingReader.delay(in: body))
      return seeOther(page, .snoozed)
    case "pause":
      _ = try await host.pause(id, RequestPause(by: "\(await request.principal.name()), in the dashboard", since: now))
      return seeOther(page, .paused)
    case "resume":
      _ = try await host.resume(id)
      return seeOther(page, .resumed)
    default: throw Self.nothing(at: request)
    }
  }

  private func act(_ action: String, onCondition name: String) async throws -> ControlResponse? {
    switch action {
    case "hold", "lose":
      let body = JSONWriter.object { $0.member(name, action == "hold") }
      _ = try await host.overrideConditions(try SchedulingReader.overrides(in: body))
      return seeOther("/ui/conditions", .overridden)
    case "clear":
      _ = try await host.clearConditions(try Conditions(known: name, field: "name"))
      return seeOther("/ui/conditions", .cleared)
    default: return nil
    }
  }

  /// The member `delay_ms` for a field such as `1h30m`; none for an empty field.
  ///
  /// - Parameter label: The field's name on the page, for the refusal, where the page has several fields.
  static func delay(_ form: PageQuery, _ writer: inout JSONWriter, label: String? = nil) throws(RequestRefusal) {
    guard let text = try form.text("delay") else { return }
    do {
      writer.member(RequestField.delay, try DurationFormat.milliseconds(of: text[...], units: DurationFormat.unitsWithWeeks))
    } catch {
      let shown = String(text.prefix(40)).escapingControlCharacters
      let field = label.map { "\($0): " } ?? ""
      throw RequestRefusal(.invalid, "\(field)\"\(shown)\" is not a duration: write it as 15m or 1h30m", field: "delay")
    }
  }

  // MARK: Many requests

  /// How many requests one confirmation counts, and one click changes.
  private static let bulkRequests = 10_000

  private func bulk(_ request: ControlRequest) async throws -> ControlResponse {
    let form = try PageQuery(form: request.body, known: ["filter", "action", "delay", "confirmed"])
    let isConfirmed = try form.text("confirmed") == "yes"
    let action = try form.text("action") ?? ""
    let body = try JSONWriter.object { writer in
      writer.member("filter", try form.text("filter") ?? "")
      writer.member("action", action)
      writer.member("limit", Self.bulkRequests)
      writer.member("dry_run", !isConfirmed)
      if action == BulkAction.snooze.rawValue { try Self.delay(form, &writer) }
    }
    let order = try BulkReader.read(body, now: now)
    let result = try await host.carryOut(order)
    let delay = try form.text("delay") ?? ""
    if !isConfirmed { return try page(BulkPage.question(order, result, delay: delay, now: now)) }
    let (ids, target) = (result.done.map(\.description), "\(order.action.rawValue) \(order.filter.text)")
    if !result.refused.isEmpty || result.next != nil {
      return try page(BulkPage.result(order, result, delay: delay, now: now)).about(ids, of: target)
    }
    return seeOther(PagePath.requests(order.filter.text), .bulk, count: result.done.count).about(ids, of: target)
  }
}
