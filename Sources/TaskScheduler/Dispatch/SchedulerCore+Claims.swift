import Failpoints
import TaskModel

// Requests are handed out before their runs begin, so that the runs begin on time, or because a handler's runs are shorter than a commit.
// Until its run begins, such a request is pending: it takes no slot and uses no limit, and any change to it takes it back. Only requests
// without limits wait in a launcher's queue, because nothing checks limits when a run begins there.

extension SchedulerCore {
  /// Whether requests of the lane may wait in the launcher's queue.
  func mayQueue(_ lane: LaneState, of handler: HandlerState) -> Bool {
    handler.shares == nil && lane.gates.window == nil && !limits.concerns(lane, of: handler.contract.identifier)
  }

  /// How many more runs of the lane the handler may get beyond its slots.
  func slotsAhead(_ lane: LaneState, _ handler: HandlerState) -> Int { mayQueue(lane, of: handler) ? handler.slotsAhead : 0 }

  /// Whether the handler may get requests that are due soon.
  func takesSoon(_ handler: HandlerState) -> Bool {
    !handler.keepsHere && handler.freeSlots > handler.held && freeHostSlots > heldClaims
  }

  func claim(_ claim: Claim, _ transaction: any StoreTransaction, now: WallTime) throws {
    try transaction.apply(.claimed(by: claim.entry.run), to: claim.entry.request)
    keep(claim, now: now)
    turn.claimed.append(claim.entry.run)
  }

  // MARK: Begins

  /// Handles the begin of a run from a launcher's queue, or one that counts for a rate. Ignores runs that have ended or were taken back.
  ///
  /// - Parameter latest: The latest time at which it can have begun, from which rates count it; nil means `time`.
  /// - Returns: Whether the run was already live and the rates now count its begin.
  @discardableResult func begin(_ run: RunID, at time: WallTime, by latest: WallTime? = nil, now: WallTime) -> Bool {
    guard let claim = forget(run, now: now) else {
      guard let entry = live[run] else { return false }
      return limits.began(run, at: max(entry.started, latest ?? time))
    }
    turn.begun.append(claim)
    let entry = live(claim, since: time, now: now)
    limits.began(run, at: latest ?? time)
    if entry.gates.onLostCondition == .stop, lacksConditions(entry.gates) { turn.expirations.append((run, .conditions)) }
    return false
  }

  /// Handles a launcher's report of a begin, which arrives shortly after it.
  func hearBegin(_ run: RunID, at time: WallTime, _ transaction: any StoreTransaction) throws {
    guard begin(run, at: time, by: time + Self.tick, now: time), let entry = live[run], !unrecorded.contains(run),
      time >= entry.started + LimitTracker.unnoted
    else { return }
    // If the host is killed, nothing else says when the run began.
    guard var record = try transaction.request(entry.request), record.run == run else { return }
    record.started = time
    try transaction.update(record)
  }

  /// Derives a run's begin from its end.
  func begin(_ run: RunID, endedAs ending: RunEnding, _ report: RunReport, now: WallTime) {
    let began = min(report.began ?? now, now)
    switch ending {
    // Its handler was never called.
    case .returned where report.began == nil && claims[run] == nil: limits.letGo(run)
    case .returned: begin(run, at: began, by: began + Self.tick, now: now)
    // A begin that was not reported may have been at any time until now.
    case .crashed, .forced, .lost: begin(run, at: began, by: now + Self.tick, now: now)
    }
  }

  /// The clock shows whole milliseconds, so the run has begun by the next one.
  private static let tick = Duration.milliseconds(1)

  /// Begins a held run whose time has come, or comes in less than a millisecond. Returns false if something holds it back then: it must be
  /// taken back.
  func beginHeld(_ run: RunID, now: WallTime) -> Bool {
    guard let claim = claims[run] else { return false }
    let now = max(now, claim.entry.started)
    guard let handler = handlers[claim.entry.identifier], !isDraining, storeTrouble == nil,
      handler.freeSlots > 0, freeHostSlots > 0, isOpen(handler.lane(claim.entry.gates), of: handler, now: now)
    else { return false }
    _ = forget(run, now: now)
    _ = live(claim, since: now, now: now)
    return true
  }

  private func live(_ claim: Claim, since time: WallTime, now: WallTime) -> LiveRunEntry {
    var entry = claim.entry
    entry.started = time
    live[entry.run] = entry
    unrecorded.insert(entry.run)
    slotTaken(entry)
    limits.handedOut(entry, now: time)
    return entry
  }

  /// Records begins that are not recorded yet: all, or only those by `time`, of runs that will not end soon.
  func recordBegins(_ transaction: any StoreTransaction, before time: WallTime = .distantFuture) throws {
    guard !unrecorded.isEmpty else { return }
    for run in unrecorded.sorted() {
      guard let entry = live[run], entry.started <= time else { continue }
      try recordBegin(of: entry, transaction)
    }
  }

  func recordBegin(of entry: LiveRunEntry, _ transaction: any StoreTransaction) throws {
    try transaction.apply(.started(entry.run, from: .claimed, at: entry.started), to: entry.request)
    unrecorded.remove(entry.run)
    turn.recorded.append(entry.run)
    if isObserved, let record = try transaction.request(entry.request) { note(record) }
    note(entry.record)
  }

  // MARK: Taking back

  /// Throws if the record is handed out ahead.
  func requireHere(_ record: RequestRecord) throws(ClaimedAhead) {
    if record.state == .claimed { throw ClaimedAhead(identifier: record.request.identifier) }
  }

  /// Takes back the identifier's requests that are handed out ahead (nil: all), and asks the launcher to return its runs.
  ///
  /// - Parameter forChange: Also hand out nothing more ahead until ``changesAreMade()``. Otherwise a change to several identifiers would find
  ///   the first ones handed out again, without end.
  func takeBack(of identifier: TaskIdentifier?, forChange: Bool = false, _ transaction: any StoreTransaction, now: WallTime) throws {
    if forChange {
      keepsAny = true
      for handler in handlers.values where identifier == nil || handler.contract.identifier == identifier { handler.keepsHere = true }
    }
    try takeBack(transaction, now: now) { claim in identifier.map { claim.entry.identifier == $0 } ?? true }
  }

  /// Notes that no change waits any longer: due requests may be handed out ahead again.
  func changesAreMade() {
    guard keepsAny else { return }
    keepsAny = false
    for handler in handlers.values { handler.keepsHere = false }
  }

  /// Whether the launcher has not yet returned all runs of the identifier (nil: of any) that it was asked for.
  func awaits(_ identifier: TaskIdentifier?) -> Bool {
    guard let identifier else { return claiming.contains { $0.askedBack > 0 } }
    return handlers[identifier].map { $0.askedBack > 0 } ?? false
  }

  /// Takes back a run that does not begin: its request is pending again, unchanged.
  func release(_ run: RunID, _ transaction: any StoreTransaction, now: WallTime) throws {
    let entry: LiveRunEntry
    if let claim = forget(run, now: now) {
      handlers[claim.entry.identifier]?.shares?.end(run, took: nil)
      turn.released.append(claim)
      entry = claim.entry
    } else if let known = live.removeValue(forKey: run) {
      // It was recorded as running, but its launcher could not begin it.
      unrecorded.remove(run)
      turn.neverBegun.append(known)
      handlers[known.identifier]?.shares?.end(run, took: nil)
      slotFreed(known, took: nil, now: now)
      limits.letGo(run)
      entry = known
    } else {
      return
    }
    guard var record = try transaction.request(entry.request), record.run == run else { throw StoreError.fenced }
    try record.apply(.released)
    if let reason = record.stopRequested {
      record.stopRequested = nil
      return try cancelWaiting(
        &record, message: reason == .replaced ? "replaced by a newer request" : "cancelled", tells: reason != .replaced, transaction,
        now: now)
    }
    try transaction.update(record)
    becamePending(record)
    note(record)
  }

  /// Takes back what must not stay handed out, because the host drains, the plugin accepts no runs, a condition was lost, or a long run
  /// blocks the queue.
  func takeBackWhereDue(_ transaction: any StoreTransaction, now: WallTime) throws {
    guard !claims.isEmpty else { return }
    for handler in claiming where mustGiveBack(handler, now: now) {
      if let stuckAt = handler.stuckAt, stuckAt <= now { handler.isStuckNow() }
      try takeBack(of: handler.contract.identifier, transaction, now: now)
    }
    guard conditionsChanged else { return }
    conditionsChanged = false
    try takeBack(transaction, now: now) { lacksConditions($0.entry.gates) }
  }

  private func mustGiveBack(_ handler: HandlerState, now: WallTime) -> Bool {
    guard handler.held + handler.queued > handler.askedBack else { return false }
    return isDraining || handler.suspension != nil || handler.isHeld(at: now) || handler.shortage.map { now < $0.until } ?? false
      || handler.stuckAt.map { $0 <= now } ?? false
  }

  private func lacksConditions(_ gates: RunConstraints) -> Bool {
    guard !gates.conditions.isEmpty, let conditions else { return false }
    return !conditions.lost.isDisjoint(with: gates.conditions)
  }

  /// Takes back requests in the launcher's queue that rank behind a due request, to be handed out again in their turn.
  func giveWay(to rank: Int64, _ handler: HandlerState, _ transaction: any StoreTransaction, now: WallTime) throws {
    let identifier = handler.contract.identifier
    let count = turn.withdrawals.count
    try takeBack(transaction, now: now) { !$0.isHeld && $0.rank > rank && $0.entry.identifier == identifier }
    if turn.withdrawals.count > count { handler.gaveWay() }
  }

  private func takeBack(_ transaction: any StoreTransaction, now: WallTime, where isWanted: (Claim) -> Bool) throws {
    for run in claims.keys.sorted() {
      guard let claim = claims[run], !claim.isAskedBack, isWanted(claim) else { continue }
      if claim.isHeld {
        try release(run, transaction, now: now)
        turn.unheld.append(run)
      } else {
        setAsked(run, true)
        turn.withdrawals.append(run)
      }
    }
  }

  /// Marks all runs in launchers' queues as asked back, outside of a turn, and returns those that were not yet.
  func askAllBack() -> [RunID] {
    let runs = claims.values.filter { !$0.isHeld && !$0.isAskedBack }.map(\.entry.run).sorted()
    for run in runs { setAsked(run, true) }
    return runs
  }

  /// Sets whether the launcher was asked to return a run.
  func setAsked(_ run: RunID, _ isAskedBack: Bool) {
    claims[run]?.isAskedBack = isAskedBack
    if let identifier = claims[run]?.entry.identifier { handlers[identifier]?.isAsked(by: isAskedBack ? 1 : -1) }
  }

  // MARK: Deadlines

  /// When handed-out or newly begun runs need attention; nil if never.
  func nextDuty(now: WallTime) -> WallTime? {
    var next = unrecorded.lazy.compactMap { self.live[$0]?.started }.min().map { $0 + HandlerState.patience }
    for moment in [pauses.nextEnd, nextObjective(now: now)] { if let moment { next = min(next ?? moment, moment) } }
    guard !claims.isEmpty else { return next }
    for handler in claiming {
      if let time = handler.stuckAt { next = min(next ?? time, time) }
    }
    return next
  }

  /// Whether a turn has work at `now` besides due requests.
  func hasDuty(now: WallTime) -> Bool {
    guard storeTrouble == nil else { return false }
    if !overdueFound.isEmpty || !forsaken.isEmpty { return true }
    if let next = nextDuty(now: now), next <= now { return true }
    guard !claims.isEmpty else { return false }
    return conditionsChanged || claiming.contains { mustGiveBack($0, now: now) }
  }

  // MARK: What the host lacks

  /// Notes that the launcher could not begin runs of the handler because the host lacks something.
  func isShort(_ identifier: TaskIdentifier, _ sentence: String, _ cause: ShortageCause, now: WallTime) {
    guard let handler = handlers[identifier] else { return }
    if handler.shortage == nil {
      handler.shortage = HostShortage(sentence, cause, now: now)
    } else {
      handler.shortage?.failed(sentence, cause, now: now)
    }
  }
}
