import TaskModel

extension SchedulerCore {
  /// Postpones a waiting request until `time`, but not before its own time and not beyond its next occurrence.
  func snooze(_ id: RequestID, until time: WallTime, _ transaction: any StoreTransaction, now: WallTime) throws -> SnoozedRequest {
    var record = try find(id, transaction)
    try requireHere(record)
    guard [.pending, .blocked].contains(record.state) else {
      throw RequestRefusal(.conflict, "request \(id) \(Self.ending(record.state)): only a waiting request can be postponed")
    }
    if let event = record.request.event, record.due == .distantFuture {
      throw RequestRefusal(
        .conflict, "request \(id) waits for the event \(event.name), not for a time: cancel it, or let it wait",
        reason: "it waits for an event, not for a time")
    }
    guard time > now, time <= WallTime.calendar.upperBound else {
      throw RequestRefusal(
        .invalid, "\(time > now ? "that time is after the year 9999: name an earlier one" : "that time has passed: name a later one")")
    }
    var notes: [String] = []
    var due = time
    if let floor = ownTime(of: record), floor > due {
      due = floor
      notes.append("it cannot start before its own time, in \(Self.text(floor - now)): it is postponed until then")
    }
    if let rule = record.request.repetition, let occurrence = record.occurrence, record.missedLeft == 0 {
      notes.append("it repeats: only this occurrence is postponed")
      let offset = offset(of: record)
      let next = occurrences.next(rule, after: occurrence, now: max(now.moved(by: .zero - offset), occurrence)).moved(by: offset)
      if next < due {
        due = next
        notes.append("its next occurrence, in \(Self.text(next - now)), replaces this one")
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
      notes.append("it also waits for \(record.blockedBy?.description ?? "another")")
    }
    note(record)
    return SnoozedRequest(record: record, notes: notes)
  }

  /// The request's own earliest time, which postponing cannot undercut: its begin time, its occurrence, or the end of its backoff.
  private func ownTime(of record: RequestRecord) -> WallTime? {
    if record.isInBackoff { return record.due }
    if let occurrence = record.occurrence { return record.request.event == nil ? occurrence.moved(by: offset(of: record)) : occurrence }
    guard let begin = record.request.earliestBegin else { return nil }
    // When the wall clock is set, the due time of a delay moves; the time computed at submission does not.
    return record.request.clock == .boot ? record.due : begin.moved(by: offset(of: record))
  }
}
