import CalendarTime
public import StrictText
public import TaskModel

/// The only module that names the members of answers, for clients of the control socket and for plugins. A function named after a thing writes its members; the caller begins and ends the
/// object. Durations end in `_ms`. Moments are in RFC 3339, with milliseconds in `_unix_ms` beside them.
extension JSONWriter {
  /// Writes a moment as `name` and `name_unix_ms`, or nothing if it is nil.
  public mutating func moment(_ name: String, _ time: WallTime?) {
    guard let time else { return }
    if let moment = RFC3339.Moment(time) {
      self.name(name)
      value(moment.append)
    }
    self.name(name, suffix: "_unix_ms")
    value(time.unixMilliseconds)
  }

  /// Writes a moment as `name` and `name_unix_ms`; both are null if the moment is unknown or will never come.
  public mutating func momentOrNull(_ name: String, _ time: WallTime?) {
    guard let time, time < .distantFuture else {
      nullMember(name)
      self.name(name, suffix: "_unix_ms")
      return raw("null".utf8)
    }
    moment(name, time)
  }

  /// Writes bytes of clients and plugins: as `name` if they are JSON, else as `name_base64`; nothing if empty.
  ///
  /// With `singleLine`, JSON with line breaks goes as base64: an event's data would not keep them byte for byte.
  public mutating func bytes(_ name: String, _ bytes: [UInt8], singleLine: Bool = false) {
    guard !bytes.isEmpty else { return }
    let isBroken = singleLine && bytes.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    // JSON too deep for readers of the whole answer goes as base64 too.
    if !isBroken, JSONReader.isValid(bytes, depth: 100) {
      self.name(name)
      raw(bytes)
    } else {
      member("\(name)_base64", Base64.encode(bytes))
    }
  }

  /// Without its log.
  public mutating func run(_ record: RunRecord, singleLine: Bool = false) {
    let report = record.report
    member("id", record.id.description)
    member("request", record.request.description)
    member("identifier", record.identifier.rawValue)
    member("host", record.host)
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
    if let work = report.work { self.work("work", work) }
    member("retry_after_ms", report.retryAfter?.wholeMilliseconds)
    member("cpu_ms", report.cpuTime?.wholeMilliseconds)
    member("peak_memory_bytes", report.peakMemory)
    member("trouble", report.trouble)
    if let trace = report.trace {
      member("traceparent", trace.current.description)
      member("trace_link", trace.link?.description)
    }
    bytes("output", report.output, singleLine: singleLine)
  }

  /// How far a run has come, as the member `progress`.
  public mutating func progress(_ progress: RunProgress) {
    object("progress") {
      $0.member("completed", progress.completed)
      $0.member("total", progress.total)
      $0.member("unit", progress.unit)
      $0.member("message", progress.message)
    }
  }

  /// What a run has done, as the member `name`.
  public mutating func work(_ name: String, _ work: RunWork) {
    object(name) {
      $0.member("items_attempted", work.itemsAttempted)
      $0.member("items_completed", work.itemsCompleted)
      $0.member("items_failed", work.itemsFailed)
      $0.member("bytes_in", work.bytesIn)
      $0.member("bytes_out", work.bytesOut)
    }
  }

  /// A line of a run's log.
  public mutating func logLine(_ line: LogLine) {
    moment("time", line.time)
    member("level", line.level.rawValue)
    member("message", line.message)
    member("stream", line.stream?.rawValue)
  }
}
