import TaskModel

/// Requests, and the answers to their submission. What was submitted has the names it was submitted with.
extension JSONWriter {
  /// A submission's answer.
  mutating func submission(_ submission: Submission) {
    beginObject()
    member("id", submission.id.description)
    member("disposition", submission.disposition.rawValue)
    momentOrNull("next_start", submission.nextStart)
    if submission.isRepeated { member("repeated", true) }
    member("notes", submission.notes)
    if let effective = submission.effective { schedule(effective) }
    endObject()
  }

  private mutating func schedule(_ effective: EffectiveSchedule) {
    name("effective")
    beginObject()
    momentOrNull("next_start", effective.nextStart)
    momentOrNull("latest_start", effective.latestStart)
    if let rule = effective.repetition { repetition(rule) }
    moment("deadline", effective.deadline)
    member("clock", effective.clock.rawValue)
    endObject()
  }

  /// A request. A claimed one is shown as pending.
  ///
  /// - Parameter notes: What is told beside it; nil: nothing is ever told here.
  mutating func request(_ record: RequestRecord, singleLine: Bool = false, notes: [String]? = nil) {
    let request = record.request
    beginObject()
    member("id", record.id.description)
    member("identifier", request.identifier.rawValue)
    member("state", record.state.shown.rawValue)
    momentOrNull("due", record.due)
    member("attempt", record.attempt)
    member("attempts_spent", record.attemptsSpent)
    member("losses", record.losses)
    member("priority", request.priority)
    gates(request.gates)
    member("tags", request.tags)
    keys(request)
    schedule(request)
    if let retry = request.retry { self.retry(retry) }
    if !request.after.isEmpty { array("after", request.after) { $0.dependency($1) } }
    progress(of: record)
    bytes("payload", request.payload, singleLine: singleLine)
    if let notes { member("notes", notes) }
    endObject()
  }

  /// What the host knows of a request besides what was submitted.
  private mutating func progress(of record: RequestRecord) {
    moment("occurrence", record.occurrence)
    moment("submitted", record.submitted)
    if record.isRelaxed { member("past_deadline", true) }
    moment("event_since", record.eventSince)
    moment("event_due", record.eventDue)
    if record.missedLeft > 0 { member("missed_left", record.missedLeft) }
    member("stop_requested", record.stopRequested?.rawValue)
    member("blocked_by", record.blockedBy?.description)
    member("run", record.run?.description)
    moment("started", record.started)
    moment("ended", record.ended)
    member("last_outcome", record.lastOutcome?.rawValue)
    member("last_message", record.lastMessage)
  }

  private mutating func gates(_ gates: RunConstraints) {
    member("conditions", gates.conditions.names)
    if !gates.conditions.isEmpty || gates.onLostCondition != .stop { member("on_lost_condition", gates.onLostCondition.rawValue) }
    member("window", gates.window)
    member("concurrency_key", gates.concurrencyKey)
    if !gates.resources.isEmpty {
      name("resources")
      beginObject()
      for (name, count) in gates.resources.sorted(by: { $0.key < $1.key }) { member(name, count) }
      endObject()
    }
    if gates.flex > .zero { member("flex_ms", gates.flex.wholeMilliseconds) }
  }

  private mutating func keys(_ request: TaskRequest) {
    member("unique_key", request.uniqueKey)
    if request.uniqueKey != nil { member("on_conflict", request.onConflict.rawValue) }
    member("unique_window_ms", request.uniqueWindow?.wholeMilliseconds)
    member("idempotency_key", request.idempotencyKey)
  }

  private mutating func schedule(_ request: TaskRequest) {
    moment("earliest_begin", request.earliestBegin)
    moment("deadline", request.deadline)
    member("clock", request.clock.rawValue)
    if let rule = request.repetition { repetition(rule) }
    guard let event = request.event else { return }
    if let path = event.path { member("watch", path) } else { member("event", event.name) }
    if event.debounce > .zero { member("debounce_ms", event.debounce.wholeMilliseconds) }
  }

  mutating func repetition(_ rule: RepeatRule) {
    switch rule.schedule {
    case .every(let interval): member("every_ms", interval.wholeMilliseconds)
    case .cron(let cron):
      member("cron", cron.expression)
      member("time_zone", cron.timeZone)
      member("daylight_gap", cron.daylight.gap.rawValue)
      member("daylight_repeat", cron.daylight.repeated.rawValue)
    case .event: return member("every_event", true)
    }
    member("missed", rule.missed.name)
    if case .all(let limit, let spread) = rule.missed {
      member("missed_limit", limit)
      member("missed_spread_ms", spread.wholeMilliseconds)
    }
  }

  private mutating func dependency(_ edge: Dependency) {
    beginObject()
    switch edge.predecessor {
    case .request(let id): member("request", id.description)
    case .position(let position): member("request", "@\(position)")
    }
    member("on_failure", edge.onFailure.rawValue)
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
}
