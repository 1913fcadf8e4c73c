import TaskModel

extension SchedulerCore {
  /// Lanes of an identifier in which requests wait: each is looked at by itself.
  private static let laneLimit = 4096

  /// What is wrong with a request is said before anything is written. Notes say what is taken otherwise than it was sent.
  func check(_ request: inout TaskRequest, by submitter: Submitter, notes: inout [String], now: WallTime) throws(RequestRefusal) {
    guard !isDraining else { throw RequestRefusal(.unavailable, "the host is draining: submit again when it is back") }
    let handler = handlers[request.identifier]
    if handler == nil { try checkParking(of: request, by: submitter, notes: &notes) }
    if pluginHealth[request.identifier]?.isQuarantined == true {
      notes.append("the plugin is quarantined: the request waits for taskhost plugins release \(request.identifier)")
    }
    guard request.payload.count <= Limits.payloadBytes else {
      throw RequestRefusal(
        .tooBig, "the payload has \(request.payload.count) bytes, more than \(Limits.payloadBytes): keep it elsewhere and send where",
        field: "payload")
    }
    guard Limits.priorities.contains(request.priority) else {
      throw RequestRefusal(.invalid, "priority \(request.priority) is not in −10 … 10", field: "priority")
    }
    try checkKeys(&request, by: submitter, notes: &notes)
    guard request.tags.count <= Limits.tags else {
      throw RequestRefusal(.invalid, "it has \(request.tags.count) tags, more than \(Limits.tags): leave some out", field: "tags")
    }
    for tag in request.tags { try Self.checkKey(tag, "tags") }
    guard request.after.count <= Limits.predecessors else {
      throw RequestRefusal(
        .limit,
        "it waits for \(request.after.count) requests, more than \(Limits.predecessors): gather them behind one that waits for them",
        field: "after")
    }
    try checkGates(&request, notes: &notes)
    try checkRepetition(&request, by: submitter, notes: &notes)
    pace(&request, notes: &notes, now: now)
    try checkTimes(&request, notes: &notes, now: now)
    try checkRetry(request.retry)
    if request.retry == nil { request.retry = policy.retry(of: request.identifier) }
    if let decided = request.onLostCondition ?? policy.limits[request.identifier]?.onLostCondition {
      request.gates.onLostCondition = decided
      request.onLostCondition = nil
    }
    if isLimited(request) { try applyOperatorsGates(to: &request) }
    if let handler { try checkLane(of: request, handler) }
  }

  /// Whether the operator's configuration may have a say in what it names, or for its handler.
  private func isLimited(_ request: TaskRequest) -> Bool {
    request.gates.window != nil || request.gates.concurrencyKey != nil || !request.gates.resources.isEmpty
      || policy.limits[request.identifier] != nil
  }

  private func checkParking(of request: TaskRequest, by submitter: Submitter, notes: inout [String]) throws(RequestRefusal) {
    guard submitter == .operatorsConfiguration || policy.permitted?.contains(where: { $0.exact == request.identifier }) == true else {
      throw RequestRefusal(
        .unknownIdentifier,
        "no plugin registered \(request.identifier): see taskhost plugins list, or permit it by its full name to park requests for it",
        field: "identifier")
    }
    notes.append("no plugin has registered \(request.identifier): the request is parked until one does")
  }

  // MARK: Keys

  /// A key has 1 to ``Limits/keyBytes`` bytes, none of them 0: plugins are shown it as text that a 0 ends.
  static func checkKey(_ key: String, _ field: String) throws(RequestRefusal) {
    guard !key.isEmpty, key.utf8.count <= Limits.keyBytes else {
      throw RequestRefusal(
        .invalid, "\(field) has \(key.utf8.count) bytes; 1 to \(Limits.keyBytes) are allowed: send a hash of it if it is longer",
        field: field)
    }
    guard !key.utf8.contains(0) else {
      throw RequestRefusal(.invalid, "\(field) has a NUL character, with which text ends in C: leave it out", field: field)
    }
  }

  private func checkKeys(_ request: inout TaskRequest, by submitter: Submitter, notes: inout [String]) throws(RequestRefusal) {
    if let key = request.uniqueKey {
      try Self.checkKey(key, "unique_key")
      if submitter == .user, request.isSchedule {
        throw RequestRefusal(
          .conflict, "the unique key \"\(key)\" is that of the schedule in the configuration: change it there, or take another key",
          field: "unique_key")
      }
    } else if request.onConflict != .none {
      throw RequestRefusal(
        .invalid, "on_conflict \(request.onConflict.rawValue) needs a unique key: send unique_key", field: "unique_key")
    }
    if let window = request.uniqueWindow {
      guard request.uniqueKey != nil, request.onConflict != .none else {
        throw RequestRefusal(
          .invalid, "unique_window_ms is about a key that is held: send unique_key and on_conflict too", field: "unique_window_ms")
      }
      try Self.checkLength(window, atLeast: .milliseconds(1), "unique_window_ms")
    }
    // Without a policy every submission is its own request, so it holds no key.
    if request.onConflict == .none, request.uniqueKey != nil {
      request.uniqueKey = nil
      notes.append("without on_conflict every submission is its own request: its unique key is not held")
    }
  }

  // MARK: Gates

  private func checkGates(_ request: inout TaskRequest, notes: inout [String]) throws(RequestRefusal) {
    guard Conditions.all.isSuperset(of: request.gates.conditions) else {
      throw RequestRefusal(
        .invalid,
        "condition bits \(request.gates.conditions.subtracting(.all).rawValue) are not known: \(Conditions.all.names.joined(separator: ", ")) are",
        field: "conditions")
    }
    if let window = request.gates.window { try Self.checkKey(window, "window") }
    if let key = request.gates.concurrencyKey { try Self.checkKey(key, "concurrency_key") }
    if !request.gates.resources.isEmpty { try Self.check(request.gates.resources) }
    guard request.gates.flex != .zero else { return }
    try Self.checkLength(request.gates.flex, atLeast: .zero, "flex_ms")
    // As it is stored, so that a lane is the same lane after a restart.
    request.gates.flex = .milliseconds(request.gates.flex.wholeMilliseconds)
  }

  private static func check(_ resources: [String: Int]) throws(RequestRefusal) {
    guard resources.count <= Limits.resources else {
      throw RequestRefusal(.limit, "it names \(resources.count) resources, more than \(Limits.resources)", field: "resources")
    }
    for (name, amount) in resources.sorted(by: { $0.key < $1.key }) {
      try checkKey(name, "resources")
      guard Limits.resourceTokens.contains(amount) else {
        throw RequestRefusal(
          .invalid,
          "resource \(name): \(amount) is not 1 to \(Limits.resourceTokens.upperBound): leave it out if it takes none", field: "resources")
      }
    }
  }

  private func checkLane(of request: TaskRequest, _ handler: HandlerState) throws(RequestRefusal) {
    guard handler.lanes.count >= Self.laneLimit, handler.lanes[request.gates] == nil else { return }
    let used = handler.lanes.values.count { if case .never = $0.nextDue { false } else { true } }
    guard used >= Self.laneLimit else { return }
    throw RequestRefusal(
      .limit,
      "requests of \(request.identifier) wait in \(used) lanes, the most there may be: a lane is a set of conditions, window, concurrency "
        + "key, resources and flex; use fewer different concurrency keys, or submit again when some have run",
      field: request.gates.concurrencyKey == nil ? nil : "concurrency_key")
  }

  // MARK: Times

  private func checkRepetition(_ request: inout TaskRequest, by submitter: Submitter, notes: inout [String]) throws(RequestRefusal) {
    try checkEvent(of: request)
    guard let rule = request.repetition else { return }
    try occurrences.check(rule)
    guard request.after.isEmpty else {
      throw RequestRefusal(
        .invalid, "a request that repeats cannot wait for others: submit it once they have succeeded, or leave the repetition out",
        field: "after")
    }
    guard request.onConflict != .append else {
      throw RequestRefusal(
        .invalid,
        "a request that repeats cannot be appended, and nothing to it, since it never ends: use on_conflict keep, replace or update",
        field: "on_conflict")
    }
    if case .cron = rule.schedule { request.clock = .wall }
    if request.earliestBegin == nil, rule.interval != nil { request.clock = .boot }
    if case .all(let limit, let spread) = rule.missed {
      guard Limits.missedRuns.contains(limit) else {
        throw RequestRefusal(
          .invalid, "missed_limit \(limit) is not in \(Limits.missedRuns.lowerBound) … \(Limits.missedRuns.upperBound)",
          field: "missed_limit")
      }
      try Self.checkLength(spread, atLeast: .zero, "missed_spread_ms")
    }
    guard let interval = rule.interval else { return }
    try Self.checkLength(interval, atLeast: .milliseconds(1), "every_ms")
    let minimum = policy.minimumInterval(of: request.identifier)
    if submitter == .user, interval < minimum {
      request.repetition?.interval = minimum
      notes.append("the interval was raised to minimum_interval, \(minimum.wholeMilliseconds / 1000) s")
    }
    if let rule = request.repetition, case .all(let limit, let spread) = rule.missed {
      let step = occurrences.step(rule, after: WallTime(unixMilliseconds: 0), spread: spread)
      if step < spread {
        request.repetition?.missed = .all(limit: limit, spread: step)
        notes.append("missed_spread_ms was lowered to half the interval, \(step.wholeMilliseconds) ms, so that missed runs catch up")
      }
    }
    if let interval = request.repetition?.interval, request.gates.flex > interval {
      request.gates.flex = interval
      notes.append("flex_ms was lowered to the interval, \(interval.wholeMilliseconds) ms")
    }
  }

  /// Gives a paced request its time: `minimum_interval` after the last run of its identifier began.
  private func pace(_ request: inout TaskRequest, notes: inout [String], now: WallTime) {
    guard request.isPaced else { return }
    request.isPaced = false
    let minimum = policy.minimumInterval(of: request.identifier)
    guard let last = handlers[request.identifier]?.lastBegan, last + minimum > max(now, request.earliestBegin ?? now) else { return }
    // The wall clock may have been set back since.
    request.earliestBegin = min(last, now) + minimum
    request.clock = .boot
    notes.append("it names no time: it waits for minimum_interval, \(minimum.wholeMilliseconds / 1000) s, after the last run began")
    if paced.insert(request.identifier).inserted { turn.paced.append((request.identifier, minimum)) }
  }

  private func checkEvent(of request: TaskRequest) throws(RequestRefusal) {
    guard let event = request.event else {
      guard request.repetition?.schedule == .event else { return }
      throw RequestRefusal(.invalid, "it is to repeat with every event, but names none: send event or watch", field: "event")
    }
    if let rule = request.repetition, rule.schedule != .event {
      throw RequestRefusal(
        .invalid, "a request waits for its times or for an event, not for both: leave one out, or submit two",
        field: rule.interval == nil ? "cron" : "every_ms")
    }
    if let path = event.path {
      guard path.hasPrefix("/"), path.utf8.count <= 4095, !path.utf8.contains(0) else {
        throw RequestRefusal(.invalid, "watch: an absolute path of at most 4095 bytes is expected", field: "watch")
      }
    } else {
      try Self.checkKey(event.name, "event")
    }
    try Self.checkLength(event.debounce, atLeast: .zero, "debounce_ms")
  }

  private func checkTimes(_ request: inout TaskRequest, notes: inout [String], now: WallTime) throws(RequestRefusal) {
    try Self.check(request.earliestBegin, "earliest_begin")
    try Self.check(request.deadline, "deadline")
    if let deadline = request.deadline {
      if let begin = request.earliestBegin, deadline < begin {
        throw RequestRefusal(
          .invalid,
          "the deadline lies \(Self.text(begin - deadline)) before the earliest begin: from the deadline on it should run at once",
          field: "deadline")
      }
      if deadline <= now { notes.append("the deadline has passed already: only network and power count") }
    }
    // What took a moment to get here was not meant to lie in the past.
    if let begin = request.earliestBegin, begin + .seconds(1) < now {
      notes.append("earliest_begin lies \(Self.text(now - begin)) in the past: it counts as now")
    }
  }

  private static func check(_ time: WallTime?, _ field: String) throws(RequestRefusal) {
    guard let time, !WallTime.calendar.contains(time) else { return }
    let place = time < WallTime.calendar.lowerBound ? "before 1970" : "after the year 9999"
    throw RequestRefusal(.invalid, "\(field) lies \(place): name a time from 1970 to the year 9999", field: field)
  }

  private func checkRetry(_ retry: RetryPolicy?) throws(RequestRefusal) {
    guard let retry else { return }
    guard Limits.attempts.contains(retry.attempts) else {
      throw RequestRefusal(
        .invalid, "retry: \(retry.attempts) attempts are not 1 to \(Limits.attempts.upperBound): name a number in between", field: "retry")
    }
    try Self.checkLength(retry.initial, atLeast: .zero, "retry")
    try Self.checkLength(retry.maximum, atLeast: .zero, "retry")
  }

  private static func checkLength(_ duration: Duration, atLeast: Duration, _ field: String) throws(RequestRefusal) {
    guard duration >= atLeast, duration <= Limits.longestDuration else {
      throw RequestRefusal(
        .invalid,
        "\(field): \(duration.wholeMilliseconds) ms is not in \(atLeast.wholeMilliseconds) … "
          + "\(Limits.longestDuration.wholeMilliseconds) ms (ten years)", field: field)
    }
  }
}
