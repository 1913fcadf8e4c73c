import TaskModel

/// What `JSONWriter+Records.swift` and `JSONWriter+Transfers.swift` of RecordJSON write.
extension NamedSchema {
  static let runSchema = JSONSchema.object(
    .must("id", .id), .must("request", .id), .must("identifier", .identifier), .may("host", .string),
    .must("attempt", .count),
    .moment("started", isRequired: true), .moment("ended"), .may("duration_ms", .count), .may("outcome", .names(of: RunOutcome.self)),
    .may("stop_reason", .names(of: StopReason.self)), .must("expired", .boolean), .must("forced", .boolean),
    .may("stop_stage", .names(of: StopStage.self)), .may("message", .string), .may("progress", .named(.runProgress)),
    .may("work", .named(.runWork)), .may("retry_after_ms", .milliseconds), .may("cpu_ms", .count), .may("peak_memory_bytes", .count),
    .may("trouble", .string), .may("traceparent", .string), .may("trace_link", .string), .bytes("output"))

  static let runProgressSchema = JSONSchema.object(
    .must("completed", .integer()), .must("total", .integer()), .may("unit", .string), .may("message", .string))

  static let runWorkSchema = JSONSchema.members(
    .may(["items_attempted", "items_completed", "items_failed", "bytes_in", "bytes_out"], .count))

  static let runLogSchema = JSONSchema.object(
    .must("run", .id), .must("request", .id),
    .must(
      "lines",
      .array(
        .object(
          .moment("time", isRequired: true), .must("level", .names(of: LogLine.Level.self)), .must("message", .string),
          .may("stream", .names(of: LogLine.Stream.self))))))

  private static let transferMembers: [MemberSchema] =
    requestMembers + .must("transfers", .count) + .may(["done", "failed", "waiting"], .count) + .must("bytes", .count)
    + .may("progress", .named(.runProgress))

  static let transferSummarySchema = JSONSchema.members(transferMembers + .may(["url", "to", "from"], .string))
  static let transferSchema = JSONSchema.members(transferMembers + .bytes("report"))
}
