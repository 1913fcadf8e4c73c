import Failpoints
import TaskModel

extension SchedulerCore {
  /// How much later than its times a request starts: the share of its jitter that is its own on this host, or in the host's fleet.
  ///
  /// A request with a unique key keeps its share when it is submitted again. All times of a schedule are late by the same share, so their
  /// distances do not change, and nothing drifts: the schedule's own times are in ``RequestRecord/occurrence``.
  ///
  /// - Source: systemd.timer(5), `FixedRandomDelay=`.
  func offset(of request: TaskRequest, _ id: RequestID) -> Duration {
    guard request.jitter > .zero else { return .zero }
    var hash = StableHash()
    hash.mix(id.origin == fleet ? id.origin : origin)
    hash.mix(request.identifier.rawValue.utf8)
    hash.mix(UInt8(0))
    if let key = request.uniqueKey { hash.mix(key.utf8) } else { hash.mix(id.sequence) }
    return .milliseconds(Int64(clamping: hash.share(of: UInt64(clamping: request.jitter.wholeMilliseconds))))
  }

  func offset(of record: RequestRecord) -> Duration { offset(of: record.request, record.id) }

  /// Decides which occurrence of a due request starts. A due occurrence supersedes a pending retry of the previous one; the request's policy
  /// decides which missed occurrences run.
  ///
  /// - Returns: The attempts spent on the occurrence that starts; nil if none starts now.
  func settleOccurrence(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> Int? {
    guard var record = try transaction.request(id), let rule = record.request.repetition, let occurrence = record.occurrence,
      rule.schedule != .event
    else { return try transaction.request(id)?.attemptsSpent ?? 0 }
    let offset = offset(of: record)
    let awakeSince = id.origin == fleet ? fleetAwakeSince : awakeSince
    // On the clock of the schedule's times, which jitter does not move.
    let time = self.now(for: id, now).moved(by: .zero - offset)
    // What had begun was not missed. Of a host of the fleet that was lost, only the loss is known.
    let hadBegun = record.started.map { $0 >= occurrence.moved(by: offset) } ?? false || id.origin == fleet && record.losses > 0
    if occurrence.moved(by: offset) < awakeSince, record.attemptsSpent == 0 {
      switch rule.missed {
      case .latest: break
      case .skip where !hadBegun && occurrence.moved(by: offset) + record.gates.flex < awakeSince:
        let next = occurrences.next(rule, after: occurrence, now: time)
        record.occurrence = next
        record.due = next.moved(by: offset)
        try transaction.update(record)
        note(record)
        // The fleet's clock says when the next one is due, and any host may have it.
        if id.origin == fleet { try surrender(id, transaction) } else { handlers[record.request.identifier]?.becamePending(record) }
        return nil
      case .skip: break
      case .all(let limit, _):
        catchUp(&record, rule, from: occurrence, by: time, limit: limit)
        try transaction.update(record)
        return 0
      }
    }
    guard record.missedLeft == 0 else { return record.attemptsSpent }
    let latest = occurrence <= time ? occurrences.latest(rule, from: occurrence, by: time) : occurrence
    let isSuperseding = latest > occurrence
    // A run that an operator launched early spent attempts before its occurrence was due.
    let wasEarly =
      record.attemptsSpent > 0 && occurrence <= time && record.started.map { $0 < occurrence.moved(by: offset) } ?? false
    guard isSuperseding || wasEarly else { return record.attemptsSpent }
    if isSuperseding { record.occurrence = latest }
    record.attemptsSpent = 0
    try transaction.update(record)
    return 0
  }

  /// Missed occurrences run from the earliest within the limit; some may date from an earlier downtime.
  private func catchUp(_ record: inout RequestRecord, _ rule: RepeatRule, from occurrence: WallTime, by time: WallTime, limit: Int) {
    let missed = occurrences.latest(rule, from: occurrence, by: time, count: max(1, limit))
    record.missedLeft = missed.count - 1
    record.occurrence = missed.first ?? occurrence
  }

  /// The same for a request of the fleet, whose owners were all lost with the first of them.
  func catchUpMissed(_ record: inout RequestRecord, now: WallTime) {
    guard let rule = record.request.repetition, case .all(let limit, _) = rule.missed, let occurrence = record.occurrence,
      rule.schedule != .event, record.missedLeft == 0
    else { return }
    let offset = offset(of: record)
    guard occurrence.moved(by: offset) < fleetAwakeSince else { return }
    catchUp(&record, rule, from: occurrence, by: now.moved(by: .zero - offset), limit: limit)
  }

  /// Moves a request whose current occurrence has ended to its next one.
  func advance(_ record: inout RequestRecord, now: WallTime) {
    guard let rule = record.request.repetition else { return }
    switch rule.schedule {
    case .event:
      record.due = record.eventDue ?? .distantFuture
      if record.eventDue == nil { record.eventSince = nil }
      record.eventDue = nil
      record.occurrence = record.due
    case .every, .cron:
      let offset = offset(of: record)
      let occurrence = record.occurrence ?? record.due.moved(by: .zero - offset)
      if record.missedLeft > 0, case .all(let limit, let spread) = rule.missed {
        let next = occurrences.following(rule, occurrence)
        let due = max(next.moved(by: offset), now + occurrences.step(rule, after: occurrence, spread: spread))
        // Occurrences that fall due while missed ones run are caught up in the same way.
        let behind = occurrences.latest(rule, from: next, by: due.moved(by: .zero - offset), count: max(1, limit))
        record.missedLeft = behind.count - 1
        record.occurrence = behind.first ?? next
        record.due = due
      } else {
        record.missedLeft = 0
        let next = occurrences.next(rule, after: occurrence, now: now.moved(by: .zero - offset))
        record.occurrence = next
        record.due = next.moved(by: offset)
      }
    }
  }

  // MARK: Deadlines

  /// Relaxes requests past their deadline: of their conditions, only network and power still count.
  func relaxPastDeadlines(_ transaction: any StoreTransaction, now: WallTime) throws {
    guard nextDeadline.isDue(by: now) else { return }
    while true {
      let late = try transaction.pastDeadline(by: now, limit: 500)
      for var record in late { try relax(&record, transaction) }
      if late.count < 500 { break }
    }
    nextDeadline = try transaction.nextDeadline().map { .at($0) } ?? .never
  }

  func relax(_ record: inout RequestRecord, _ transaction: any StoreTransaction) throws {
    record.isRelaxed = true
    try transaction.update(record)
    handlers[record.request.identifier]?.becamePending(record)
    note(record)
  }

  // MARK: Clocks

  /// A smaller difference of the wall clock does not count as setting it.
  private static let clockTolerance = Duration.milliseconds(50)

  /// Handles a change of the wall clock or a sleep of the machine: times on the boot clock keep their distance, calendar times are
  /// recomputed.
  ///
  /// - Parameter slept: Whether nothing could run before.
  func clockChanged(_ reference: ClockReference, slept: Bool, _ transaction: any StoreTransaction, now: WallTime) throws {
    Failpoint.clockChanged.hit()
    // Requests handed out ahead were planned with the old time.
    if !claims.isEmpty { throw ClaimedAhead(identifier: nil) }
    let known = try transaction.clockReference()
    turn.changes += 1
    // A clock that is set does not tell of another moment.
    let awake = slept ? nil : awakeSinceBoot
    awakeSinceBoot = awake ?? now.moved(by: .zero - .milliseconds(reference.offset))
    awakeSince = awake?.moved(by: .milliseconds(reference.offset)) ?? now
    defer { forgetAll() }
    // After a reboot, the boot clock says nothing about times from the previous boot: the calendar decides.
    guard let known, known.boot == reference.boot else { return try transaction.setClockReference(reference) }
    // Smaller differences come from measuring or a slewed clock; the stored reference lets them add up.
    let distance = Duration.milliseconds(reference.offset) - .milliseconds(known.offset)
    guard distance >= Self.clockTolerance || distance <= .zero - Self.clockTolerance else { return }
    try transaction.setClockReference(reference)
    try transaction.shiftBootTimes(by: distance)
    try transaction.shiftWaits(by: distance, passed: now.moved(by: .zero - distance))
    limits.shift(by: distance)
    for handler in handlers.values { handler.shortage?.shift(by: distance) }
    for (identifier, var health) in pluginHealth {
      guard let until = health.heldUntil else { continue }
      health.heldUntil = until + distance
      try change(identifier, to: health, incident: incidents[identifier], transaction)
    }
    guard distance < .zero else { return }
    for var record in try transaction.repeatingByCalendar() where record.id.origin != fleet && planAgain(&record, by: distance, now: now) {
      try transaction.update(record)
      note(record)
    }
  }

  /// The clock was set back: times of the calendar up to the next occurrence come again. Returns whether that changes anything.
  private func planAgain(_ record: inout RequestRecord, by distance: Duration, now: WallTime) -> Bool {
    guard let rule = record.request.repetition, let occurrence = record.occurrence else { return false }
    let offset = offset(of: record)
    let time = now.moved(by: .zero - offset)
    let isAhead = occurrence > time.moved(by: .zero - distance)
    let (known, due) = (record.due, record.due.moved(by: distance))
    if record.state == .pending, isAhead, record.attemptsSpent == 0 {
      let first = max(time, record.request.earliestBegin ?? time)
      let next = min(occurrence, occurrences.following(rule, occurrences.passed(rule, like: occurrence, by: first + .milliseconds(-1))))
      let planned = occurrence.moved(by: offset)
      record.occurrence = next
      // Somebody may have postponed it, or let it begin at once: it waits as long as before.
      if known >= planned { record.due = next.moved(by: offset) }
      if known != planned { record.due = known > planned ? max(record.due, due) : due }
    } else {
      // It runs, or waits for its next attempt, or for its turn: for as long as before. Its occurrence has passed, and would come again.
      if !isAhead { record.occurrence = occurrences.passed(rule, like: occurrence, by: time) }
      if record.state == .pending { record.due = due }
    }
    return record.due != known || record.occurrence != occurrence
  }
}
