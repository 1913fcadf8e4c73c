import Foundation
import TaskModel

/// The columns of `requests`, in the order used for reading and writing.
enum RequestColumns {
  static let list = """
    id, identifier, state, due_ms, priority, submitted_ms, earliest_begin_ms, conditions, unique_key, on_conflict, tags, retry_attempts, \
    retry_backoff, retry_initial_ms, retry_maximum_ms, every_ms, occurrence_ms, attempts_spent, losses, stop_requested, blocked_by, run, \
    started_ms, ended_ms, last_outcome, last_message, lane, repeats, clock, deadline_ms, relaxed, event, event_due_ms, event_since_ms, \
    missed_left, options, paused, set_aside
    """

  /// Selects the ids of pending, claimed and blocked requests from indexes alone. The first `count` parameters of the statement are the
  /// identifiers' numbers.
  static func waiting(of count: Int) -> String {
    let numbers = (1...max(1, count)).map { "?\($0)" }.joined(separator: ", ")
    return """
      SELECT id FROM requests INDEXED BY requests_pending
      WHERE state = 20 AND lane IN (SELECT id FROM lanes WHERE identifier IN (\(numbers)))
      UNION ALL SELECT id FROM requests INDEXED BY requests_claimed WHERE state = 30 AND identifier IN (\(numbers))
      UNION ALL SELECT id FROM requests INDEXED BY requests_blocked WHERE state = 10 AND identifier IN (\(numbers))
      """
  }

  /// Reads the record of a row that selects ``list``, with an empty payload.
  static func record(_ row: borrowing PreparedStatement.Columns, origin: UInt64, name: (Int64) throws -> TaskIdentifier) throws
    -> RequestRecord
  {
    func time(_ index: Int32) -> WallTime? { row.optionalInteger(index).map(WallTime.init(stored:)) }
    var request = TaskRequest(identifier: try name(row.integer(1)))
    request.priority = StoredNumber.priority(row.integer(4))
    request.earliestBegin = time(6)
    request.conditions = Conditions(rawValue: UInt32(truncatingIfNeeded: row.integer(7)))
    request.uniqueKey = row.optionalText(8)
    request.onConflict = try ConflictPolicy(stored: row.integer(9))
    request.tags = try row.optionalText(10).map { try StoredJSON.decode([String].self, from: $0) } ?? []
    request.retry = RetryPolicy(
      attempts: StoredNumber.count(row.integer(11)), backoff: try RetryPolicy.Backoff(stored: row.integer(12)),
      initial: .milliseconds(row.integer(13)),
      maximum: .milliseconds(row.integer(14)))
    request.clock = try DueClock(stored: row.integer(28))
    request.deadline = time(29)
    try StoredOptions.apply(
      row.optionalText(35), to: &request, repeats: try StoredRepetition(stored: row.integer(27)), every: row.optionalInteger(15),
      eventName: row.optionalText(31), origin: origin)
    return RequestRecord(
      id: RequestID(sequence: row.integer(0), origin: origin), request: request, state: try RequestState(stored: row.integer(2)),
      due: WallTime(stored: row.integer(3)), occurrence: time(16), submitted: WallTime(stored: row.integer(5)),
      attemptsSpent: StoredNumber.count(row.integer(17)), losses: StoredNumber.count(row.integer(18)),
      stopRequested: try StopReason.optional(row.optionalInteger(19)),
      blockedBy: row.optionalInteger(20).map { RequestID(sequence: $0, origin: origin) },
      run: row.optionalInteger(21).map { RunID(sequence: $0, origin: origin) }, started: time(22), ended: time(23),
      lastOutcome: try RunOutcome.optional(row.optionalInteger(24)), lastMessage: row.optionalText(25), isRelaxed: row.integer(30) != 0,
      eventDue: time(32), eventSince: time(33), missedLeft: StoredNumber.count(row.integer(34)),
      paused: try StoredPause.pause(row.optionalText(36)), setAside: row.optionalInteger(37).map { PauseID($0) })
  }
}

/// The columns of `runs`, in the order used for reading and writing.
enum RunColumns {
  static let list = """
    id, request, identifier, attempt, started_ms, ended_ms, outcome, stop_reason, forced, message, completed, total, cpu_ns, stop_stage, \
    peak_memory_bytes, handler_ns, details
    """
  /// The number of columns in ``list``; additional selected columns follow them.
  static let count: Int32 = 17

  /// Reads the record of a row that selects ``list``, without output, log and trouble.
  static func record(_ row: borrowing PreparedStatement.Columns, origin: UInt64, name: (Int64) throws -> TaskIdentifier) throws -> RunRecord
  {
    var report = RunReport()
    report.stopReason = try StopReason.optional(row.optionalInteger(7))
    report.forced = row.integer(8) != 0
    report.message = row.optionalText(9)
    if let completed = row.optionalInteger(10) {
      report.progress = RunProgress(completed: UInt64(bitPattern: completed), total: UInt64(bitPattern: row.integer(11)))
    }
    report.cpuTime = row.optionalInteger(12).map { .nanoseconds($0) }
    report.stopStage = try StopStage.optional(row.optionalInteger(13))
    report.peakMemory = row.optionalInteger(14).map { Int($0) }
    report.handlerTime = row.optionalInteger(15).map { .nanoseconds($0) }
    try StoredDetails.apply(row.optionalText(16), to: &report)
    return RunRecord(
      id: RunID(sequence: row.integer(0), origin: origin), request: RequestID(sequence: row.integer(1), origin: origin),
      identifier: try name(row.integer(2)), attempt: StoredNumber.count(row.integer(3)), started: WallTime(stored: row.integer(4)),
      ended: WallTime(stored: row.integer(5)), outcome: try RunOutcome(stored: row.integer(6)), report: report)
  }
}

/// Encodes and decodes lists that are stored as JSON in one column.
enum StoredJSON {
  /// A stored log line.
  struct Line: Codable {
    var time: Int64
    var level: String
    var message: String
    /// Nil for logged lines.
    var stream: String?
  }

  static func encode(_ value: some Encodable) throws -> String { String(decoding: try JSONEncoder().encode(value), as: UTF8.self) }

  static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  static func encode(_ log: [LogLine]) throws -> String? {
    guard !log.isEmpty else { return nil }
    return try encode(
      log.map { Line(time: $0.time.unixMilliseconds, level: $0.level.rawValue, message: $0.message, stream: $0.stream?.rawValue) })
  }

  static func log(_ text: String?) throws -> [LogLine] {
    guard let text else { return [] }
    return try decode([Line].self, from: text).map {
      LogLine(
        time: WallTime(stored: $0.time), level: LogLine.Level(rawValue: $0.level) ?? .info, message: $0.message,
        stream: $0.stream.flatMap(LogLine.Stream.init(rawValue:)))
    }
  }
}
