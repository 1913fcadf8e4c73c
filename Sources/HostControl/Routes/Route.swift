import NIOHTTP1
import TaskModel

/// One route of the control API, declared once: the router, the check of the query, the limit of the body, the role that a client needs,
/// and the description at `/openapi.json` all come from here.
struct Route: Sendable {
  /// Answers a request whose path has been read.
  typealias Answer = @Sendable (_ responder: ControlResponder, _ call: RouteCall) async throws -> ControlResponse

  let method: HTTPMethod
  /// `/v1/requests/{id}/why`: a part in braces is the route's argument.
  let path: String
  /// The operation's name for programs; never changed once published.
  let name: String
  /// One line for people.
  let summary: String
  /// What a client must be allowed to do; nil if anybody may call.
  let role: AccessRole?
  /// Whether it concerns the whole host, so that a token for some identifiers is not enough.
  private(set) var isOfHost = false
  /// Query parameters; others are refused.
  let query: [QueryParameter]
  /// Whether the client may name a submission with the header `Idempotency-Key`.
  let takesIdempotencyKey: Bool
  /// nil for a route that takes no body: one that comes is dropped.
  let body: RouteBody?
  /// What it answers if all goes well.
  let answers: [RouteAnswer]
  /// Name and schema of the argument in the path; nil if there is none.
  let argument: (name: String, schema: JSONSchema)?
  /// Reads the argument, decoded; empty if the path has none.
  let bind: @Sendable (_ argument: String) throws(RequestRefusal) -> Answer

  /// A route without an argument in its path.
  init(
    _ method: HTTPMethod, _ path: String, _ name: String, _ summary: String, role: AccessRole?, query: [QueryParameter] = [],
    takesIdempotencyKey: Bool = false, body: RouteBody? = nil, answers: RouteAnswer..., answer: @escaping Answer
  ) {
    (self.method, self.path, self.name, self.summary, self.role, self.query) = (method, path, name, summary, role, query)
    (self.takesIdempotencyKey, self.body, self.answers) = (takesIdempotencyKey, body, answers)
    argument = nil
    bind = { _ in answer }
  }

  /// A route with an argument in its path.
  init<Value: Sendable>(
    _ method: HTTPMethod, _ path: String, _ parameter: PathParameter<Value>, _ name: String, _ summary: String, role: AccessRole?,
    query: [QueryParameter] = [], body: RouteBody? = nil, answers: RouteAnswer...,
    answer: @escaping @Sendable (_ responder: ControlResponder, _ argument: Value, _ call: RouteCall) async throws -> ControlResponse
  ) {
    (self.method, self.path, self.name, self.summary, self.role, self.query) = (method, path, name, summary, role, query)
    (takesIdempotencyKey, self.body, self.answers) = (false, body, answers)
    argument = (parameter.name, parameter.schema)
    bind = { text throws(RequestRefusal) in
      let value = try parameter.read(text)
      return { try await answer($0, value, $1) }
    }
  }

  /// The route as one that concerns the whole host.
  func ofHost() -> Route {
    var route = self
    route.isOfHost = true
    return route
  }

  /// How many bytes of a request's body are read.
  var bodyLimit: Int { body?.limit ?? 0 }

  /// Whether it changes something.
  var isChange: Bool { method != .GET && method != .HEAD }
}
