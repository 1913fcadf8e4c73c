public import TaskModel

// Lateness objectives: expect_within and start_within. They change nothing about what runs; they say what is late. The scheduler's own clock
// finds that out: the next moment at which something becomes late is a moment of its next turn.

extension SchedulerCore {
  /// Reads since when each success is expected, and notes what the configuration expects for the first time.
  func loadObjectives(_ transaction: any StoreTransaction, now: WallTime) throws {
    let known = try transaction.objectives()
    objectives = [:]
    for (identifier, limits) in policy.limits where limits.expectWithin != nil || limits.startWithin != nil {
      // A clock that was set back must not let it wait for longer than from now.
      let since = min(known[identifier] ?? now, now)
      if limits.expectWithin != nil, known[identifier] != since { try transaction.setObjective(since, of: identifier) }
      objectives[identifier] = ObjectiveState(
        identifier, expectWithin: limits.expectWithin, startWithin: limits.startWithin, countsFrom: since,
        lastSuccess: try transaction.lastSuccess(of: identifier))
    }
    for identifier in known.keys where objectives[identifier]?.expectWithin == nil { try transaction.setObjective(nil, of: identifier) }
  }

  /// Notes successes that are durable now.
  func noteSuccesses(_ history: [RunRecord]) {
    guard !objectives.isEmpty else { return }
    for run in history where run.outcome?.isSuccess == true {
      guard let ended = run.ended, let last = objectives[run.identifier]?.lastSuccess ?? .some(ended) else { continue }
      objectives[run.identifier]?.lastSuccess = max(last, ended)
    }
  }

  /// Lets the time count anew for identifiers that pauses shut and no longer do.
  func restartObjectives(shutBefore before: PauseBook, _ transaction: any StoreTransaction, now: WallTime) throws {
    for (identifier, state) in objectives where before.shut(identifier) != nil && pauses.shut(identifier) == nil {
      turn.objectivesBefore = turn.objectivesBefore ?? objectives
      var state = state
      (state.countsFrom, state.resumed) = (now, now)
      objectives[identifier] = state
      if state.expectWithin != nil { try transaction.setObjective(now, of: identifier) }
    }
  }

  /// Finds what has become late, or is no longer, after a turn.
  ///
  /// - Returns: The states that changed.
  func reviewObjectives(now: WallTime) -> [ObjectiveState] {
    guard !objectives.isEmpty else { return [] }
    var changed: [ObjectiveState] = []
    for (identifier, before) in objectives {
      var state = before
      state.overdueSince = overdue(state, now: now)
      state.lateSince = late(state, now: now)
      guard state != before else { continue }
      objectives[identifier] = state
      changed.append(state)
    }
    return changed.sorted { $0.identifier < $1.identifier }
  }

  /// When the next objective is missed if nothing happens; nil if that cannot be.
  func nextObjective(now: WallTime) -> WallTime? {
    guard !objectives.isEmpty else { return nil }
    var next: WallTime?
    for state in objectives.values {
      if state.overdueSince == nil, let overdue = overdue(state), pauses.shut(state.identifier, now: now) == nil {
        next = min(next ?? overdue, overdue)
      }
      if state.lateSince == nil, state.startWithin != nil, let late = oldestDue(of: state.identifier, now: now).flatMap(state.late) {
        next = min(next ?? late, late)
      }
    }
    return next
  }

  /// Since when a success is missing. What a pause shuts is late on purpose.
  private func overdue(_ state: ObjectiveState, now: WallTime) -> WallTime? {
    guard let expected = state.expected, let overdue = overdue(state), overdue <= now, pauses.shut(state.identifier, now: now) == nil
    else { return nil }
    return expected
  }

  /// When a success that does not come is missed. One of the fleet may have come on another host: it is missed once that is known, or once
  /// its database has not said so for a while.
  private func overdue(_ state: ObjectiveState) -> WallTime? {
    state.expected.map { fleetSuccesses.identifiers.contains(state.identifier) && fleetSuccesses.until < $0 ? $0 + Self.fleetPatience : $0 }
  }

  private static let fleetPatience = Duration.seconds(60)

  private func late(_ state: ObjectiveState, now: WallTime) -> WallTime? {
    guard state.startWithin != nil, let due = oldestDue(of: state.identifier, now: now), let late = state.late(dueAt: due), late <= now
    else { return nil }
    return due
  }

  /// The first due time of the identifier's pending requests that nobody has paused, as far as known; nil if there is none.
  private func oldestDue(of identifier: TaskIdentifier, now: WallTime) -> WallTime? {
    guard let handler = handlers[identifier] else { return nil }
    var oldest: WallTime?
    for lane in handler.lanes.values where !lane.gates.isPaused {
      guard case .at(let due) = lane.nextDue, pausedUntil(lane, of: handler, now: now) == nil else { continue }
      oldest = min(oldest ?? due, due)
    }
    return oldest
  }

  func hasStartObjective(_ handler: HandlerState) -> Bool {
    !objectives.isEmpty && objectives[handler.contract.identifier]?.startWithin != nil
  }

  /// What is expected of the request's identifier, a sentence each.
  func expectations(of record: RequestRecord, now: WallTime) -> [String] {
    guard let state = objectives[record.request.identifier] else { return [] }
    var sentences: [String] = []
    if let within = state.expectWithin, let expected = state.expected {
      let last =
        state.lastSuccess.map { "the last one was \(Self.text(now - $0)) ago" } ?? "there was none in \(Self.text(now - state.countsFrom))"
      let flaw = state.overdueSince == nil ? "" : ", so it is overdue by \(Self.text(now - expected))"
      sentences.append("a success is expected within \(Self.text(within)): \(last)\(flaw)")
    }
    if let within = state.startWithin, record.state == .pending || record.state == .claimed {
      let isLate = state.late(dueAt: record.due).map { $0 <= now } ?? false
      sentences.append(
        "it is to begin within \(Self.text(within)) of its time" + (isLate ? ": it is late by \(Self.text(now - record.due))" : ""))
    }
    return sentences
  }
}

extension Scheduler {
  /// Gets what is expected of each identifier, and whether it is late, ordered by identifier.
  public func objectives(completion: @escaping @Sendable ([ObjectiveState]) -> Void) {
    inspect { core, _ in completion(core.objectives.values.sorted { $0.identifier < $1.identifier }) }
  }

  /// Notes the last successes of identifiers of the fleet on all hosts.
  ///
  /// - Parameters:
  ///   - ages: How long ago they ended.
  ///   - identifiers: All that was asked for.
  ///   - delay: How long ago it was asked.
  public func noteFleetSuccesses(_ ages: [TaskIdentifier: Duration], of identifiers: Set<TaskIdentifier>, asked delay: Duration) {
    write({ (_: Result<Void, RequestRefusal>) in }) { core, _, now in
      core.fleetSuccesses = (identifiers, now + (.zero - delay))
      for (identifier, age) in ages {
        core.objectives[identifier]?.lastSuccess.raise(to: now + (.zero - age))
      }
    }
  }
}

extension Optional<WallTime> {
  fileprivate mutating func raise(to time: WallTime) { self = max(self ?? time, time) }
}
