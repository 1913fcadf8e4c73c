/// The body that a route takes.
struct RouteBody: Sendable {
  let schema: JSONSchema
  /// Bytes that are read at most.
  let limit: Int
  /// Whether the route refuses a request without a body.
  let isRequired: Bool
  let mediaType: String

  /// - Parameter limit: Bytes that are read at most.
  init(_ schema: JSONSchema, limit: Int = BodyBudget.otherBytes, isRequired: Bool = true, mediaType: String = "application/json") {
    (self.schema, self.limit, self.isRequired, self.mediaType) = (schema, limit, isRequired, mediaType)
  }
}

extension SubmissionReader {
  /// One request, or an array of them.
  static func body(of schema: NamedSchema) -> RouteBody {
    RouteBody(.choice([.named(schema), .array(.named(schema), count: 1...maximumRequests)]), limit: BodyBudget.submissionBytes)
  }
}
