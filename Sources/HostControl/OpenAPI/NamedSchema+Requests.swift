import TaskModel

/// What `JSONWriter+Requests.swift` and `JSONWriter+Scheduling.swift` of RecordJSON write of requests.
extension NamedSchema {
  static let requestStateSchema = JSONSchema.names(RequestState.allCases.filter { $0 != .claimed }.map(\.rawValue))

  /// The members that say how a request repeats.
  static let repetitionMembers: [MemberSchema] = .may([
    .every, .cron, .timeZone, .daylightGap, .daylightRepeat, .everyEvent, .missed, .missedLimit, .missedSpread,
  ])

  static let requestMembers: [MemberSchema] = {
    let fields: [RequestField] = [
      .onLostCondition, .window, .concurrencyKey, .resources, .prefer, .flex, .wake, .uniqueKey, .onConflict, .uniqueWindow,
      .idempotencyKey, .traceparent, .watch, .event, .debounce, .jitter, .retry, .after,
    ]
    let own: [[MemberSchema]] = [
      .must("id", .id), .must(RequestField.identifier.rawValue, .identifier), .must("state", .named(.requestState)), .momentOrNull("due"),
      .must("attempt", .count), .must("attempts_spent", .count), .must("losses", .count),
      .must(RequestField.priority.rawValue, RequestField.priority.schema),
      .must(RequestField.conditions.rawValue, RequestField.conditions.schema), .must(RequestField.tags.rawValue, .texts),
      .must("clock", .names(of: DueClock.self)), repetitionMembers, .moment(RequestField.earliestBegin.rawValue),
      .moment(RequestField.deadline.rawValue), .bytes(RequestField.payload.rawValue), .may("notes", .texts),
    ]
    return own.flatMap(\.self) + .may(fields) + progressMembers
  }()

  /// The request's state in the host.
  private static let progressMembers: [MemberSchema] = {
    let members: [[MemberSchema]] = [
      .moment("occurrence"), .moment("submitted"), .may("past_deadline", .boolean), .moment("event_since"), .moment("event_due"),
      .may("missed_left", .count), .may("paused", .object(.must("by", .string), .moment("since", isRequired: true), .may("why", .string))),
      .may("stop_requested", .names(of: StopReason.self)), .may("blocked_by", .id), .may("run", .id), .moment("started"), .moment("ended"),
      .may("last_host", .string), .may("last_outcome", .names(of: RunOutcome.self)), .may("last_message", .string),
    ]
    return members.flatMap(\.self)
  }()

  static let submissionSchema = JSONSchema.object(
    .must("id", .id), .must("disposition", .names(of: Disposition.self)), .momentOrNull("next_start"), .may("repeated", .boolean),
    .may("parked", .boolean),
    .must("notes", .texts),
    .may(
      "effective",
      .object(
        .momentOrNull("next_start"), .momentOrNull("latest_start"), repetitionMembers, .moment(RequestField.deadline.rawValue),
        .must("clock", .names(of: DueClock.self)))))

  static let dependencySchema = JSONSchema.object(
    .must(RequestField.Predecessor.request.rawValue, .described(.string, "The id of a request, or @0 for the first of the same array.")),
    .may(RequestField.Predecessor.onFailure.rawValue, .names(of: Dependency.FailurePolicy.self)))

  static let retryPolicySchema: JSONSchema = {
    let delays = JSONSchema.integer(Limits.retryDelays.lowerBound.wholeMilliseconds...Limits.retryDelays.upperBound.wholeMilliseconds)
    return .members(
      RequestField.Retry.allCases.flatMap { member -> [MemberSchema] in
        switch member {
        case .attempts: .may(member.rawValue, .integer(Int64(Limits.attempts.lowerBound)...Int64(Limits.attempts.upperBound)))
        case .backoff: .may(member.rawValue, .names(of: RetryPolicy.Backoff.self))
        case .initial, .maximum: .may(member.rawValue, delays)
        }
      })
  }()

  static let explanationSchema = JSONSchema.object(
    .must("id", .id), .must("gates", .texts), .must("details", .array(.named(.gate))), .may("place", .integer(1...Int64.max)),
    .momentOrNull("earliest_start"), .may("assumptions", .texts), .may("expectations", .texts), .must("would_run_if", .texts))

  static let gateSchema = JSONSchema.object(
    .must("gate", .string), .must("sentence", .string), .moment("since"), .moment("until"), .may("held_by", .texts),
    .may("remedy", .string))

  static let bulkResultSchema = JSONSchema.object(
    .must("action", .names(of: BulkAction.self)), .must("dry_run", .boolean), .must("matched", .count),
    .must("changes", .described(.count, "How many requests were changed, or in a dry run would be.")), .must("done", .array(.id)),
    .must("refused", .array(.named(.refusedRequest))),
    .must("reasons", .array(.object(.must("reason", .string), .must("count", .count)))), .may("next", .cursor))

  /// The part of an operation on dead letters that `name` says.
  static func deadLetters(_ name: String, canRefuse: Bool) -> JSONSchema {
    .members(
      .must(name, .array(.id)) + (canRefuse ? .must("refused", .array(.named(.refusedRequest))) : []) + .may("next", .cursor))
  }
}
