import TaskModel

/// What `JSONWriter+Host.swift` writes, and of RecordJSON `JSONWriter+Scheduling.swift`.
extension NamedSchema {
  static let failureSchema = JSONSchema.object(
    .must(
      "error",
      .object(
        .must("code", .described(.string, "For programs: \(RequestRefusal.Code.allCases.map(\.rawValue).joined(separator: ", ")).")),
        .must("message", .described(.string, "What is wrong, why, and what to do.")),
        .may("field", .described(.string, "The member, parameter or header that is refused.")))))

  static let conditionsSchema = JSONSchema.object(
    .must(
      "conditions",
      .array(
        .object(
          .must("name", .string), .must("holds", .boolean), .moment("since", isRequired: true), .must("observed", .string),
          .must("known", .boolean), .must("watched", .boolean), .must("overridden", .boolean), .moment("settles_at")))))

  static let eventReceiptSchema = JSONSchema.object(
    .must("event", .string), .must("woken", .count), .must("merged", .count), .must("dropped", .count), .must("waiting", .count))

  static let forecastSchema = JSONSchema.object(
    .moment("from", isRequired: true), .moment("to", isRequired: true),
    .must(
      "entries",
      .array(
        .object(
          .moment("at", isRequired: true), .must("identifier", .identifier), .must("request", .id), .moment("occurrence"),
          .may("duration_ms", .count), .must("assumed", .boolean)))),
    .must("requests", .array(.object(.must("request", .id), .must("identifier", .identifier), .must("runs", .count)))),
    .moment("complete_until", isRequired: true),
    .must("held", .array(.object(.must("request", .id), .must("identifier", .identifier), .must("reason", .string)))),
    .must("notes", .texts), .must("truncated", .boolean))

  static let assertionSchema = JSONSchema.object(
    .must("id", .id), .must("name", .string), .may("reason", .string), .must("state", .names(of: Assertion.State.self)),
    .may("identifier", .identifier), .may("run", .id), .may("process_id", .count), .may("user_id", .count),
    .moment("since", isRequired: true), .moment("expires", isRequired: true), .must("remaining_ms", .count))

  /// What `ControlResponder+Pauses.swift` writes.
  static let pauseMembers: [MemberSchema] = {
    let members: [[MemberSchema]] = [
      .may("id", .integer(1...Int64.max)), .must("filter", .string), .may("fleet", .boolean), .must("by", .string), .may("user_id", .count),
      .may("why", .string), .moment("since", isRequired: true), .moment("until"),
    ]
    return members.flatMap(\.self)
  }()

  static let begunPauseSchema = JSONSchema.object(
    .may("dry_run", .boolean), pauseMembers, .must("waiting", .count), .must("more", .boolean), .must("running", .count))

  static let objectiveSchema = JSONSchema.object(
    .must("identifier", .identifier), .may("expect_within_ms", .count), .may("start_within_ms", .count), .moment("last_success"),
    .moment("expected"), .moment("overdue_since"), .moment("late_since"))

  static let pluginSchema = JSONSchema.object(
    .must("file", .string), .must("standing", .names(of: PluginStatus.PluginHealth.self)), .may("identifier", .identifier),
    .may("kind", .names(of: TaskKind.self)), .may("budget_ms", .count), .may("grace_ms", .count), .may("max_concurrent_runs", .count),
    .may("display_name", .string), .may("version", .string), .may("function_signature", .string),
    .may("success", .names(of: SuccessRule.self)), .may("command", .texts), .may("isolation", .names(["thread", "process"])),
    .may("worker", .object(.must("process_id", .count), .may("state", .string))), .must("running", .count), .must("strikes", .count),
    .moment("held_until"), .must("quarantined", .boolean), .may("last_trouble", .string), .may("signature", .string),
    .may("digest", .string), .may("sandbox", .texts), .may("permissions", .texts),
    .may("approval", .named(.pendingApproval)), .may("quota", .string), .may("rate", .string),
    .may("reason", .object(.must("code", .string), .must("message", .string))))

  static let pluginReleaseSchema = JSONSchema.object(
    .must("identifier", .identifier), .must("strikes", .count), .must("host_crashes", .count), .moment("held_until"),
    .moment("quarantined_since"), .may("last_trouble", .string))

  static let problemSchema = JSONSchema.object(
    .must("kind", .names(of: Problem.Kind.self)), .may("subject", .string), .must("needs_action", .boolean), .must("message", .string),
    .must("remedy", .string), .moment("since"))

  static let problemMembers: [MemberSchema] = .must("needs_action", .boolean) + .must("problems", .array(.named(.problem)))

  static let taskActivitySchema = JSONSchema.object(
    .must("identifier", .identifier), .may("unique_key", .string), .may("request", .id), repetitionMembers,
    .must("last", .names(["never"] + RunOutcome.allCases.map(\.rawValue))), .may("last_run", .id), .may("expired", .boolean),
    .moment("last_ended"), .may("last_message", .string), .may("last_work", .named(.runWork)), .moment("last_success"),
    .must("failures_in_a_row", .count), .moment("failing_since"), .momentOrNull("next_start", isRequired: false),
    .may("throttled", .named(.gate)))

  static let statusSchema = JSONSchema.object(
    .must("version", .string), .must("process_id", .count), .must("phase", .names(of: HostPhase.self)),
    .moment("started", isRequired: true), .must("state_directory", .string),
    .must("requests", .members(.must(RequestState.allCases.filter { $0 != .claimed }.map(\.rawValue), .count))),
    .must("running", .count), .must("max_concurrent_runs", .count), .must("plugins_registered", .count), .must("plugins_refused", .count),
    .moment("next_due"), .must("tasks", .array(.named(.taskActivity))),
    .must(
      "counters",
      .members(
        .must(
          ["events_received", "events_woken", "events_merged", "events_dropped", "log_lines_dropped", "assertions_refused"], .count))),
    .must("assertions", .array(.named(.assertion))), .must("pauses", .array(.named(.pause))),
    .must("objectives", .array(.named(.objective))), problemMembers, .must("warnings", .texts),
    .must("sandbox", .texts))

  /// What `AuditEntry.swift` writes.
  static let auditEntrySchema = JSONSchema.object(
    .must("number", .count), .must("time_unix_ms", .integer()), .may("time", .string),
    .must("operation", .described(.string, "The operationId; dashboard for a form of the dashboard.")), .may("target", .string),
    .must("status", .count), .must("by", .described(.string, "Who, for people.")), .may("user_id", .count), .may("process_id", .count),
    .may("token", .described(.string, "The id of the token.")), .must("from", .described(.string, "socket, or the client's address.")),
    .may("ids", .texts), .may("count", .count))

  /// What `ConfiguredValue.swift` of RecordJSON writes.
  static let configurationSchema = JSONSchema.object(
    .may("file", .described(.string, "Missing if the host was started without a file.")),
    .must(
      "values",
      .array(
        .object(
          .must("key", .described(.string, "With those of its tables, as the file has it.")),
          .may("value", .described(.string, "As the file has it; only a sign if hidden.")), .may("default", .string),
          .must("hidden", .described(.boolean, "Whether the value may hold a secret and is not told."))))))

  static let healthSchema = JSONSchema.object(.must("phase", .names(of: HostPhase.self)), .may("problem", .string))
}
