import HostThreads
import Logging
import NIOCore
import NIOHTTP1
import RecordJSON
import StrictText
import TaskFilters
import TaskModel

/// Answers requests to the control API.
struct ControlResponder: Sendable {
  private(set) var host: any ControlledHost
  let events: EventBacklog
  let logger: Logger
  /// Where changes are recorded; nil: nowhere.
  var audit: AuditLog?
  /// Names with a dot that clients may call the host by.
  var names: [String] = []
  /// The handshakes of the port that speaks TLS; nil if there is none.
  var handshakes: HandshakeTally?
  /// Which identifiers whoever asks may see and change.
  private(set) var scope = AccessScope.all

  /// The response to a request. A change is recorded before the client learns of it.
  func respond(to request: ControlRequest) async -> ControlResponse {
    let response = await attempt(request)
    guard let entry = AuditEntry(of: request, response, at: SystemClock().wallTime) else { return response }
    await audit?.record(entry)
    // Not every change is an event: open pages show pauses, overrides and the audit too.
    events.tellPages()
    return response
  }

  /// Turns the host's errors into responses.
  private func attempt(_ request: ControlRequest) async -> ControlResponse {
    do {
      return try await narrowed(to: request.principal.scope).answer(try request.route.get(), to: request)
    } catch let refusal as RequestRefusal {
      if refusal.code == .internal {
        logger.error("a request failed", metadata: ["path": "\(request.path)", "error": "\(refusal.message)"])
      }
      return .failure(refusal)
    } catch is CancellationError {
      return .failure(RequestRefusal(.unavailable, "the host is going away"))
    } catch {
      logger.error("a request failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
      return .failure(RequestRefusal(.internal, "a defect in the host: \(error)"))
    }
  }

  /// The same for a client that may see and change only what is in `scope`.
  private func narrowed(to scope: AccessScope) -> ControlResponder {
    guard !scope.isAll else { return self }
    var responder = self
    (responder.host, responder.scope) = (ScopedHost(host, scope), scope)
    return responder
  }

  private func notAllowed(_ request: ControlRequest, use allowed: [HTTPMethod]) -> ControlResponse {
    let method = String(request.method.rawValue.prefix(16)).escapingControlCharacters
    let names = allowed.map(\.rawValue)
    let message = "\(request.path) does not answer \(method): use \(names.joined(separator: " or "))"
    var response = ControlResponse.failure(.methodNotAllowed, code: "method_not_allowed", message)
    response.headers.add(name: "allow", value: names.joined(separator: ", "))
    return response
  }

  private func answer(_ match: RouteTable.Match, to request: ControlRequest) async throws -> ControlResponse {
    if let denial = request.denial { return denial }
    switch match {
    case .route(let route, _, let answer):
      guard PageOrigin.mayReach(request.headers.first(name: "host"), as: names) else {
        return .failure(
          .misdirectedRequest, code: "misdirected",
          "the host does not answer under this name: use localhost, a name without a dot, the number of an address, or a name in control.names"
        )
      }
      if route.isChange, request.hasStrayBody {
        // Whoever sends one means to narrow what is done.
        throw RequestRefusal(.invalid, "\(route.name) takes no body: send none, and what it is about in the path or the query")
      }
      guard !route.isChange || PageOrigin.mayCall(request.headers) else {
        return .failure(
          .forbidden, code: "forbidden",
          "a page of another site sent this, so nothing was done: programs send no Origin and no Sec-Fetch-Site")
      }
      return try await answer(self, RouteCall(request: request, query: QueryParameters(request.query, known: route.query.map(\.name))))
    case .page: return await PageResponder(api: self).respond(to: request)
    case .otherMethods(let allowed): return notAllowed(request, use: allowed)
    }
  }

  // MARK: Answers

  func one<Value>(
    _ value: Value, status: HTTPResponseStatus = .ok, _ write: (inout JSONWriter, Value) -> Void
  ) -> ControlResponse {
    .json(status) { write(&$0, value) }
  }

  /// - Parameters:
  ///   - next: What to send as `after` for the next page; nil on the last page.
  ///   - gap: Why there is more than what is listed; nil if there is not.
  func list<Value>(
    _ name: String, _ values: [Value], next: String? = nil, gap: String? = nil, _ write: (inout JSONWriter, Value) -> Void
  ) -> ControlResponse {
    .json(capacity: 64 + values.count * 512) {
      $0.array(name, values, write)
      $0.member("next", next)
      $0.member("incomplete", gap)
    }
  }

  func listRequests(_ parameters: QueryParameters) async throws -> ControlResponse {
    let (wanted, hasProblem, filter) = try requestQuery(parameters)
    let cursor = parameters.cursor(of: .requests)
    // For some identifiers, only a filter searches by pattern. A fleet has no index of tags, and only a filter bounds how far it looks.
    let isFiltered = !hasProblem && (!scope.isAll && wanted.identifier == nil || host.isInFleet && wanted.tag != nil)
    if let filter = try filter ?? (isFiltered ? RequestFilter(wanted, now: SystemClock().wallTime) : nil) {
      let found = try await host.requests(matching: filter, after: wanted.after, limit: wanted.limit)
      return list("requests", found.records, next: cursor.text(after: found.next), gap: await host.listGap()) { $0.request($1) }
    }
    let found = hasProblem ? try await host.requestsWithProblems(wanted) : try await host.requests(wanted)
    let next = found.count < wanted.limit ? nil : found.last?.id
    return list("requests", found, next: cursor.text(after: next), gap: await host.listGap()) { $0.request($1) }
  }

  func listRuns(_ parameters: QueryParameters) async throws -> ControlResponse {
    let wanted = try runQuery(parameters)
    let found = try await host.runs(wanted)
    let next = parameters.cursor(of: .runs).text(after: found.next)
    return list("runs", found.records, next: next, gap: await host.listGap()) { $0.run($1) }
  }

  func cancel(_ id: RequestID) async throws -> ControlResponse {
    one(try await host.cancel(id)) { $0.request($1, notes: Self.notes(onCancelled: $1)) }
  }

  /// Notes for the client that cancelled a request; nil if there are none.
  private static func notes(onCancelled record: RequestRecord) -> [String]? {
    guard let name = record.request.scheduleName else { return nil }
    return [
      "it stands for the schedule of \(name) in the configuration, which submits it again when the host launches next:"
        + " to end it, remove that line; to skip a run, use taskhost tasks snooze"
    ]
  }

  /// 200 while the host accepts and runs requests, else 503 and the reason.
  func health(_ health: HostHealth) -> ControlResponse {
    one(health, status: health.isWell ? .ok : .serviceUnavailable) { writer, health in
      writer.member("phase", health.phase.rawValue)
      writer.member("problem", health.problem)
    }
  }

  /// - Parameter identifier: Whose requests they are, if the route says so.
  /// - Parameter parks: Whether the host may keep it while the fleet's database is away.
  func submit(_ request: ControlRequest, of identifier: TaskIdentifier? = nil, parks: Bool = false) async throws -> ControlResponse {
    let (requests, isArray) = try SubmissionReader.read(
      request.body, of: identifier, idempotencyKey: try request.headers.idempotencyKey(), traceparent: request.headers.traceparent)
    let submissions = parks ? try await host.submitOrPark(requests) : try await host.submit(requests)
    return .json(submissions.contains(where: \.isParked) ? .accepted : .created, capacity: 64 + submissions.count * 400) { writer in
      if isArray { writer.submissions("requests", submissions) } else { submissions.first.map { writer.submission($0) } }
    }.about(submissions.map(\.id.description), of: Self.names(of: requests.map(\.identifier.rawValue)))
  }

  /// Some of the names, each once.
  private static func names(of all: [String]) -> String {
    let names = Set(all).sorted()
    return names.prefix(5).joined(separator: " ") + (names.count > 5 ? " …" : "")
  }

  /// The events of a request, or all: those after the last event that the client has seen.
  func stream(_ call: RouteCall) async throws -> ControlResponse {
    let (request, last) = (try call.query.id("request", ofA: "request") as RequestID?, call.request.headers.lastEventID)
    // Subscribe before writing the head: whatever happens after the client sees the head is in the stream.
    let reader = events.read(EventSelection(request: request, scope: scope), after: last)
    await host.settle()
    return ControlResponse(
      status: .ok, headers: ["content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"], body: .events(reader))
  }

  func logs(of id: RunID) async throws -> ControlResponse {
    one(try await host.run(id)) { writer, run in
      writer.member("run", id.description)
      writer.member("request", run.request.description)
      writer.array("lines", run.report.log) { $0.logLine($1) }
    }
  }

  // MARK: What was asked

  /// Requests or runs of a list by default.
  static let listPreset = RequestQuery().limit

  private func requestQuery(_ parameters: QueryParameters) throws -> (RequestQuery, hasProblem: Bool, filter: RequestFilter?) {
    let filter = try parameters.filter(without: ["identifier", "state", "tag", "problem"]) { text throws(FilterError) in
      try RequestFilter(text, now: SystemClock().wallTime)
    }
    var query = RequestQuery()
    query.identifier = try parameters.identifier()
    query.states = try parameters.states()
    query.tag = try parameters.one("tag")
    query.after = try parameters.cursor(of: .requests).read(parameters.one("after"))
    query.limit = try parameters.limit(preset: Self.listPreset)
    return (query, try parameters.flag("problem"), filter)
  }

  private func runQuery(_ parameters: QueryParameters) throws -> RunQuery {
    let filtered = try parameters.filter(without: ["identifier", "request", "outcome", "since", "until"]) { text throws(FilterError) in
      try RunQuery(filter: text, now: SystemClock().wallTime)
    }
    var query = filtered ?? RunQuery()
    if filtered == nil {
      query.identifier = try parameters.identifier()
      query.request = try parameters.id("request", ofA: "request")
      query.outcomes = try parameters.outcomes()
      query.since = try parameters.moment("since")
      query.until = try parameters.moment("until")
    }
    query.after = try parameters.cursor(of: .runs).read(parameters.one("after"))
    query.limit = try parameters.limit(preset: Self.listPreset)
    return query
  }
}

extension HTTPHeaders {
  /// - Source: draft-ietf-httpapi-idempotency-key-header. The key is the text as sent, quoted or not.
  fileprivate func idempotencyKey() throws(RequestRefusal) -> String? {
    let keys = self["idempotency-key"]
    guard keys.count <= 1 else { throw RequestRefusal(.invalid, "there are \(keys.count) headers Idempotency-Key: send one") }
    return keys.first
  }

  /// The trace in which the client calls. One that is malformed counts as absent, as W3C Trace Context demands.
  fileprivate var traceparent: TraceParent? {
    let values = self["traceparent"]
    return values.count == 1 ? values.first.flatMap { TraceParent($0) } : nil
  }

  /// The last event that the client has seen. An empty id, from a client that has seen none, counts as absent.
  fileprivate var lastEventID: String? { joined("last-event-id").flatMap { $0.isEmpty ? nil : $0 } }

  /// The value of a field; several fields of the name are one, with commas.
  ///
  /// - Source: RFC 9110, 5.3.
  private func joined(_ name: String) -> String? {
    let values = self[name]
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}
