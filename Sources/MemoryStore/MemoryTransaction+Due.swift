import TaskModel

extension MemoryTransaction {
  func due(in lane: Lane, by now: WallTime, limit: Int) throws -> [DueRequest] {
    guard let memory = lanes[lane], memory.count > 0 else { return [] }
    var offers: [DueRequest] = []
    memory.due(by: now.unixMilliseconds, limit: limit) { key, priority in
      guard let record = rows[key.id]?.record else { return }
      offers.append(
        DueRequest(
          id: record.id, due: record.due, priority: priority, attemptsSpent: record.attemptsSpent, isRepeating: record.isRepeating))
    }
    return DueRequest.best(of: offers, limit: limit)
  }

  func nextDue(in lane: Lane) throws -> WallTime? {
    guard let first = lanes[lane]?.first, first.rank < WallTime.distantFuture.unixMilliseconds else { return nil }
    return WallTime(unixMilliseconds: first.rank)
  }

  // MARK: Deadlines

  func pastDeadline(by now: WallTime, limit: Int) throws -> [RequestRecord] {
    deadlines.prefix(through: now.unixMilliseconds, limit: limit).compactMap { rows[$0.id]?.record }
  }

  func nextDeadline() throws -> WallTime? { deadlines.first.map { WallTime(unixMilliseconds: $0.rank) } }

  // MARK: Clocks

  func clockReference() throws -> ClockReference? { clock }

  func setClockReference(_ reference: ClockReference) throws { set(reference, over: clock) { $0.clock = $1 } }

  func shiftBootTimes(by distance: Duration) throws {
    for row in Array(rows.values) where !row.record.state.isFinal && row.record.request.clock == .boot {
      guard WallTime.movable.contains(row.record.due) else { continue }
      var new = row.record
      new.due = new.due.moved(by: distance)
      new.request.earliestBegin = new.request.earliestBegin?.moved(by: distance)
      new.started = new.started?.moved(by: distance)
      new.occurrence = new.occurrence?.moved(by: distance)
      try change(row, to: new, lane: nil)
    }
  }

  func shiftWaits(by distance: Duration, passed: WallTime) throws {
    for row in Array(rows.values) where !row.record.state.isFinal && row.record.request.clock == .wall {
      guard row.record.request.repetition == nil, row.record.request.event == nil, WallTime.movable.contains(row.record.due),
        row.record.request.earliestBegin == nil || row.record.lastOutcome != nil, distance < .zero || row.record.due > passed
      else { continue }
      var new = row.record
      new.due = new.due.moved(by: distance)
      try change(row, to: new, lane: nil)
    }
  }

  func repeatingByCalendar() throws -> [RequestRecord] {
    rows.values.filter { row in
      guard row.record.state == .pending || row.record.state == .running, row.record.request.clock == .wall else { return false }
      switch row.record.request.repetition?.schedule {
      case .every, .cron: return true
      case .event, nil: return false
      }
    }.sorted { $0.sequence < $1.sequence }.map(\.record)
  }
}
