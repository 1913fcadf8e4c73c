import HTTPTypes
import HostThreads
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import StrictText
import Synchronization
import TaskModel

/// Answers requests to the control API.
struct ControlResponder: Sendable {
  let host: any ControlledHost
  let bodies: BodyReader
  let events: EventBacklog
  let logger: Logger

  /// Turns the host's errors into answers; throws only errors of the connection.
  func respond(to request: Request) async throws -> Response {
    do {
      let route = try Route.find(method: request.method.rawValue, path: request.uri.path)
      return try await answer(route, to: request)
    } catch let refusal as RequestRefusal {
      if refusal.code == .internal {
        logger.error("a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(refusal.message)"])
      }
      return .failure(refusal)
    } catch let unread as UnreadBody {
      var response = Response.failure(unread.refusal)
      response.headers[.connection] = "close"
      return response
    } catch let error as HTTPParserError {
      throw error
    } catch is CancellationError {
      return .failure(RequestRefusal(.unavailable, "the host is going away"))
    } catch {
      logger.error("a request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
      return .failure(RequestRefusal(.internal, "a defect in the host: \(error)"))
    }
  }

  private func notAllowed(_ request: Request, use allowed: [String]) -> Response {
    let method = String(request.method.rawValue.prefix(16)).escapingControlCharacters
    let message = "\(request.uri.path) does not answer \(method): use \(allowed.joined(separator: " or "))"
    var response = Response.failure(.methodNotAllowed, code: "method_not_allowed", message)
    response.headers[.allow] = allowed.joined(separator: ", ")
    return response
  }

  private func answer(_ route: Route, to request: Request) async throws -> Response {
    let query = request.uri.query
    if let query, !route.readsQuery { _ = try QueryParameters(query, known: []) }
    switch route {
    case .listRequests:
      let (wanted, hasProblem) = try requestQuery(query)
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
      let stream = EventStream(host: host, backlog: events, request: try parameters.id("request", ofA: "request"))
      return await stream.response(to: request)
    case .cancelAll: return try await cancelAll(query)
    case .retryAll: return try await retryAll(query)
    case .discardAll: return try await discardAll(query)
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
      return try await one(host.simulateLaunch(try await identifier(in: request))) { $0.request($1) }
    case .simulateExpiration:
      let runs = try await host.simulateExpiration(try await identifier(in: request))
      return one(runs) { $0.member("runs", $1.map(\.description)) }
    case .conditions: return try await one(host.conditions()) { $0.conditions($1) }
    case .overrideConditions: return try await overrideConditions(request)
    case .notify(let name): return try await notify(name, request)
    case .status: return one(await host.status()) { $0.status($1) }
    case .problems: return one(await host.status().problems) { $0.problems($1) }
    case .shutdown:
      await host.shutdown()
      return one("draining", status: .accepted) { $0.member("phase", $1) }
    case .health: return health(await host.health())
    case .otherMethods(let allowed): return notAllowed(request, use: allowed)
    case .later(let what):
      throw RequestRefusal(.unsupported, "\(what) comes with a later version of taskhost: see taskhost --help for what this one offers")
    }
  }

  // MARK: Answers

  func one<Value>(
    _ value: Value, status: HTTPResponse.Status = .ok, _ write: (inout JSONWriter, Value) -> Void
  ) -> Response {
    .json(status) { write(&$0, value) }
  }

  /// - Parameter next: What to send as `after` for the next page; nil on the last page.
  private func list<Value>(
    _ name: String, _ values: [Value], next: String? = nil, _ write: (inout JSONWriter, Value) -> Void
  ) -> Response {
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
  private func health(_ health: HostHealth) -> Response {
    one(health, status: health.isWell ? .ok : .serviceUnavailable) { writer, health in
      writer.member("phase", health.phase.rawValue)
      writer.member("problem", health.problem)
    }
  }

  private func submit(_ request: Request) async throws -> Response {
    try await bodies.withBody(of: request, limit: BodyReader.submissionBytes) { bytes in
      let (requests, isArray) = try SubmissionReader.read(
        bytes, now: SystemClock().wallTime, idempotencyKey: HTTPField.Name.idempotencyKey.flatMap { request.headers[$0] })
      let submissions = try await host.submit(requests)
      return .json(.created, capacity: 64 + submissions.count * 400) { writer in
        if isArray { writer.array("requests", submissions) { $0.submission($1) } } else { submissions.first.map { writer.submission($0) } }
      }
    }
  }

  private func logs(of id: RunID) async throws -> Response {
    one(try await host.run(id)) { writer, run in
      writer.member("run", id.description)
      writer.member("request", run.request.description)
      writer.array("lines", run.report.log) { $0.logLine($1) }
    }
  }

  // MARK: What was asked

  private func requestQuery(_ text: String?) throws -> (RequestQuery, hasProblem: Bool) {
    let parameters = try QueryParameters(text, known: ["identifier", "state", "tag", "problem", "limit", "after"])
    var query = RequestQuery()
    query.identifier = try parameters.identifier()
    query.states = try parameters.states()
    query.tag = try parameters.one("tag")
    query.after = try parameters.id("after", ofA: "request")
    query.limit = try parameters.limit(preset: query.limit)
    return (query, try parameters.flag("problem"))
  }

  private func runQuery(_ text: String?) throws -> RunQuery {
    let parameters = try QueryParameters(text, known: ["identifier", "request", "outcome", "since", "until", "limit", "after"])
    var query = RunQuery()
    query.identifier = try parameters.identifier()
    query.request = try parameters.id("request", ofA: "request")
    query.outcomes = try parameters.outcomes()
    query.since = try parameters.moment("since")
    query.until = try parameters.moment("until")
    query.after = try parameters.id("after", ofA: "run")
    query.limit = try parameters.limit(preset: query.limit)
    return query
  }

  private func identifier(in request: Request) async throws -> TaskIdentifier {
    try await bodies.withBody(of: request) { try SchedulingReader.identifier(in: $0) }
  }
}

/// Reads a request's body within a size limit. ``ConnectionClock`` limits its time.
final class BodyReader: Sendable {
  /// Largest body of `POST /v1/requests`: a thousand requests with the largest payload, or 10,000 with 6 KiB each.
  static let submissionBytes = 64 * 1_048_576
  /// Largest body of most other routes.
  static let otherBytes = 65_536
  /// Bytes of bodies in memory, over all connections, so that many large submissions cannot exhaust the host.
  private static let bytesInAll = 4 * submissionBytes

  /// How many of these bytes are free.
  private let budget = Mutex(bytesInAll)

  /// Reads the body and passes it to `use`; its bytes count against the budget until `use` returns.
  func withBody<Value: Sendable>(
    of request: Request, limit: Int = otherBytes, use: (consuming [UInt8]) async throws -> Value
  ) async throws -> Value {
    let tooBig = UnreadBody(refusal: RequestRefusal(.tooBig, "the body has more than \(limit) bytes: send less at once"))
    if let announced = request.headers[.contentLength].flatMap(Int.init), announced > limit { throw tooBig }
    var taken = 0
    defer { budget.withLock { $0 += taken } }
    var bytes: [UInt8] = []
    for try await part in request.body {
      let count = part.readableBytes
      guard taken + count <= limit else { throw tooBig }
      guard take(count) else {
        throw UnreadBody(refusal: RequestRefusal(.unavailable, "too many large submissions at once: try again in a second"))
      }
      taken += count
      bytes.append(contentsOf: part.readableBytesView)
    }
    return try await use(bytes)
  }

  /// Takes `count` bytes of the budget, or none; returns whether it did.
  private func take(_ count: Int) -> Bool {
    budget.withLock { left in
      guard left >= count else { return false }
      left -= count
      return true
    }
  }
}

/// A refusal that leaves part of the body unread; its connection serves no further request.
struct UnreadBody: Error {
  let refusal: RequestRefusal
}

extension Response {
  /// An answer with a JSON object; `write` writes its members.
  static func json(_ status: HTTPResponse.Status = .ok, capacity: Int = 256, _ write: (inout JSONWriter) -> Void) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONWriter.object(reservingCapacity: capacity, write))))
  }

  static func failure(_ refusal: RequestRefusal) -> Response {
    failure(refusal.code.status, code: refusal.code.rawValue, refusal.message, field: refusal.field)
  }

  /// `{"error": {"code", "message", "field"}}`
  ///
  /// - Parameter code: For programs; never changed once published.
  static func failure(_ status: HTTPResponse.Status, code: String, _ message: String, field: String? = nil) -> Response {
    .json(status) {
      $0.object("error") {
        $0.member("code", code)
        $0.member("message", message)
        $0.member("field", field)
      }
    }
  }
}

extension RequestRefusal.Code {
  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .invalid: .badRequest
    case .notFound: .notFound
    case .conflict: .conflict
    case .tooBig: .contentTooLarge
    case .unknownIdentifier: .unprocessableContent
    case .limit: .tooManyRequests
    case .unsupported: .notImplemented
    case .unavailable: .serviceUnavailable
    case .internal: .internalServerError
    }
  }
}

extension HTTPField.Name {
  /// - Source: draft-ietf-httpapi-idempotency-key-header. The key is the text as sent, quoted or not.
  fileprivate static let idempotencyKey = HTTPField.Name(parsed: "idempotency-key")
}
