import StrictText
import TaskModel

/// The one place that names the members of answers. Durations are `_ms`; moments are `_unix_ms` and, beside it, RFC 3339.
extension JSONWriter {
  /// A moment as `name` and `name_unix_ms`; nothing when it is nil.
  mutating func moment(_ name: String, _ time: WallTime?) {
    guard let time else { return }
    member(name, RFC3339.format(time))
    member("\(name)_unix_ms", time.unixMilliseconds)
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

  /// A submission's answer.
  mutating func submission(_ submission: Submission) {
    beginObject()
    member("id", submission.id.description)
    member("disposition", submission.disposition.rawValue)
    moment("next_start", submission.nextStart)
    member("notes", submission.notes)
    endObject()
  }

  /// A request. A claimed one is shown as pending.
  mutating func request(_ record: RequestRecord, singleLine: Bool = false) {
    let request = record.request
    beginObject()
    member("id", record.id.description)
    member("identifier", request.identifier.rawValue)
    member("state", (record.state == .claimed ? RequestState.pending : record.state).rawValue)
    moment("due", record.due)
    member("attempt", record.attempt)
    member("attempts_spent", record.attemptsSpent)
    member("losses", record.losses)
    member("priority", request.priority)
    member("conditions", request.conditions.names)
    member("tags", request.tags)
    member("unique_key", request.uniqueKey)
    if request.uniqueKey != nil { member("on_conflict", request.onConflict.rawValue) }
    member("every_ms", request.repetition?.interval.wholeMilliseconds)
    if let retry = request.retry { self.retry(retry) }
    moment("earliest_begin", request.earliestBegin)
    moment("occurrence", record.occurrence)
    moment("submitted", record.submitted)
    member("stop_requested", record.stopRequested?.rawValue)
    member("blocked_by", record.blockedBy?.description)
    member("run", record.run?.description)
    moment("started", record.started)
    moment("ended", record.ended)
    member("last_outcome", record.lastOutcome?.rawValue)
    member("last_message", record.lastMessage)
    bytes("payload", request.payload, singleLine: singleLine)
    endObject()
  }

  private mutating func retry(_ retry: RetryPolicy) {
    name("retry")
    beginObject()
    member("attempts", retry.attempts)
    member("backoff", retry.backoff.rawValue)
    member("initial_ms", retry.initial.wholeMilliseconds)
    member("maximum_ms", retry.maximum.wholeMilliseconds)
    endObject()
  }

  /// A run, without its log.
  mutating func run(_ record: RunRecord, singleLine: Bool = false) {
    let report = record.report
    beginObject()
    member("id", record.id.description)
    member("request", record.request.description)
    member("identifier", record.identifier.rawValue)
    member("attempt", record.attempt)
    moment("started", record.started)
    moment("ended", record.ended)
    member("duration_ms", record.ended.map { ($0 - record.started).wholeMilliseconds })
    member("outcome", record.outcome?.rawValue)
    member("stop_reason", report.stopReason?.rawValue)
    member("expired", report.stopReason != nil)
    member("forced", report.forced)
    member("stop_stage", report.stopStage?.rawValue)
    member("message", report.message)
    if let progress = report.progress { self.progress(progress) }
    member("retry_after_ms", report.retryAfter?.wholeMilliseconds)
    member("cpu_ms", report.cpuTime?.wholeMilliseconds)
    member("peak_memory_bytes", report.peakMemory)
    member("trouble", report.trouble)
    bytes("output", report.output, singleLine: singleLine)
    endObject()
  }

  /// A member with a run's progress.
  mutating func progress(_ progress: RunProgress) {
    name("progress")
    beginObject()
    member("completed", progress.completed)
    member("total", progress.total)
    endObject()
  }

  /// A line of a run's log.
  mutating func logLine(_ line: LogLine) {
    beginObject()
    moment("time", line.time)
    member("level", line.level.rawValue)
    member("message", line.message)
    endObject()
  }

  /// A plugin file.
  mutating func plugin(_ plugin: PluginStatus) {
    beginObject()
    member("file", plugin.file)
    member("standing", plugin.standing.rawValue)
    if let contract = plugin.contract {
      member("identifier", contract.identifier.rawValue)
      member("kind", contract.kind.rawValue)
      member("budget_ms", contract.budget?.wholeMilliseconds)
      member("grace_ms", contract.grace.wholeMilliseconds)
      member("max_concurrent_runs", contract.maxConcurrentRuns)
      member("display_name", contract.displayName)
      member("version", contract.version)
      member("function_signature", contract.typed?.signature)
      member("success", contract.typed?.success.rawValue)
    }
    member("isolation", plugin.isolation)
    if let id = plugin.workerProcessID {
      name("worker")
      beginObject()
      member("process_id", id)
      member("state", plugin.workerState)
      endObject()
    }
    member("running", plugin.running)
    member("strikes", plugin.strikes)
    moment("held_until", plugin.heldUntil)
    member("quarantined", plugin.isQuarantined)
    member("last_trouble", plugin.lastTrouble)
    member("signature", plugin.signature)
    member("digest", plugin.digest)
    if !plugin.sandbox.isEmpty { member("sandbox", plugin.sandbox) }
    if let code = plugin.reasonCode {
      name("reason")
      beginObject()
      member("code", code)
      member("message", plugin.reasonMessage ?? "")
      endObject()
    }
    endObject()
  }

  /// A host.
  mutating func status(_ status: HostStatus) {
    beginObject()
    member("version", status.version)
    member("process_id", status.processID)
    member("phase", status.phase.rawValue)
    moment("started", status.started)
    member("state_directory", status.stateDirectory)
    name("requests")
    beginObject()
    for state in RequestState.allCases where state != .claimed {
      let claimed = state == .pending ? status.requests[.claimed] ?? 0 : 0
      member(state.rawValue, (status.requests[state] ?? 0) + claimed)
    }
    endObject()
    member("running", status.running)
    member("max_concurrent_runs", status.maxConcurrentRuns)
    member("plugins_registered", status.pluginsRegistered)
    member("plugins_refused", status.pluginsRefused)
    moment("next_due", status.nextDue)
    member("warnings", status.warnings)
    member("sandbox", status.sandbox)
    endObject()
  }

  /// What was held against a plugin that has been released.
  mutating func release(_ identifier: TaskIdentifier, _ standing: Standing) {
    beginObject()
    member("identifier", identifier.rawValue)
    member("strikes", standing.strikes)
    member("host_crashes", standing.hostCrashes)
    moment("held_until", standing.heldUntil)
    moment("quarantined_since", standing.quarantinedSince)
    member("last_trouble", standing.lastTrouble)
    endObject()
  }
}
