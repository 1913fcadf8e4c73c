import NIOHTTP1

/// An answer of a route.
struct RouteAnswer: Sendable {
  enum Content: Sendable {
    case json(JSONSchema)
    /// Another media type.
    case text(String)
  }

  let status: HTTPResponseStatus
  let content: Content
  /// Where in the answer an id is, as a JSON pointer, and the beginning of the paths of which it is the argument; nil if there is none.
  let id: (pointer: String, path: String)?

  /// - Parameter path: The beginning of the paths whose argument is the answer's `id`.
  static func json(_ schema: JSONSchema, status: HTTPResponseStatus = .ok, idOf path: String? = nil) -> RouteAnswer {
    RouteAnswer(status: status, content: .json(schema), id: path.map { ("/id", $0) })
  }

  static func text(_ mediaType: String) -> RouteAnswer { RouteAnswer(status: .ok, content: .text(mediaType), id: nil) }

  /// A page of a list.
  ///
  /// - Parameter path: The beginning of the paths whose argument is the `id` of an element.
  static func page(_ name: String, of schema: NamedSchema, idOf path: String? = nil) -> RouteAnswer {
    let answer = page(name, of: schema)
    return RouteAnswer(status: answer.status, content: answer.content, id: path.map { ("/\(name)/0/id", $0) })
  }

  private static func page(_ name: String, of schema: NamedSchema) -> RouteAnswer {
    .json(
      .object(
        .must(name, .array(.named(schema))),
        .may("next", .cursor), .may("incomplete", .string)))
  }
}
