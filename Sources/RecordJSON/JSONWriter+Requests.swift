public import StrictText
public import TaskModel

/// Requests, and the answers to their submission. Members keep the names they were submitted with.
extension JSONWriter {
  /// The answers to the submissions of an array. Neighbours often differ in their ids alone: the rest is copied then.
  public mutating func submissions(_ name: String, _ submissions: [Submission]) {
    self.name(name)
    beginArray()
    var last: (submission: Submission, rest: [UInt8])?
    for submission in submissions {
      beginObject()
      member("id", submission.id.description)
      last?.submission.id = submission.id
      if let last, last.submission == submission {
        raw(last.rest)
      } else {
        let start = bytes.count
        rest(of: submission)
        // Without the comma.
        last = (submission, Array(bytes[(start + 1)...]))
      }
      endObject()
    }
    endArray()
  }

  /// The answer to a submission.
  public mutating func submission(_ submission: Submission) {
    member("id", submission.id.description)
    rest(of: submission)
  }

  private mutating func rest(of submission: Submission) {
    member("disposition", submission.disposition.rawValue)
    momentOrNull("next_start", submission.nextStart)
    if submission.isRepeated { member("repeated", true) }
    if submission.isParked { member("parked", true) }
    member("notes", submission.notes)
    if let effective = submission.effective { object("effective") { $0.schedule(effective) } }
  }

  private mutating func schedule(_ effective: EffectiveSchedule) {
    momentOrNull("next_start", effective.nextStart)
    momentOrNull("latest_start", effective.latestStart)
    if let rule = effective.repetition { repetition(rule) }
    moment(RequestField.deadline.rawValue, effective.deadline)
    member("clock", effective.clock.rawValue)
  }

  /// Shows a claimed request as pending.
  ///
  /// - Parameter notes: Notes for the client; nil leaves the member out.
  public mutating func request(_ record: RequestRecord, singleLine: Bool = false, notes: [String]? = nil) {
    let request = record.request
    member("id", record.id.description)
    member(RequestField.identifier, request.identifier.rawValue)
    member("state", record.state.shown.rawValue)
    momentOrNull("due", record.due)
    member("attempt", record.attempt)
    member("attempts_spent", record.attemptsSpent)
    member("losses", record.losses)
    member(RequestField.priority, request.priority)
    gates(request.gates)
    member(RequestField.tags.rawValue, request.tags)
    keys(request)
    member(RequestField.traceparent, request.traceparent?.description)
    schedule(request)
    if let retry = request.retry { object(RequestField.retry.rawValue) { $0.policy(retry) } }
    if !request.after.isEmpty { array(RequestField.after.rawValue, request.after) { $0.dependency($1) } }
    progress(of: record)
    bytes(RequestField.payload.rawValue, request.payload, singleLine: singleLine)
    if let notes { member("notes", notes) }
  }

  /// The request's state in the host, beside what was submitted.
  private mutating func progress(of record: RequestRecord) {
    moment("occurrence", record.occurrence)
    moment("submitted", record.submitted)
    if record.isRelaxed { member("past_deadline", true) }
    moment("event_since", record.eventSince)
    moment("event_due", record.eventDue)
    if record.missedLeft > 0 { member("missed_left", record.missedLeft) }
    if !record.state.isFinal, let paused = record.paused {
      object("paused") { writer in
        writer.member("by", paused.by)
        writer.moment("since", paused.since)
        writer.member("why", paused.reason)
      }
    }
    member("stop_requested", record.stopRequested?.rawValue)
    member("blocked_by", record.blockedBy?.description)
    member("run", record.run?.description)
    moment("started", record.started)
    moment("ended", record.ended)
    member("last_host", record.request.gates.lastHost)
    member("last_outcome", record.lastOutcome?.rawValue)
    member("last_message", record.lastMessage)
  }

  private mutating func gates(_ gates: RunConstraints) {
    member(RequestField.conditions.rawValue, gates.conditions.names)
    if !gates.conditions.isEmpty || gates.onLostCondition != .stop {
      member(RequestField.onLostCondition, gates.onLostCondition.rawValue)
    }
    member(RequestField.window, gates.window)
    member(RequestField.concurrencyKey, gates.concurrencyKey)
    if !gates.resources.isEmpty {
      object(RequestField.resources.rawValue) { writer in
        for (name, count) in gates.resources.sorted(by: { $0.key < $1.key }) { writer.member(name, count) }
      }
    }
    member(RequestField.prefer, gates.prefer)
    if gates.flex > .zero { member(RequestField.flex, gates.flex.wholeMilliseconds) }
    if gates.wakes { member(RequestField.wake.rawValue, true) }
  }

  private mutating func keys(_ request: TaskRequest) {
    member(RequestField.uniqueKey, request.uniqueKey)
    if request.uniqueKey != nil { member(RequestField.onConflict, request.onConflict.rawValue) }
    member(RequestField.uniqueWindow, request.uniqueWindow?.wholeMilliseconds)
    member(RequestField.idempotencyKey, request.idempotencyKey)
  }

  private mutating func schedule(_ request: TaskRequest) {
    moment(RequestField.earliestBegin.rawValue, request.earliestBegin)
    moment(RequestField.deadline.rawValue, request.deadline)
    member("clock", request.clock.rawValue)
    if let rule = request.repetition { repetition(rule) }
    if request.jitter > .zero { member(RequestField.jitter, request.jitter.wholeMilliseconds) }
    guard let event = request.event else { return }
    if let path = event.path { member(RequestField.watch, path) } else { member(RequestField.event, event.name) }
    if event.debounce > .zero { member(RequestField.debounce, event.debounce.wholeMilliseconds) }
  }

  /// The members of a repetition, with the names that they were submitted with.
  public mutating func repetition(_ rule: RepeatRule) {
    switch rule.schedule {
    case .every(let interval): member(RequestField.every, interval.wholeMilliseconds)
    case .cron(let cron):
      member(RequestField.cron, cron.expression)
      member(RequestField.timeZone, cron.timeZone)
      member(RequestField.daylightGap, cron.daylight.gap.rawValue)
      member(RequestField.daylightRepeat, cron.daylight.repeated.rawValue)
    case .event: return member(RequestField.everyEvent.rawValue, true)
    }
    member(RequestField.missed, rule.missed.name)
    if case .all(let limit, let spread) = rule.missed {
      member(RequestField.missedLimit, limit)
      member(RequestField.missedSpread, spread.wholeMilliseconds)
    }
  }

  private mutating func dependency(_ edge: Dependency) {
    switch edge.predecessor {
    case .request(let id): member(RequestField.Predecessor.request, id.description)
    case .position(let position): member(RequestField.Predecessor.request, "@\(position)")
    }
    member(RequestField.Predecessor.onFailure, edge.onFailure.rawValue)
  }

  private mutating func policy(_ retry: RetryPolicy) {
    member(RequestField.Retry.attempts, retry.attempts)
    member(RequestField.Retry.backoff, retry.backoff.rawValue)
    member(RequestField.Retry.initial, retry.initial.wholeMilliseconds)
    member(RequestField.Retry.maximum, retry.maximum.wholeMilliseconds)
  }
}
