import TaskModel

extension WireEnding: WireValue {
  /// Upper bound of its size in bytes.
  var wireBytes: Int {
    let progress = (report.progress?.unit?.utf8.count ?? 0) + (report.progress?.message?.utf8.count ?? 0)
    let spans = report.spans.reduce(0) { $0 + 32 + $1.name.utf8.count + $1.attributes.count }
    return 192 + spans + report.output.count + (report.message?.utf8.count ?? 0) + (report.trouble?.utf8.count ?? 0) + progress
  }

  func write(to writer: inout MessageWriter) {
    writer.write(run)
    writer.write(ending)
    writer.write(report)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      run: try reader.read(RunID.self, "an ending's run"),
      ending: try reader.read(RunEnding.self, "ending"),
      report: try reader.read(RunReport.self, "report"))
  }
}

extension RunEnding: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .returned(let result, let stop):
      writer.byte(1)
      writer.write(result)
      writer.optional(stop)
    case .forced(let reason):
      writer.byte(2)
      writer.write(reason)
    // Endings that a worker cannot report get codes that no reader knows.
    case .crashed: writer.byte(0xFE)
    case .lost: writer.byte(0xFD)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1: self = .returned(try reader.read(TaskResult.self, "result"), stop: try reader.optional(StopReason.self, "stop reason"))
    case 2: self = .forced(try reader.read(StopReason.self, "stop reason"))
    case let code: throw .malformed(what: "ending \(code) is not for a worker to report")
    }
  }
}

extension TaskResult: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .success: writer.byte(1)
    case .noop: writer.byte(2)
    case .snooze: writer.byte(3)
    case .retry: writer.byte(4)
    case .failure: writer.byte(5)
    case .outOfRange(let value):
      writer.byte(6)
      writer.integer(value)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1: self = .success
    case 2: self = .noop
    case 3: self = .snooze
    case 4: self = .retry
    case 5: self = .failure
    case 6: self = .outOfRange(try reader.integer(Int32.self, what))
    case let code: throw .malformed(what: "result \(code) is not defined")
    }
  }
}

extension RunReport: WireValue {
  /// Writes all but the log lines and the incident, see ``WireEnding/report``.
  func write(to writer: inout MessageWriter) {
    writer.optional(stopReason)
    writer.flag(forced)
    writer.optional(stopStage)
    writer.optional(message) { $0.line($1) }
    writer.blob(output)
    writer.optional(progress)
    writer.optional(work)
    writer.optional(retryAfter)
    writer.optional(began)
    writer.optional(handlerTime)
    writer.optional(cpuTime)
    writer.optional(peakMemory) { $0.number($1) }
    writer.optional(trouble) { $0.stack($1) }
    writer.list(spans)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init()
    stopReason = try reader.optional(StopReason.self, "stop reason")
    forced = try reader.flag("forced")
    stopStage = try reader.optional(StopStage.self, "stop stage")
    message = try reader.optional("message") { (reader) throws(LinkError) in try reader.line("message") }
    output = try reader.blob("output", atMost: Limits.payloadBytes)
    progress = try reader.optional(RunProgress.self, "progress")
    work = try reader.optional(RunWork.self, "work")
    retryAfter = try reader.optional(Duration.self, "retry after")
    began = try reader.optional("began") { (reader) throws(LinkError) in try reader.moment("began") }
    handlerTime = try reader.optional(Duration.self, "handler time")
    cpuTime = try reader.optional(Duration.self, "processor time")
    peakMemory = try reader.optional("peak memory") { (reader) throws(LinkError) in try reader.number("peak memory") }
    trouble = try reader.optional("trouble") { (reader) throws(LinkError) in try reader.stack("trouble") }
    spans = try reader.list(RunSpan.self, "spans", atMost: Limits.runSpans)
  }
}

extension RunProgress: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.integer(completed)
    writer.integer(total)
    writer.optional(unit) { $0.text(PluginText.line($1, limit: Limits.progressUnitBytes)) }
    writer.optional(message) { $0.text(PluginText.line($1, limit: Limits.progressMessageBytes)) }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let completed = try reader.integer(UInt64.self, what)
    let total = try reader.integer(UInt64.self, what)
    guard total == 0 || completed <= total else { throw .malformed(what: "progress is \(completed) of \(total)") }
    self.init(completed: completed, total: total)
    unit = try reader.optional("unit") { (reader) throws(LinkError) in try reader.line("unit", limit: Limits.progressUnitBytes) }
    message = try reader.optional("progress message") { (reader) throws(LinkError) in
      try reader.line("progress message", limit: Limits.progressMessageBytes)
    }
  }
}

extension RunSpan: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.text(PluginText.line(name, limit: Limits.spanNameBytes))
    writer.integer(start)
    writer.integer(end)
    writer.blob(attributes)
    writer.flag(hasFailed)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      name: try reader.line("the name of a span", limit: Limits.spanNameBytes), start: try reader.integer(UInt64.self, what),
      end: try reader.integer(UInt64.self, what), attributes: try reader.blob("attributes", atMost: Limits.spanAttributeBytes),
      hasFailed: try reader.flag(what))
    guard start <= end else { throw .malformed(what: "a span ends before it begins") }
  }
}

extension RunWork: WireValue {
  func write(to writer: inout MessageWriter) {
    for count in [itemsAttempted, itemsCompleted, itemsFailed, bytesIn, bytesOut] { writer.integer(count) }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let attempted = try reader.integer(UInt64.self, what)
    self.init(
      itemsAttempted: attempted, itemsCompleted: try reader.integer(UInt64.self, what),
      itemsFailed: try reader.integer(UInt64.self, what), bytesIn: try reader.integer(UInt64.self, what),
      bytesOut: try reader.integer(UInt64.self, what))
    guard itemsAttempted == attempted else { throw .malformed(what: "work ends more items than it began") }
  }
}
