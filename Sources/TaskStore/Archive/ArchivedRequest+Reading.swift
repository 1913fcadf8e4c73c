import StrictText
import TaskModel

extension ArchivedRequest {
  /// Reads the members of its line.
  ///
  /// - Parameter id: The id, of a text that is kept beside it and the edges; nil if both are among the members.
  init(_ line: ArchiveObject, id known: RequestID? = nil) throws(ArchiveFlaw) {
    let id = if let known { known } else { try line.requiredID("id", RequestID.self) }
    let state = try line.requiredWord("state", RequestState.self)
    let due = try line.requiredTime("due_unix_ms")
    let submitted = try line.requiredTime("submitted_unix_ms")
    let request = try Self.request(line)
    record = RequestRecord(
      id: id, request: request, state: state, due: due, occurrence: try line.time("occurrence_unix_ms"), submitted: submitted,
      attemptsSpent: try line.count("attempts_spent"), losses: try line.count("losses"),
      stopRequested: try line.word("stop_requested", StopReason.self), blockedBy: try line.id("blocked_by", RequestID.self),
      run: try line.id("run", RunID.self), started: try line.time("started_unix_ms"), ended: try line.time("ended_unix_ms"),
      lastOutcome: try line.word("last_outcome", RunOutcome.self), lastMessage: try line.text("last_message"),
      isRelaxed: try line.flag("past_deadline"), eventDue: try line.time("event_due_unix_ms"),
      eventSince: try line.time("event_since_unix_ms"), missedLeft: try line.count("missed_left"), paused: try Self.pause(line),
      setAside: try line.integer("set_aside").map { PauseID($0) })
    record.request.payload = try line.blob("payload", atMost: Limits.payloadBytes) ?? []
    eventPayload = try line.blob("event_payload", atMost: Limits.payloadBytes)
    checkpoint = try line.blob("checkpoint", atMost: Limits.stateValueBytes)
    edges = try line.objects("edges") { (edge) throws(ArchiveFlaw) in
      DependencyRecord(
        predecessor: try edge.requiredID("request", RequestID.self),
        onFailure: try edge.requiredWord("on_failure", Dependency.FailurePolicy.self), ended: try edge.word("ended", RequestState.self),
        output: try edge.blob("output", atMost: Limits.payloadBytes) ?? [])
    }
    try check(line, hasEdges: known == nil)
  }

  /// A row that no host could have written would be refused or damaged later, with nobody there to read the line.
  ///
  /// - Parameter hasEdges: Whether what it waits for is in the line too.
  private func check(_ line: ArchiveObject, hasEdges: Bool) throws(ArchiveFlaw) {
    var request = record.request
    // It gave its key to another one, and keeps what it was submitted with.
    if request.uniqueKey == nil { (request.onConflict, request.uniqueWindow) = (.none, nil) }
    do throws(RequestRefusal) {
      try request.check()
    } catch { throw ArchiveFlaw(line: line.line, sentence: error.message) }
    let state = record.state
    if state == .claimed || state == .running, record.run == nil { throw line.flaw("run", "is missing: the request is \(state.rawValue)") }
    if state.isFinal, record.ended == nil { throw line.flaw("ended_unix_ms", "is missing: the request is \(state.rawValue)") }
    if state == .blocked, hasEdges, edges.allSatisfy({ $0.ended != nil }) {
      throw line.flaw("edges", "has nothing that the blocked request waits for")
    }
    if state.isFinal, checkpoint != nil { throw line.flaw("checkpoint", "belongs to a live request, and this one is \(state.rawValue)") }
  }

  private static func request(_ line: ArchiveObject) throws(ArchiveFlaw) -> TaskRequest {
    var request = TaskRequest(identifier: try line.requiredIdentifier())
    guard let priority = Int(exactly: try line.requiredInteger("priority")) else { throw line.flaw("priority", "is out of range") }
    request.priority = priority
    request.isUnchecked = try line.flag("unchecked")
    let isDecided = request.isUnchecked && line.has("on_lost_condition")
    request.gates = try gates(line)
    if isDecided { request.onLostCondition = request.gates.onLostCondition }
    request.tags = try line.texts("tags")
    request.uniqueKey = try line.text("unique_key")
    request.onConflict = try line.word("on_conflict", ConflictPolicy.self) ?? .none
    request.uniqueWindow = try line.length("unique_window_ms")
    request.idempotencyKey = try line.text("idempotency_key")
    if let text = try line.text("traceparent") {
      guard let parent = TraceParent(text) else { throw line.flaw("traceparent", "is not one") }
      request.traceparent = parent
    }
    request.earliestBegin = try line.time("earliest_begin_unix_ms")
    request.deadline = try line.time("deadline_unix_ms")
    request.clock = try line.word("clock", DueClock.self) ?? .wall
    request.repetition = try repetition(line)
    request.jitter = try line.length("jitter_ms") ?? .zero
    let debounce = try line.length("debounce_ms")
    request.event = try line.text("event").map { EventTrigger($0, debounce: debounce ?? .zero) }
    request.retry = try line.object("retry") { (retry) throws(ArchiveFlaw) in
      RetryPolicy(
        attempts: try retry.count("attempts"), backoff: try retry.requiredWord("backoff", RetryPolicy.Backoff.self),
        initial: try retry.length("initial_ms") ?? .zero, maximum: try retry.length("maximum_ms") ?? .zero)
    }
    request.after = try line.objects("after") { (edge) throws(ArchiveFlaw) in
      Dependency(
        .request(try edge.requiredID("request", RequestID.self)),
        onFailure: try edge.requiredWord("on_failure", Dependency.FailurePolicy.self))
    }
    request.owner = try line.identifier("owner")
    request.isUntold = try line.flag("untold")
    return request
  }

  private static func gates(_ line: ArchiveObject) throws(ArchiveFlaw) -> RunConstraints {
    var conditions: Conditions = []
    for name in try line.texts("conditions") {
      guard let condition = Conditions(name: name) else {
        throw line.flaw("conditions", "has an unknown one\(NearestName.hint(for: name, among: Conditions.all.names))")
      }
      conditions.insert(condition)
    }
    var gates = RunConstraints(
      conditions: conditions, onLostCondition: try line.word("on_lost_condition", LostConditionPolicy.self) ?? .stop,
      window: try line.text("window"), concurrencyKey: try line.text("concurrency_key"), resources: try line.numbers("resources"),
      flex: try line.length("flex_ms") ?? .zero)
    gates.tenant = try line.text("tenant")
    gates.prefer = try line.text("prefer")
    gates.lastHost = try line.text("last_host")
    gates.wakes = try line.flag("wake")
    return gates
  }

  private static func repetition(_ line: ArchiveObject) throws(ArchiveFlaw) -> RepeatRule? {
    var schedules: [RepeatRule.Schedule] = []
    if let interval = try line.length("every_ms") { schedules.append(.every(interval)) }
    if try line.flag("every_event") { schedules.append(.event) }
    let (zone, gap) = (try line.text("time_zone"), try line.word("daylight_gap", DaylightPolicy.Gap.self))
    let repeated = try line.word("daylight_repeat", DaylightPolicy.Repeated.self)
    if let expression = try line.text("cron") {
      let daylight = DaylightPolicy(gap: gap ?? .shift, repeated: repeated ?? .first)
      schedules.append(.cron(CronRule(expression, timeZone: zone ?? "", daylight: daylight)))
    }
    let (limit, spread) = (try line.count("missed_limit"), try line.length("missed_spread_ms"))
    let missed: MissedPolicy
    switch try line.text("missed") {
    case nil, "latest": missed = .latest
    case "skip": missed = .skip
    case "all":
      guard Limits.missedRuns.contains(limit) else { throw line.flaw("missed_limit", "is outside of \(Limits.missedRuns)") }
      missed = .all(limit: limit, spread: spread ?? .zero)
    case let other?:
      let shown = String(other.prefix(80)).escapingControlCharacters
      throw line.flaw("missed", "must not be \"\(shown)\"\(NearestName.hint(for: other, among: MissedPolicy.names))")
    }
    guard schedules.count < 2 else { throw line.flaw("cron", "every_ms and every_event exclude each other") }
    return schedules.first.map { RepeatRule($0, missed: missed) }
  }

  private static func pause(_ line: ArchiveObject) throws(ArchiveFlaw) -> RequestPause? {
    try line.object("paused") { (pause) throws(ArchiveFlaw) in
      RequestPause(
        by: try pause.requiredText("by"), since: try pause.requiredTime("since_unix_ms"), reason: try pause.text("why"),
        isPlugins: try pause.flag("plugin"))
    }
  }
}
