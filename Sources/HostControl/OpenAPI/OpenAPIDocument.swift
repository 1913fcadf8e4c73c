import NIOHTTP1
import StrictText

/// The description of the control API in OpenAPI 3.1, made of the routes' declarations.
enum OpenAPIDocument {
  /// The version of the API, which is the first part of its paths.
  private static let version = "1"
  /// The name of the security scheme.
  private static let token = "token"
  /// The names of the answers that refuse a client.
  private static let (unauthorized, forbidden) = ("Unauthorized", "Forbidden")

  /// The document that describes `routes`.
  static func describing(_ routes: [Route]) -> [UInt8] {
    JSONWriter.object(reservingCapacity: 131_072) { writer in
      writer.member("openapi", "3.1.0")
      writer.object("info") {
        $0.member("title", "taskhost")
        $0.member("version", version)
        $0.member("description", "Background tasks, their runs, and the host. Answers may gain members; a name never changes.")
      }
      writer.object("paths") { paths(of: routes, &$0) }
      writer.object("components") { components(&$0) }
    }
  }

  private static func components(_ writer: inout JSONWriter) {
    writer.object("schemas") { writer in
      for name in NamedSchema.allCases { writer.object(name.rawValue) { name.schema.write(to: &$0) } }
    }
    writer.object("responses") { writer in
      writer.object(NamedSchema.failure.rawValue) {
        $0.member("description", "Refused; nothing was changed.")
        content(.json(.named(.failure)), &$0)
      }
      writer.object(unauthorized) { writer in
        writer.member("description", "Over TCP: the request shows no valid token.")
        writer.object("headers") { writer in
          writer.object("WWW-Authenticate") { $0.object("schema") { JSONSchema.string.write(to: &$0) } }
        }
        content(.json(.named(.failure)), &writer)
      }
      writer.object(forbidden) {
        $0.member("description", "Over TCP: the token's role or scope does not permit it. From a browser: a page of another site asks.")
        content(.json(.named(.failure)), &$0)
      }
    }
    writer.object("securitySchemes") { writer in
      writer.object(token) {
        $0.member("type", "http")
        $0.member("scheme", "bearer")
        $0.member("description", "Over TCP. The control socket asks for no token: its file's mode says who may connect.")
      }
    }
  }

  private static func paths(of routes: [Route], _ writer: inout JSONWriter) {
    var seen: Set<String> = []
    for path in routes.map(\.path) where seen.insert(path).inserted {
      writer.object(path) { writer in
        for route in routes where route.path == path {
          writer.object(route.method.rawValue.lowercased()) { operation(route, among: routes, &$0) }
        }
      }
    }
  }

  private static func operation(_ route: Route, among routes: [Route], _ writer: inout JSONWriter) {
    writer.member("operationId", route.name)
    writer.member("summary", route.summary)
    writer.name("security")
    writer.beginArray()
    if let role = route.role { writer.object { $0.member(token, [role.rawValue]) } }
    writer.endArray()
    parameters(of: route, &writer)
    if let body = route.body {
      writer.object("requestBody") { writer in
        writer.member("required", body.isRequired)
        writer.object("content") { $0.object(body.mediaType) { $0.object("schema") { body.schema.write(to: &$0) } } }
      }
    }
    writer.object("responses") { writer in
      for answer in route.answers {
        writer.object("\(answer.status.code)") { writer in
          writer.member("description", answer.status.reasonPhrase)
          content(answer.content, &writer)
          if let (pointer, path) = answer.id { links(to: routes.filter { $0.path.hasPrefix(path) }, pointer, &writer) }
        }
      }
      if route.role != nil {
        writer.object("401") { $0.member("$ref", "#/components/responses/\(unauthorized)") }
        writer.object("403") { $0.member("$ref", "#/components/responses/\(forbidden)") }
      }
      writer.object("default") { $0.member("$ref", "#/components/responses/\(NamedSchema.failure.rawValue)") }
    }
  }

  private static func parameters(of route: Route, _ writer: inout JSONWriter) {
    guard route.argument != nil || !route.query.isEmpty || route.takesIdempotencyKey else { return }
    writer.name("parameters")
    writer.beginArray()
    if let (name, schema) = route.argument { parameter(name, in: "path", nil, schema, isRequired: true, &writer) }
    for query in route.query { parameter(query.name, in: "query", query.summary, query.schema, &writer) }
    if route.takesIdempotencyKey {
      let summary = "Submissions with the same key count once. For a single request; those of an array have idempotency_key."
      parameter("Idempotency-Key", in: "header", summary, .any, &writer)
    }
    writer.endArray()
  }

  private static func parameter(
    _ name: String, in place: String, _ summary: String?, _ schema: JSONSchema, isRequired: Bool = false, _ writer: inout JSONWriter
  ) {
    writer.object { writer in
      writer.member("name", name)
      writer.member("in", place)
      if isRequired { writer.member("required", true) }
      writer.member("description", summary)
      writer.object("schema") { schema.write(to: &$0) }
    }
  }

  private static func content(_ content: RouteAnswer.Content, _ writer: inout JSONWriter) {
    writer.object("content") { writer in
      switch content {
      case .json(let schema): writer.object("application/json") { $0.object("schema") { schema.write(to: &$0) } }
      case .text(let mediaType): writer.object(mediaType) { $0.object("schema") { JSONSchema.string.write(to: &$0) } }
      }
    }
  }

  /// The id in an answer is the argument of other routes.
  private static func links(to routes: [Route], _ pointer: String, _ writer: inout JSONWriter) {
    writer.object("links") { writer in
      for route in routes {
        guard let argument = route.argument?.name else { continue }
        writer.object(route.name) { writer in
          writer.member("operationId", route.name)
          writer.object("parameters") { $0.member(argument, "$response.body#\(pointer)") }
        }
      }
    }
  }
}
