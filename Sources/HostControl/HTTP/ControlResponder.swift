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
  let host: any ControlledHost
  let events: EventBacklog
  let logger: Logger

  /// Turns the host's errors into responses.
  func respond(to request: ControlRequest) async -> ControlResponse {
    do {
      return try await answer(try request.route.get(), to: request)
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

  private func notAllowed(_ request: ControlRequest, use allowed: [String]) -> ControlResponse {
    let method = String(request.method.rawValue.prefix(16)).escapingControlCharacters
    let message = "\(request.path) does not answer \(method): use \(allowed.joined(separator: " or "))"
    var response = ControlResponse.failure(.methodNotAllowed, code: "method_not_allowed", message)
    response.headers.add(name: "allow", value: allowed.joined(separator: ", "))
    return response
  }

  private func answer(_ route: Route, to request: ControlRequest) async throws -> ControlResponse {
    let query = request.query
    if let query, !route.readsQuery { _ = try QueryParameters(query, known: []) }
    switch route {
    case .listRequests:
      let (wanted, hasProblem, filter) = try requestQuery(query)
      if let filter {
        let found = try await host.requests(matching: filter, after: wanted.after, limit: wanted.limit)
        return list("requests", found.records, next: found.next?.description) { $0.request($1) }
      }
      let found = hasProblem ? try await host.requestsWithProblems(wanted) : try await host.requests(wanted)
      return list("requests", found, next: found.count < wanted.limit ? nil : found.last?.id.description) { $0.request($1) }
    case .listRuns:
      let wanted = try runQuery(query)
      let found = try await host.runs(wanted)
      // Live runs come first, and once more at the place of their ids.
      let last = found.last { $0.outcome != nil }?.id
      return list("runs", found, next: found.count < wanted.limit ? nil : last?.description) { $0.run($1) }
    case .stream:
      let parameters = try QueryParameters(query, known: ["request"])
      return await stream(of: try parameters.id("request", ofA: "request"), after: request.headers.lastEventID)
    case .cancelAll: return try await cancelAll(query)
    case .retryAll: return try await retryAll(query)
    case .discardAll: return try await discardAll(query)
    case .bulk: return try await bulk(request)
    case .clearConditions: return try await clearConditions(query)
    case .forecast: return try await forecast(query)
    case .submit: return try await submit(request)
    case .request(let id): return try await one(host.request(id)) { $0.request($1) }
    case .cancel(let id): return try await one(host.cancel(id)) { $0.request($1, notes: Self.notes(onCancelled: $1)) }
    case .retry(let id): return try await one(host.retry(id)) { $0.request($1) }
    case .discard(let id): return try await one(host.discard(id)) { $0.request($1) }
    case .why(let id): return try await one(host.explanation(of: id)) { $0.explanation($1) }
    case .snooze(let id): return try await snooze(id, request)
    case .run(let id): return try await one(host.run(id)) { $0.run($1) }
    case .logs(let id): return try await logs(of: id)
    case .plugins: return list("plugins", await host.plugins()) { $0.plugin($1) }
    case .release(let identifier):
      return try await one(host.release(identifier)) { $0.release(identifier, $1) }
    case .simulateLaunch:
      return try await one(host.simulateLaunch(try SchedulingReader.identifier(in: request.body))) { $0.request($1) }
    case .simulateExpiration:
      let runs = try await host.simulateExpiration(try SchedulingReader.identifier(in: request.body))
      return one(runs) { $0.member("runs", $1.map(\.description)) }
    case .conditions: return try await one(host.conditions()) { $0.conditions($1) }
    case .overrideConditions: return try await overrideConditions(request)
    case .notify(let name): return try await notify(name, request)
    case .listAssertions: return list("assertions", await host.heldAssertions()) { $0.assertion($1) }
    case .beginAssertion: return try await beginAssertion(request)
    case .giveBackAssertion(let id): return try await one(host.giveBackAssertion(id)) { $0.assertion($1) }
    case .listPauses: return list("pauses", await host.pauses()) { $0.pause($1) }
    case .pause: return try await pause(request)
    case .resume: return try await resume(request)
    case .endPause(let id): return try await end(.id(id), request)
    case .listTransfers: return try await listTransfers(query)
    case .submitTransfer: return try await submit(request, of: .transfers)
    case .transfer(let id): return try await showTransfer(id)
    case .pauseTransfer(let id): return try await pauseTransfer(id, request)
    case .resumeTransfer(let id):
      _ = try await transfer(id)
      return try await one(host.resume(id)) { $0.request($1) }
    case .cancelTransfer(let id):
      _ = try await transfer(id)
      return try await one(host.cancel(id)) { $0.request($1) }
    case .status: return one(await host.status()) { $0.status($1) }
    case .problems: return one(await host.status().problems) { $0.problems($1) }
    case .shutdown:
      await host.shutdown()
      return one("draining", status: .accepted) { $0.member("phase", $1) }
    case .health: return health(await host.health())
    case .metrics:
      return ControlResponse(
        status: .ok, headers: ["content-type": "text/plain; version=0.0.4; charset=utf-8"],
        body: .bytes(ByteBuffer(bytes: MetricsText.write(await host.metrics()))))
    case .otherMethods(let allowed): return notAllowed(request, use: allowed)
    case .later(let what):
      throw RequestRefusal(.unsupported, "\(what) comes with a later version of taskhost: see taskhost --help for what this one offers")
    }
  }

  // MARK: Answers

  func one<Value>(
    _ value: Value, status: HTTPResponseStatus = .ok, _ write: (inout JSONWriter, Value) -> Void
  ) -> ControlResponse {
    .json(status) { write(&$0, value) }
  }

  /// - Parameter next: What to send as `after` for the next page; nil on the last page.
  func list<Value>(
    _ name: String, _ values: [Value], next: String? = nil, _ write: (inout JSONWriter, Value) -> Void
  ) -> ControlResponse {
    .json(capacity: 64 + values.count * 512) {
      $0.array(name, values, write)
      $0.member("next", next)
    }
  }

  /// Notes for the client that cancelled a request; nil if there are none.
  private static func notes(onCancelled record: RequestRecord) -> [String]? {
    guard record.request.isSchedule else { return nil }
    let identifier = record.request.identifier
    return [
      "it stands for the schedule of \(identifier) in the configuration, which submits it again when the host launches next:"
        + " to end it, remove that line; to skip a run, use taskhost tasks snooze"
    ]
  }

  /// 200 while the host accepts and runs requests, else 503 and the reason.
  private func health(_ health: HostHealth) -> ControlResponse {
    one(health, status: health.isWell ? .ok : .serviceUnavailable) { writer, health in
      writer.member("phase", health.phase.rawValue)
      writer.member("problem", health.problem)
    }
  }

  /// - Parameter identifier: Whose requests they are, if the route says so.
  private func submit(_ request: ControlRequest, of identifier: TaskIdentifier? = nil) async throws -> ControlResponse {
    let (requests, isArray) = try SubmissionReader.read(
      request.body, of: identifier, now: SystemClock().wallTime, idempotencyKey: try request.headers.idempotencyKey(),
      traceparent: request.headers.traceparent)
    let submissions = try await host.submit(requests)
    return .json(.created, capacity: 64 + submissions.count * 400) { writer in
      if isArray { writer.array("requests", submissions) { $0.submission($1) } } else { submissions.first.map { writer.submission($0) } }
    }
  }

  /// `GET /v1/stream`
  ///
  /// - Parameters:
  ///   - request: The request whose events are sent; nil sends all events.
  ///   - last: The id of the last event that the client has seen.
  private func stream(of request: RequestID?, after last: String?) async -> ControlResponse {
    // Subscribe before writing the head: whatever happens after the client sees the head is in the stream.
    let reader = events.read(request, after: last)
    await host.settle()
    return ControlResponse(
      status: .ok, headers: ["content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"], body: .events(reader))
  }

  private func logs(of id: RunID) async throws -> ControlResponse {
    one(try await host.run(id)) { writer, run in
      writer.member("run", id.description)
      writer.member("request", run.request.description)
      writer.array("lines", run.report.log) { $0.logLine($1) }
    }
  }

  // MARK: What was asked

  private func requestQuery(_ text: String?) throws -> (RequestQuery, hasProblem: Bool, filter: RequestFilter?) {
    let parameters = try QueryParameters(text, known: ["filter", "identifier", "state", "tag", "problem", "limit", "after"])
    let filter = try parameters.filter(without: ["identifier", "state", "tag", "problem"]) { text throws(FilterError) in
      try RequestFilter(text, now: SystemClock().wallTime)
    }
    var query = RequestQuery()
    query.identifier = try parameters.identifier()
    query.states = try parameters.states()
    query.tag = try parameters.one("tag")
    query.after = try parameters.id("after", ofA: "request")
    query.limit = try parameters.limit(preset: query.limit)
    return (query, try parameters.flag("problem"), filter)
  }

  private func runQuery(_ text: String?) throws -> RunQuery {
    let words = ["identifier", "request", "outcome", "since", "until"]
    let parameters = try QueryParameters(text, known: ["filter"] + words + ["limit", "after"])
    let filtered = try parameters.filter(without: words) { text throws(FilterError) in
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
    query.after = try parameters.id("after", ofA: "run")
    query.limit = try parameters.limit(preset: query.limit)
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
