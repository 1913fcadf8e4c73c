import TaskModel

extension SchedulerCore {
  /// Postpones a waiting request until `time`, but not to before its own time nor beyond its next occurrence.
  func snooze(_ id: RequestID, until time: WallTime, _ transaction: any StoreTransaction, now: WallTime) throws -> SnoozedRequest {
    var record = try find(id, transaction)
    try requireHere(record)
    guard [.pending, .blocked].contains(record.state) else {
      throw RequestRefusal(.conflict, "request \(id) \(Self.ending(record.state)): only one that waits can be put off")
    }
    if let event = record.request.event, record.due == .distantFuture {
      throw RequestRefusal(.conflict, "request \(id) waits for the event \(event.name), not for a time: cancel it, or let it wait")
    }
    guard time > now, time <= WallTime.calendar.upperBound else {
      throw RequestRefusal(.invalid, "\(time > now ? "that lies after the year 9999" : "that time has passed"): name one to come")
    }
    var notes: [String] = []
    var due = time
    if let floor = ownTime(of: record), floor > due {
      due = floor
      notes.append("it is not due before that anyway, but in \(Self.text(floor - now)): it stays at that")
    }
    if let rule = record.request.repetition, let occurrence = record.occurrence, record.missedLeft == 0 {
      notes.append("it repeats: only this occurrence is put off")
      let next = occurrences.next(rule, after: occurrence, now: max(now, occurrence))
      if next < due {
        due = next
        notes.append("its next occurrence comes in \(Self.text(next - now)) and takes this one's place")
      }
    }
    if let deadline = record.request.deadline, due > deadline { notes.append("that is after its deadline") }
    record.due = due
    try transaction.update(record)
    turn.changes += 1
    if record.state == .pending {
      handlers[record.request.identifier]?.forgetDue(of: record)
      becamePending(record)
    } else {
      notes.append("it waits for \(record.blockedBy?.description ?? "another") besides")
    }
    note(record)
    return SnoozedRequest(record: record, notes: notes)
  }

  /// The earliest time of a request that no operator can override: its schedule's time, or the end of its backoff.
  private func ownTime(of record: RequestRecord) -> WallTime? {
    switch record.lastOutcome {
    case .retried, .expired, .crashed: return record.due
    default: break
    }
    if let occurrence = record.occurrence { return occurrence }
    guard let begin = record.request.earliestBegin else { return nil }
    // A delay moves when the wall clock is set, unlike the time it led to at submission.
    return record.request.clock == .boot ? record.due : begin
  }
}
