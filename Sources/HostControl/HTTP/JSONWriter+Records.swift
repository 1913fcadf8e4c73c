import CalendarTime
import StrictText
import TaskModel

/// The one place that names the members of answers. A function named after a thing writes its members; who calls it begins and ends the
/// object. Durations are `_ms`; moments are `_unix_ms` and, beside it, RFC 3339.
extension JSONWriter {
  /// A moment as `name` and `name_unix_ms`; nothing when it is nil.
  mutating func moment(_ name: String, _ time: WallTime?) {
    guard let time else { return }
    if let moment = RFC3339.Moment(time) {
      self.name(name)
      value(moment.append)
    }
    self.name(name, suffix: "_unix_ms")
    value(time.unixMilliseconds)
  }

  /// A moment as `name` and `name_unix_ms`; both null where there will never be one, or nobody knows when.
  mutating func momentOrNull(_ name: String, _ time: WallTime?) {
    guard let time, time < .distantFuture else {
      nullMember(name)
      self.name(name, suffix: "_unix_ms")
      return raw("null".utf8)
    }
    moment(name, time)
  }

  /// Bytes of others: `name` as it is where it is JSON, else `name_base64`; nothing when empty.
  ///
  /// JSON with line breaks goes as base64 where `singleLine` is asked for: an event's data would not keep them byte for byte.
  mutating func bytes(_ name: String, _ bytes: [UInt8], singleLine: Bool = false) {
    guard !bytes.isEmpty else { return }
    let isBroken = singleLine && bytes.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    // A value that is too deep for readers of the answer as a whole goes as base64 too.
    if !isBroken, JSONReader.isValid(bytes, depth: 100) {
      self.name(name)
      raw(bytes)
    } else {
      member("\(name)_base64", Base64.encode(bytes))
    }
  }

  /// A run, without its log.
  mutating func run(_ record: RunRecord, singleLine: Bool = false) {
    let report = record.report
    member("id", record.id.description)
    member("request", record.request.description)
    member("identifier", record.identifier.rawValue)
    member("attempt", record.attempt)
    moment("started", record.started)
    moment("ended", record.ended)
    member("duration_ms", record.duration?.wholeMilliseconds)
    member("outcome", record.outcome?.rawValue)
    member("stop_reason", report.stopReason?.rawValue)
    member("expired", record.isExpired)
    member("forced", report.forced)
    member("stop_stage", report.stopStage?.rawValue)
    member("message", report.message)
    if let progress = report.progress { self.progress(progress) }
    member("retry_after_ms", report.retryAfter?.wholeMilliseconds)
    member("cpu_ms", report.cpuTime?.wholeMilliseconds)
    member("peak_memory_bytes", report.peakMemory)
    member("trouble", report.trouble)
    bytes("output", report.output, singleLine: singleLine)
  }

  /// A member with a run's progress.
  mutating func progress(_ progress: RunProgress) {
    object("progress") {
      $0.member("completed", progress.completed)
      $0.member("total", progress.total)
    }
  }

  /// A line of a run's log.
  mutating func logLine(_ line: LogLine) {
    moment("time", line.time)
    member("level", line.level.rawValue)
    member("message", line.message)
    member("stream", line.stream?.rawValue)
  }
}
