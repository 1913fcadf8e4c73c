import TaskModel

extension RequestField {
  /// What ``SubmissionReader`` takes for the field.
  var schema: JSONSchema {
    switch self {
    case .identifier: .identifier
    case .payload: .described(.any, "The handler gets these bytes exactly as sent.")
    case .payloadBase64: .described(.bytes, "A payload that is not JSON.")
    case .delay, .flex, .jitter, .debounce, .missedSpread: .integer(0...Self.longest)
    case .every, .uniqueWindow: .integer(1...Self.longest)
    case .earliestBegin, .deadline: .moment
    case .earliestBeginUnix, .deadlineUnix:
      .integer(WallTime.calendar.lowerBound.unixMilliseconds...WallTime.calendar.upperBound.unixMilliseconds)
    case .cron: .described(Self.key, "Minute, hour, day of the month, month, day of the week.")
    case .timeZone, .event, .window, .uniqueKey, .idempotencyKey: Self.key
    case .concurrencyKey, .prefer: .text(JSONSchema.TextRule(lengths: 1...Limits.keyBytes, pattern: "^[ -~]*$"))
    case .daylightGap: .names(of: DaylightPolicy.Gap.self)
    case .daylightRepeat: .names(of: DaylightPolicy.Repeated.self)
    case .everyEvent, .wake: .boolean
    case .watch: .text(JSONSchema.TextRule(lengths: 1...Limits.pathBytes, pattern: "^/"))
    case .missed: .names(MissedPolicy.names)
    case .missedLimit: .integer(Int64(Limits.missedRuns.lowerBound)...Int64(Limits.missedRuns.upperBound))
    case .priority: .integer(Int64(Limits.priorities.lowerBound)...Int64(Limits.priorities.upperBound))
    case .conditions: .array(.names(Conditions.named.map(\.name)))
    case .onLostCondition: .names(of: LostConditionPolicy.self)
    case .resources:
      .map(of: .integer(Int64(Limits.resourceTokens.lowerBound)...Int64(Limits.resourceTokens.upperBound)), count: 0...Limits.resources)
    case .onConflict: .names(of: ConflictPolicy.self)
    case .after: .array(.choice([.string, .named(.dependency)]), count: 0...Limits.predecessors)
    case .retry: .named(.retryPolicy)
    case .tags: .array(Self.key, count: 0...Limits.tags)
    case .traceparent: .text(TraceParent.textBytes...4 * TraceParent.textBytes)
    }
  }

  private static let key = JSONSchema.text(1...Limits.keyBytes)
  private static let longest = Limits.longestDuration.wholeMilliseconds
}

extension SubmissionReader {
  /// What the reader takes for one request.
  ///
  /// - Parameter identifier: Whose requests they are, if the route says so.
  static func schema(of identifier: TaskIdentifier? = nil) -> JSONSchema {
    .members(
      RequestField.allCases.flatMap { field -> [MemberSchema] in
        guard field == .identifier else { return .may(field.rawValue, field.schema) }
        return identifier.map { .may(field.rawValue, .names([$0.rawValue])) } ?? .must(field.rawValue, field.schema)
      })
  }

  /// The answers for one request and for an array.
  static let answer = JSONSchema.choice([
    .named(.submission), .object(.must("requests", .array(.named(.submission)))),
  ])
}
