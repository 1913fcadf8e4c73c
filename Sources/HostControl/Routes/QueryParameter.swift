import TaskModel

/// A query parameter that a route takes. ``QueryParameters`` reads its value.
struct QueryParameter: Sendable {
  let name: String
  let summary: String
  let schema: JSONSchema

  init(_ name: String, _ summary: String, _ schema: JSONSchema) { (self.name, self.summary, self.schema) = (name, summary, schema) }

  static let filter = QueryParameter("filter", "The filter that selects, such as state:failed tag:nightly.", .string)
  static let identifier = QueryParameter("identifier", "Only those of this identifier.", .identifier)
  static let tag = QueryParameter("tag", "Only those with this tag.", .string)
  static let problem = QueryParameter("problem", "true: only those that need a person.", .boolean)
  static let park = QueryParameter(
    "park", "true: what is for the fleet waits in this host's store (202) while the fleet's database is away.", .boolean)
  static let state = QueryParameter("state", "Only those in one of these states.", .array(.named(.requestState)))
  static let outcome = QueryParameter("outcome", "Only those with one of these outcomes.", .array(.names(of: RunOutcome.self)))
  static let request = QueryParameter("request", "Only those of this request.", .id)
  static let since = QueryParameter("since", "Only what began at this moment or later.", .moment)
  static let until = QueryParameter("until", "Only what began before this moment.", .moment)
  static let after = QueryParameter("after", "The page after this one: what next said, with the same parameters.", .string)
  static let condition = QueryParameter("name", "Only these conditions; without it, all.", .array(.names(Conditions.named.map(\.name))))

  static let partOfFleet = QueryParameter(
    "limit", "How many of the fleet's requests at most; without it, all.", .integer(1...Int64(QueryParameters.maximumLimit)))

  static func limit(_ preset: Int) -> QueryParameter {
    QueryParameter("limit", "How many at most; \(preset) by default.", .integer(1...Int64(QueryParameters.maximumLimit)))
  }

  static func hours(_ preset: Int) -> QueryParameter {
    QueryParameter("hours", "How far to look; \(preset) by default.", .integer(1...Int64(QueryParameters.maximumHours)))
  }
}
