import StrictText
import TaskModel

/// The lines of runs that have ended.
enum ArchivedRun {
  /// Writes the members of a run's line.
  static func write(_ run: RunRecord, to writer: inout JSONWriter) {
    let report = run.report
    writer.word("kind", StoreArchive.Kind.run)
    writer.id("id", run.id)
    writer.id("request", run.request)
    writer.member("identifier", run.identifier.rawValue)
    writer.member("host", run.host)
    writer.member("attempt", run.attempt)
    writer.time("started_unix_ms", run.started)
    writer.time("ended_unix_ms", run.ended)
    writer.word("outcome", run.outcome)
    writer.word("stop_reason", report.stopReason)
    writer.flag("forced", report.forced)
    writer.word("stop_stage", report.stopStage)
    writer.member("message", report.message)
    if let progress = report.progress {
      writer.object("progress") { writer in
        writer.member("completed", progress.completed)
        writer.member("total", progress.total)
        writer.member("unit", progress.unit)
        writer.member("message", progress.message)
      }
    }
    if let work = report.work {
      writer.object("work") { writer in
        writer.member("items_attempted", work.itemsAttempted)
        writer.member("items_completed", work.itemsCompleted)
        writer.member("items_failed", work.itemsFailed)
        writer.member("bytes_in", work.bytesIn)
        writer.member("bytes_out", work.bytesOut)
      }
    }
    writer.member("cpu_ns", report.cpuTime?.wholeNanoseconds)
    writer.member("handler_ns", report.handlerTime?.wholeNanoseconds)
    writer.member("peak_memory_bytes", report.peakMemory)
    writer.member("trouble", report.trouble)
    if !report.output.isEmpty { writer.blob("output", report.output) }
    guard !report.log.isEmpty else { return }
    writer.array("log", report.log) { writer, line in
      writer.time("time_unix_ms", line.time)
      writer.word("level", line.level)
      writer.member("message", line.message)
      writer.word("stream", line.stream)
    }
  }

  /// Reads the members of a run's line.
  ///
  /// - Parameter isLive: Whether it may have no end yet.
  static func read(_ line: ArchiveObject, isLive: Bool = false) throws(ArchiveFlaw) -> RunRecord {
    var report = RunReport()
    report.stopReason = try line.word("stop_reason", StopReason.self)
    report.forced = try line.flag("forced")
    report.stopStage = try line.word("stop_stage", StopStage.self)
    report.message = try line.text("message")
    report.progress = try line.object("progress") { (progress) throws(ArchiveFlaw) in
      RunProgress(
        completed: try progress.unsigned("completed") ?? 0, total: try progress.unsigned("total") ?? 0, unit: try progress.text("unit"),
        message: try progress.text("message"))
    }
    report.work = try line.object("work") { (work) throws(ArchiveFlaw) in
      RunWork(
        itemsAttempted: try work.unsigned("items_attempted") ?? 0, itemsCompleted: try work.unsigned("items_completed") ?? 0,
        itemsFailed: try work.unsigned("items_failed") ?? 0, bytesIn: try work.unsigned("bytes_in") ?? 0,
        bytesOut: try work.unsigned("bytes_out") ?? 0)
    }
    report.cpuTime = try line.integer("cpu_ns").map { .nanoseconds($0) }
    report.handlerTime = try line.integer("handler_ns").map { .nanoseconds($0) }
    report.peakMemory = try line.integer("peak_memory_bytes").map { Int($0) }
    report.trouble = try line.text("trouble")
    report.output = try line.blob("output", atMost: Limits.payloadBytes) ?? []
    report.log = try line.objects("log") { (entry) throws(ArchiveFlaw) in
      LogLine(
        time: try entry.requiredTime("time_unix_ms"), level: try entry.requiredWord("level", LogLine.Level.self),
        message: try entry.requiredText("message"), stream: try entry.word("stream", LogLine.Stream.self))
    }
    return RunRecord(
      id: try line.requiredID("id", RunID.self), request: try line.requiredID("request", RequestID.self),
      identifier: try line.requiredIdentifier(), host: try line.text("host"), attempt: try line.count("attempt"),
      started: try line.requiredTime("started_unix_ms"),
      ended: isLive ? try line.time("ended_unix_ms") : try line.requiredTime("ended_unix_ms"),
      outcome: isLive ? try line.word("outcome", RunOutcome.self) : try line.requiredWord("outcome", RunOutcome.self), report: report)
  }
}
