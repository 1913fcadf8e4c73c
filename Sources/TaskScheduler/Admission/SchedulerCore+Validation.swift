import CalendarTime
import TaskModel

extension SchedulerCore {
  /// The maximum number of lanes with waiting requests of an identifier. Each lane costs a separate check.
  private static let laneLimit = 4096

  /// Validates and completes a request before anything is written. The notes say what was changed.
  ///
  /// - Parameter held: The tags of the live request that it changes.
  func check(
    _ request: inout TaskRequest, by submitter: Submitter, held: [String] = [], notes: inout [String], now: WallTime
  ) throws(RequestRefusal) {
    guard !isDraining || submitter == .completion else {
      throw RequestRefusal(.unavailable, "the host is draining: submit again when it is back")
    }
    let handler = handlers[request.identifier]
    if handler == nil { try checkParking(of: request, by: submitter, notes: &notes) }
    if pluginHealth[request.identifier]?.isQuarantined == true {
      notes.append("the plugin is quarantined: the request waits for taskhost plugins release \(request.identifier)")
    }
    try settleDelay(of: &request, now: now)
    try request.check()
    if submitter != .completion { try request.checkEndedTag(held: held) }
    if let completions, completions.identifier == request.identifier, let refusal = completions.refusal(request.payload, request.owner) {
      throw refusal
    }
    try settleKey(&request, by: submitter, notes: &notes)
    // Round as the store does, so that a lane stays the same after a restart.
    request.gates.flex = .milliseconds(request.gates.flex.wholeMilliseconds)
    try settleRepetition(&request, by: submitter, notes: &notes)
    pace(&request, notes: &notes, now: now)
    noteTimes(of: request, &notes, now: now)
    if request.retry == nil { request.retry = policy.retry(of: request.identifier) }
    if let decided = request.onLostCondition ?? policy.limits(of: request.identifier).onLostCondition {
      request.gates.onLostCondition = decided
      request.onLostCondition = nil
    }
    if request.gates.prefer != nil, !draftsForFleet {
      notes.append("prefer has no effect: the identifier's requests stay on this host, as its scope is not \"fleet\"")
    }
    settleTenant(of: &request)
    if isLimited(request) { try applyOperatorsGates(to: &request) }
    if let handler { try checkLane(of: request, handler) }
  }

  /// Whether the operator's configuration may limit the request.
  private func isLimited(_ request: TaskRequest) -> Bool {
    request.gates.window != nil || request.gates.concurrencyKey != nil || !request.gates.resources.isEmpty
      || policy.limits[request.identifier] != nil
  }

  private func checkParking(of request: TaskRequest, by submitter: Submitter, notes: inout [String]) throws(RequestRefusal) {
    let isParked =
      submitter == .operatorsConfiguration || submitter == .completion || policy.parksUnregistered
      || policy.awaitingApproval.contains(request.identifier)
      || policy.permitted?.contains { $0.exact == request.identifier } == true
    guard isParked else {
      throw RequestRefusal(
        .unknownIdentifier,
        "no plugin has registered \(request.identifier): see taskhost plugins list, or permit its full name to park requests for it",
        field: .identifier)
    }
    notes.append(
      policy.awaitingApproval.contains(request.identifier)
        ? "the plugin of \(request.identifier) waits for approval: the request is parked until then"
        : "no plugin has registered \(request.identifier): the request is parked until one does")
  }

  private func settleKey(_ request: inout TaskRequest, by submitter: Submitter, notes: inout [String]) throws(RequestRefusal) {
    guard let key = request.uniqueKey else { return }
    if submitter != .operatorsConfiguration, request.isSchedule {
      throw RequestField.uniqueKey.refusal(
        "\"\(key)\" is the key of the schedule in the configuration: change the schedule there, or use another key", code: .conflict)
    }
    // Without a policy, every submission is a separate request and holds no key.
    if request.onConflict == .none {
      request.uniqueKey = nil
      notes.append("without on_conflict, every submission is a separate request: its unique key is not held")
    }
  }

  private func checkLane(of request: TaskRequest, _ handler: HandlerState) throws(RequestRefusal) {
    guard handler.lanes.count >= Self.laneLimit, handler.lanes[request.gates] == nil else { return }
    let used = handler.lanes.values.count { if case .never = $0.nextDue { false } else { true } }
    guard used >= Self.laneLimit else { return }
    throw RequestRefusal(
      .limit,
      "requests of \(request.identifier) wait in \(used) lanes, the maximum: a lane is a set of conditions, window, concurrency "
        + "key, tenant, resources, preference and flex; use fewer concurrency keys or tenants, or submit again after some requests have run",
      field: request.gates.concurrencyKey.map { _ in RequestField.concurrencyKey.rawValue })
  }

  // MARK: Times

  private func settleDelay(of request: inout TaskRequest, now: WallTime) throws(RequestRefusal) {
    guard let delay = request.delay else { return }
    try RequestField.delay.check(delay)
    // A delay follows the boot clock, a moment the calendar.
    (request.earliestBegin, request.clock, request.delay) = (now + delay, .boot, nil)
  }

  /// Gives a cron expression without a time zone that of the machine.
  private func settleTimeZone(of rule: inout RepeatRule) {
    guard case .cron(var cron) = rule.schedule, cron.timeZone.isEmpty else { return }
    cron.timeZone = HostTimeZone.name
    rule.schedule = .cron(cron)
  }

  private func settleRepetition(_ request: inout TaskRequest, by submitter: Submitter, notes: inout [String]) throws(RequestRefusal) {
    guard var rule = request.repetition else { return }
    settleTimeZone(of: &rule)
    request.repetition = rule
    try occurrences.check(rule)
    if case .cron = rule.schedule { request.clock = .wall }
    if request.earliestBegin == nil, rule.interval != nil { request.clock = .boot }
    guard let interval = rule.interval else { return }
    let minimum = policy.minimumInterval(of: request.identifier)
    if submitter != .operatorsConfiguration, interval < minimum {
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

  private func noteTimes(of request: TaskRequest, _ notes: inout [String], now: WallTime) {
    if let deadline = request.deadline, deadline <= now { notes.append("the deadline has already passed: only network and power count") }
    // Delivery takes a moment: a time that has just passed means now.
    if let begin = request.earliestBegin, begin + .seconds(1) < now {
      notes.append("earliest_begin is \(Self.text(now - begin)) in the past: it counts as now")
    }
  }
}
