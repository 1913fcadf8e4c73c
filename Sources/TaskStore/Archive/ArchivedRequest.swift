import StrictText
package import TaskModel

/// A request in an archive, with all that the store keeps beside its row.
package struct ArchivedRequest: Sendable {
  /// The request with its payload.
  package var record: RequestRecord
  /// The payload of the event that the request is due for.
  package var eventPayload: [UInt8]?
  /// The checkpoint of an earlier run.
  package var checkpoint: [UInt8]?
  /// What it waits for, or waited for.
  package var edges: [DependencyRecord]

  package init(record: RequestRecord, eventPayload: [UInt8]? = nil, checkpoint: [UInt8]? = nil, edges: [DependencyRecord] = []) {
    (self.record, self.eventPayload, self.checkpoint, self.edges) = (record, eventPayload, checkpoint, edges)
  }
}

// MARK: Writing

extension ArchivedRequest {
  /// Writes the members of its line.
  func write(to writer: inout JSONWriter) {
    writer.word("kind", StoreArchive.Kind.request)
    writer.id("id", record.id)
    writeFields(to: &writer)
    if !record.request.payload.isEmpty { writer.blob("payload", record.request.payload) }
    writer.blob("event_payload", eventPayload)
    writer.blob("checkpoint", checkpoint)
    guard !edges.isEmpty else { return }
    writer.array("edges", edges) { writer, edge in
      writer.id("request", edge.predecessor)
      writer.word("on_failure", edge.onFailure)
      writer.word("ended", edge.ended)
      if !edge.output.isEmpty { writer.blob("output", edge.output) }
    }
  }

  /// Writes the members of the record without its id and its payload.
  func writeFields(to writer: inout JSONWriter) {
    writer.member(RequestField.identifier, record.request.identifier.rawValue)
    writer.word("state", record.state)
    writer.time("due_unix_ms", record.due)
    writer.time("submitted_unix_ms", record.submitted)
    writer.member(RequestField.priority, record.request.priority)
    writeSubmission(to: &writer)
    writeProgress(to: &writer)
  }

  private func writeSubmission(to writer: inout JSONWriter) {
    let request = record.request
    write(request.gates, request.isUnchecked ? request.onLostCondition : nil, to: &writer)
    if !request.tags.isEmpty { writer.member("tags", request.tags) }
    writer.member(RequestField.uniqueKey, request.uniqueKey)
    if request.onConflict != .none { writer.word("on_conflict", request.onConflict) }
    writer.member(RequestField.uniqueWindow, request.uniqueWindow?.wholeMilliseconds)
    writer.member(RequestField.idempotencyKey, request.idempotencyKey)
    writer.member(RequestField.traceparent, request.traceparent?.description)
    writer.time("earliest_begin_unix_ms", request.earliestBegin)
    writer.time("deadline_unix_ms", request.deadline)
    if request.clock != .wall { writer.word("clock", request.clock) }
    if let rule = request.repetition { write(rule, to: &writer) }
    if request.jitter > .zero { writer.member(RequestField.jitter, request.jitter.wholeMilliseconds) }
    writer.member(RequestField.event, request.event?.name)
    if let event = request.event, event.debounce > .zero { writer.member(RequestField.debounce, event.debounce.wholeMilliseconds) }
    // The operator's settings decide what is left open, once a host checks it.
    if let retry = request.retry ?? (request.isUnchecked ? nil : RetryPolicy()) {
      writer.object(RequestField.retry.rawValue) { writer in
        writer.member(RequestField.Retry.attempts, retry.attempts)
        writer.word("backoff", retry.backoff)
        writer.member(RequestField.Retry.initial, retry.initial.wholeMilliseconds)
        writer.member(RequestField.Retry.maximum, retry.maximum.wholeMilliseconds)
      }
    }
    let after = request.after.compactMap { edge -> (id: RequestID, onFailure: Dependency.FailurePolicy)? in
      if case .request(let id) = edge.predecessor { (id, edge.onFailure) } else { nil }
    }
    if !after.isEmpty {
      writer.array(RequestField.after.rawValue, after) { writer, edge in
        writer.id("request", edge.id)
        writer.word("on_failure", edge.onFailure)
      }
    }
    writer.member("owner", request.owner?.rawValue)
    writer.flag("untold", request.isUntold)
    writer.flag("unchecked", request.isUnchecked)
  }

  /// - Parameter decided: What the submission said of a lost condition, if no host has written that into the gates.
  private func write(_ gates: RunConstraints, _ decided: LostConditionPolicy?, to writer: inout JSONWriter) {
    if !gates.conditions.isEmpty { writer.member(RequestField.conditions.rawValue, gates.conditions.names) }
    if decided != nil || gates.onLostCondition != .stop { writer.word("on_lost_condition", gates.onLostCondition) }
    writer.member(RequestField.window, gates.window)
    writer.member(RequestField.concurrencyKey, gates.concurrencyKey)
    writer.member("tenant", gates.tenant)
    if !gates.resources.isEmpty {
      writer.object(RequestField.resources.rawValue) { writer in
        for (name, count) in gates.resources.sorted(by: { $0.key < $1.key }) { writer.member(name, count) }
      }
    }
    writer.member(RequestField.prefer, gates.prefer)
    writer.member("last_host", gates.lastHost)
    if gates.flex > .zero { writer.member(RequestField.flex, gates.flex.wholeMilliseconds) }
    writer.flag("wake", gates.wakes)
  }

  private func write(_ rule: RepeatRule, to writer: inout JSONWriter) {
    switch rule.schedule {
    case .every(let interval): writer.member(RequestField.every, interval.wholeMilliseconds)
    case .event: writer.flag("every_event", true)
    case .cron(let cron):
      writer.member(RequestField.cron, cron.expression)
      writer.member(RequestField.timeZone, cron.timeZone)
      writer.word("daylight_gap", cron.daylight.gap)
      writer.word("daylight_repeat", cron.daylight.repeated)
    }
    if rule.missed != .latest { writer.member(RequestField.missed, rule.missed.name) }
    guard case .all(let limit, let spread) = rule.missed else { return }
    writer.member(RequestField.missedLimit, limit)
    writer.member(RequestField.missedSpread, spread.wholeMilliseconds)
  }

  private func writeProgress(to writer: inout JSONWriter) {
    writer.time("occurrence_unix_ms", record.occurrence)
    if record.attemptsSpent > 0 { writer.member("attempts_spent", record.attemptsSpent) }
    if record.losses > 0 { writer.member("losses", record.losses) }
    writer.word("stop_requested", record.stopRequested)
    writer.id("blocked_by", record.blockedBy)
    writer.id("run", record.run)
    writer.time("started_unix_ms", record.started)
    writer.time("ended_unix_ms", record.ended)
    writer.word("last_outcome", record.lastOutcome)
    writer.member("last_message", record.lastMessage)
    writer.flag("past_deadline", record.isRelaxed)
    writer.time("event_due_unix_ms", record.eventDue)
    writer.time("event_since_unix_ms", record.eventSince)
    if record.missedLeft > 0 { writer.member("missed_left", record.missedLeft) }
    if let paused = record.paused {
      writer.object("paused") { writer in
        writer.member("by", paused.by)
        writer.time("since_unix_ms", paused.since)
        writer.member("why", paused.reason)
        writer.flag("plugin", paused.isPlugins)
      }
    }
    writer.member("set_aside", record.setAside?.number)
  }
}
