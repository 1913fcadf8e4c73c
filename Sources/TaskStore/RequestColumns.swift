import Foundation
import TaskModel

/// The columns of `requests`, in the order used for reading and writing.
enum RequestColumns {
  static let list = """
    id, identifier, state, due_ms, priority, submitted_ms, earliest_begin_ms, conditions, unique_key, on_conflict, tags, retry_attempts, \
    retry_backoff, retry_initial_ms, retry_maximum_ms, every_ms, occurrence_ms, attempts_spent, losses, stop_requested, blocked_by, run, \
    started_ms, ended_ms, last_outcome, last_message, lane, repeats, clock, deadline_ms, relaxed, event, event_due_ms, event_since_ms, \
    missed_left, options, paused, set_aside, sealed, sealed_pause
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
  static func record(
    _ row: borrowing PreparedStatement.Columns, origin: UInt64, _ seals: ValueSeals, name: (Int64) throws -> TaskIdentifier
  ) throws -> RequestRecord {
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
    let id = row.integer(0)
    let message = try seals.text(row, at: 25, sealed: 38, SealedPlace(.message, .integer(id)))
    let paused = try pause(row, id, seals)
    return RequestRecord(
      id: RequestID(sequence: id, origin: origin), request: request, state: try RequestState(stored: row.integer(2)),
      due: WallTime(stored: row.integer(3)), occurrence: time(16), submitted: WallTime(stored: row.integer(5)),
      attemptsSpent: StoredNumber.count(row.integer(17)), losses: StoredNumber.count(row.integer(18)),
      stopRequested: try StopReason.optional(row.optionalInteger(19)),
      blockedBy: row.optionalInteger(20).map { RequestID(sequence: $0, origin: origin) },
      run: row.optionalInteger(21).map { RunID(sequence: $0, origin: origin) }, started: time(22), ended: time(23),
      lastOutcome: try RunOutcome.optional(row.optionalInteger(24)), lastMessage: message, isRelaxed: row.integer(30) != 0,
      eventDue: time(32), eventSince: time(33), missedLeft: StoredNumber.count(row.integer(34)),
      paused: paused, setAside: row.optionalInteger(37).map { PauseID($0) })
  }

  /// A pause whose words do not open stays one: the lane says so too.
  private static func pause(_ row: borrowing PreparedStatement.Columns, _ id: Int64, _ seals: ValueSeals) throws -> RequestPause? {
    try seals.legible {
      let sealed = try seals.values(row, sealed: 39, SealedPlace(.pauseOfRequest, .integer(id)))
      return try StoredPause.pause(sealed.map { $0[0].string } ?? row.optionalText(36))
    } or: {
      RequestPause(by: ValueSeals.illegible, since: WallTime(stored: 0))
    }
  }
}

/// The columns of `runs`, in the order used for reading and writing.
enum RunColumns {
  static let list = """
    id, request, identifier, attempt, started_ms, ended_ms, outcome, stop_reason, forced, message, completed, total, cpu_ns, stop_stage, \
    peak_memory_bytes, handler_ns, details, sealed
    """
  /// The number of columns in ``list``; additional selected columns follow them.
  static let count: Int32 = 18

  /// Reads the record of a row that selects ``list``, without output, log and trouble.
  static func record(
    _ row: borrowing PreparedStatement.Columns, origin: UInt64, _ seals: ValueSeals, name: (Int64) throws -> TaskIdentifier
  ) throws -> RunRecord {
    var report = RunReport()
    report.stopReason = try StopReason.optional(row.optionalInteger(7))
    report.forced = row.integer(8) != 0
    let words = try words(row, seals)
    report.message = words.message
    if let completed = row.optionalInteger(10) {
      report.progress = RunProgress(completed: UInt64(bitPattern: completed), total: UInt64(bitPattern: row.integer(11)))
    }
    report.cpuTime = row.optionalInteger(12).map { .nanoseconds($0) }
    report.stopStage = try StopStage.optional(row.optionalInteger(13))
    report.peakMemory = row.optionalInteger(14).map { Int($0) }
    report.handlerTime = row.optionalInteger(15).map { .nanoseconds($0) }
    try StoredDetails.apply(words.details, to: &report)
    return RunRecord(
      id: RunID(sequence: row.integer(0), origin: origin), request: RequestID(sequence: row.integer(1), origin: origin),
      identifier: try name(row.integer(2)), attempt: StoredNumber.count(row.integer(3)), started: WallTime(stored: row.integer(4)),
      ended: WallTime(stored: row.integer(5)), outcome: try RunOutcome(stored: row.integer(6)), report: report)
  }
}

extension RunColumns {
  /// The columns that ``report(_:at:to:_:)`` reads.
  static let reported = "output, log, trouble, sealed_report"

  private static func words(
    _ row: borrowing PreparedStatement.Columns, _ seals: ValueSeals
  ) throws -> (message: String?, details: String?) {
    guard !row.isNull(17) else { return (row.optionalText(9), row.optionalText(16)) }
    let place = SealedPlace(.words, .integer(row.integer(0)))
    let values = try seals.legible {
      try seals.values(row, sealed: 17, place)
    } or: {
      [.text(ValueSeals.illegible), .null]
    }
    return (values?[0].string, values?[1].string)
  }

  /// Adds output, log and trouble to the report of a run. What does not open leaves a line in its log, unless `isWhole`.
  ///
  /// - Parameters:
  ///   - first: The position of the first of the ``reported`` columns.
  ///   - run: The run's sequence.
  static func report(
    _ row: borrowing PreparedStatement.Columns, at first: Int32, of run: Int64, to report: inout RunReport, _ seals: ValueSeals
  ) throws {
    let values: [PreparedStatement.Value]?
    do {
      values = try seals.values(row, sealed: first + 3, SealedPlace(.report, .integer(run)))
    } catch let error as DamagedValue where !seals.isStrict {
      report.log = [LogLine(time: WallTime(stored: 0), level: .error, message: error.description)]
      return
    }
    guard let values else {
      report.output = row.blob(first)
      report.log = try StoredJSON.log(row.optionalText(first + 1))
      report.trouble = row.optionalText(first + 2)
      return
    }
    report.output = values[0].bytes
    report.log = try StoredJSON.log(values[1].string)
    report.trouble = values[2].string
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
