import NIOHTTP1
import RecordJSON
import StrictText
import TaskModel

/// Pauses: what operators hold back, by filter.
extension ControlResponder {
  /// `POST /v1/pauses`: begins a pause, and counts what it holds.
  func pause(_ request: ControlRequest) async throws -> ControlResponse {
    let (order, isDry) = try PauseReader.read(request.body, by: await request.principal.name(), user: request.principal.peer?.user)
    let begun = try await host.pause(order, isDry: isDry)
    return one(begun, status: isDry ? .ok : .created) { writer, begun in
      if isDry { writer.member("dry_run", true) }
      writer.pause(begun.pause)
      writer.member("waiting", begun.waiting)
      writer.member("more", begun.hasMore)
      writer.member("running", begun.running)
    }.about(isDry ? [] : ["\(begun.pause.id)"], of: begun.pause.subject, isDry: isDry)
  }

  /// `DELETE /v1/pauses?filter=F` ends the pauses with that filter, `?all=true` all of them; with `fleet=true`, those of the fleet.
  func resume(_ call: RouteCall) async throws -> ControlResponse {
    let (parameters, request) = (call.query, call.request)
    let ofFleet = try parameters.flag("fleet")
    switch (try parameters.one("filter"), try parameters.flag("all")) {
    case (nil, true): return try await end(.all, ofFleet: ofFleet, request)
    case (let filter?, false): return try await end(.filter(filter), ofFleet: ofFleet, request)
    case (nil, false): throw RequestRefusal(.invalid, "say which pauses end: filter, or all=true", field: "filter")
    case (_?, true): throw RequestRefusal(.invalid, "filter and all exclude each other: send one", field: "all")
    }
  }

  func end(_ selection: PauseSelection, ofFleet: Bool = false, _ request: ControlRequest) async throws -> ControlResponse {
    let ended = try await host.resume(selection, ofFleet: ofFleet, by: await request.principal.name())
    return list("ended", ended) { $0.pause($1) }.about(ended.map { "\($0.id)" }, of: ended.map(\.subject).joined(separator: ", "))
  }
}

extension JSONWriter {
  mutating func pause(_ pause: Pause) {
    if pause.id.number > 0 { member("id", pause.id.number) }
    member("filter", pause.order.filter)
    if pause.order.isOfFleet { member("fleet", true) }
    member("by", pause.order.by)
    member("user_id", pause.order.user.map(Int64.init))
    member("why", pause.order.reason)
    moment("since", pause.since)
    moment("until", pause.order.until)
  }
}
