import CalendarTime
import TaskModel

// Notifications. Incidents become task requests in the commit in which they happen, so that no crash comes between the two, and so that
// retries, history and explanations are those of every request. A rule has at most one notification that waits; further incidents join it.

extension SchedulerCore {
  private static let stateKey = "troubles"

  /// Reads what was told before, by the rules of a policy; nil if it has none.
  func noticeBook(_ policy: NoticePolicy, _ store: any RequestStore) throws(StoreError) -> NoticeBook? {
    guard !policy.rules.isEmpty else { return nil }
    var book = NoticeBook(policy.rules)
    do { if let stored = try store.stateValue(Self.stateKey, of: .notifications) { book.restore(stored) } } catch {
      // Without what was told before, some may be told twice.
      guard case .damagedValue = error else { throw error }
    }
    if !book.thresholds.isEmpty {
      for schedule in try store.schedules(limit: 10_000, onlyFailing: true) {
        book.restore(failures: schedule.failures, of: NoticeBook.Subject(identifier: schedule.identifier, key: schedule.key))
      }
    }
    for place in book.slots.indices {
      let rule = book.slots[place].rule
      guard let target = rule.target else { continue }
      var query = RequestQuery()
      (query.identifier, query.tag, query.limit) = (target, rule.tag, rule.perHour)
      for record in try store.requests(query).reversed() {
        book.slots[place].note(start: max(record.submitted, record.request.earliestBegin ?? record.submitted))
        book.slots[place].open = record.isUntouched ? record.id : nil
      }
    }
    return book
  }

  /// Notes that a request failed for good, or an occurrence of it.
  func noteFailed(_ record: RequestRecord, run: RunRecord?, _ message: String?, now: WallTime) {
    guard let notices, !notices.tellers.contains(record.request.identifier) else { return }
    var incident = Incident(.failed, of: record.request.identifier, key: record.request.shownKey, at: now)
    (incident.request, incident.run, incident.outcome, incident.message) = (record.id, run?.id, run?.outcome, message)
    turn.incidents.append(incident)
  }

  /// Notes what has become overdue, for the next turn: only a durable turn shows that.
  func noteOverdue(_ states: [ObjectiveState], now: WallTime) {
    guard let notices else { return }
    for state in states where state.overdueSince != nil {
      guard !notices.isTold(.overdue, of: NoticeBook.Subject(identifier: state.identifier, key: nil)) else { continue }
      var incident = Incident(.overdue, of: state.identifier, at: now)
      let within = state.expectWithin.map { Self.text($0) } ?? "its time"
      let last = state.lastSuccess.map { "the last success was \(RFC3339.format($0) ?? "long ago")" } ?? "there was none before"
      incident.message = "no run has succeeded within \(within): \(last)"
      overdueFound.append(incident)
    }
  }

  /// Submits notifications of what has happened in this turn until now.
  func tellNotices(_ transaction: any StoreTransaction, now: WallTime) throws {
    guard var book = notices else { return overdueFound = [] }
    let found = try incidents(&book, transaction, now: now)
    guard !found.isEmpty || book.hasChanged || book.revision != notices?.revision else { return }
    turn.noticesBefore = turn.noticesBefore ?? notices
    if book.hasChanged {
      try transaction.setState(Self.stateKey, to: book.stored, of: .notifications)
      book.hasChanged = false
    }
    for place in book.slots.indices {
      let covered = found.filter(book.slots[place].rule.covers)
      guard !covered.isEmpty, book.slots[place].rule.target != nil else { continue }
      let step = try tell(covered, &book.slots[place], transaction, now: now)
      turn.told.append((book.slots[place].rule.name, step))
    }
    turn.found += found
    notices = book
  }

  /// What has happened since the last call, in the order in which it happened.
  private func incidents(_ book: inout NoticeBook, _ transaction: any StoreTransaction, now: WallTime) throws -> [Incident] {
    var found: [Incident] = []
    func add(_ incident: Incident, _ book: inout NoticeBook, key: String?) {
      found.append(incident)
      guard incident.kind.recovers, book.slots.contains(where: { !$0.rule.isSilent && $0.rule.covers(incident) }) else { return }
      book.note(incident.kind, of: NoticeBook.Subject(identifier: incident.identifier, key: key))
    }
    turn.overdueTaken += overdueFound
    for incident in overdueFound where !book.isTold(.overdue, of: NoticeBook.Subject(identifier: incident.identifier, key: nil)) {
      add(incident, &book, key: nil)
    }
    overdueFound = []
    for change in turn.pluginHealth[turn.noticedHealth...] {
      guard let health = change.health, health.isQuarantined, change.before?.isQuarantined != true else { continue }
      guard !book.tellers.contains(change.identifier) else { continue }
      var incident = Incident(.quarantined, of: change.identifier, at: now)
      incident.message = health.lastTrouble
      found.append(incident)
    }
    turn.noticedHealth = turn.pluginHealth.count

    var failed: [RunID: Incident] = [:]
    var runless: [Incident] = []
    for incident in turn.incidents { if let run = incident.run { failed[run] = incident } else { runless.append(incident) } }
    turn.incidents = []
    for run in turn.history[turn.noticedHistory...] where !book.tellers.contains(run.identifier) {
      let failure = failed.removeValue(forKey: run.id)
      guard let outcome = run.outcome else { continue }
      let matters = outcome.isSuccess ? book.concerns(run.identifier) : failure != nil || outcome.isFailure && !book.thresholds.isEmpty
      guard matters else { continue }
      let request = try transaction.request(run.request)?.request
      let subject = NoticeBook.Subject(identifier: run.identifier, key: request?.uniqueKey)
      if outcome.isSuccess {
        guard book.recover(subject) else { continue }
        found.append(Incident(.recovered, of: run, key: request?.shownKey, at: now))
        continue
      }
      if outcome.isFailure, let count = book.countFailure(of: subject), book.thresholds.contains(count) {
        var incident = Incident(.failing, of: run, key: request?.shownKey, at: now)
        (incident.failures, incident.message) = (count, run.report.message)
        add(incident, &book, key: subject.key)
      }
      if let failure { add(failure, &book, key: subject.key) }
    }
    turn.noticedHistory = turn.history.count
    for incident in runless + failed.values {
      let key = try incident.request.flatMap { try transaction.request($0)?.request.uniqueKey }
      add(incident, &book, key: key)
    }
    return found
  }

  /// Adds incidents to the rule's notification that waits, or submits one.
  private func tell(
    _ incidents: [Incident], _ slot: inout NoticeBook.Slot, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> NoticeStep {
    guard let target = slot.rule.target else { return .grouped }
    func payload(_ start: NoticeDocument) -> [UInt8] {
      var document = start
      for incident in incidents { document.add(incident) }
      return document.bytes(rule: slot.rule, host: policy.notices.host)
    }
    if let open = slot.open, var record = try transaction.request(open), record.isUntouched,
      let stored = try legiblePayload(of: open, transaction), let document = NoticeDocument(stored)
    {
      record.request.payload = payload(document)
      try transaction.rewrite(record)
      return .grouped
    }
    let start = slot.nextStart(now: now)
    let request = TaskRequest(
      identifier: target, payload: payload(NoticeDocument()), earliestBegin: start > now ? start : nil,
      priority: Limits.priorities.upperBound, tags: [slot.rule.tag], clock: .boot)
    let before = turn.setMark()
    do {
      slot.open = try transaction.savepoint { try submit(request, by: .completion, transaction, now: now).id }
      slot.note(start: start)
      return .submitted
    } catch let refusal as RequestRefusal {
      takeBack(to: before)
      return .refused(refusal.message)
    }
  }
}

extension Incident {
  fileprivate init(_ kind: Kind, of run: RunRecord, key: String?, at time: WallTime) {
    self.init(kind, of: run.identifier, key: key, at: time)
    (request, self.run, outcome) = (run.request, run.id, run.outcome)
  }
}

extension TaskRequest {
  /// The unique key, without that of the identifier's `schedule`.
  fileprivate var shownKey: String? { isSchedule ? nil : uniqueKey }
}

extension RequestRecord {
  /// Whether no run of it has ever begun, so that nobody can know its payload yet.
  fileprivate var isUntouched: Bool { state == .pending && attemptsSpent == 0 && losses == 0 && started == nil && lastOutcome == nil }
}
