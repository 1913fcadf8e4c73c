import GRDB
import TaskModel

extension SQLiteTransaction {
  func due(in lane: Lane, by now: WallTime, limit: Int) throws -> [DueRequest] {
    guard let number = try lanes.existingNumber(of: lane, in: database) else { return [] }
    var offers: [DueRequest] = []
    try forEachPriority(in: number) { priority in
      offers += try statements.due.rows(.integer(number), .integer(priority), .integer(now.unixMilliseconds), .integer(Int64(limit))) {
        DueRequest(
          id: RequestID(sequence: $0.integer(0), origin: origin), due: WallTime(stored: $0.integer(1)), priority: Int(priority),
          attemptsSpent: StoredNumber.count($0.integer(2)), isRepeating: $0.integer(3) != 0)
      }
    }
    return DueRequest.best(of: offers, limit: limit)
  }

  func nextDue(in lane: Lane) throws -> WallTime? {
    guard let number = try lanes.existingNumber(of: lane, in: database), let first = try firstDue(in: number) else { return nil }
    return first.due < .distantFuture ? first.due : nil
  }

  func firstPending(of identifier: TaskIdentifier) throws -> RequestRecord? {
    guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return nil }
    var first: (id: RequestID, due: WallTime)?
    for lane in try Int64.fetchAll(database, sql: "SELECT id FROM lanes WHERE identifier = ?", arguments: [number]) {
      guard let offer = try firstDue(in: lane) else { continue }
      if first.map({ offer.due < $0.due }) ?? true { first = offer }
    }
    return try first.flatMap { try request($0.id) }
  }

  private func firstDue(in lane: Int64) throws -> (id: RequestID, due: WallTime)? {
    var first: (id: RequestID, due: WallTime)?
    try forEachPriority(in: lane) { priority in
      let offer = try statements.firstDue.rows(.integer(lane), .integer(priority)) {
        (id: RequestID(sequence: $0.integer(0), origin: origin), due: WallTime(stored: $0.integer(1)))
      }.first
      if let offer, first.map({ offer.due < $0.due }) ?? true { first = offer }
    }
    return first
  }

  /// Visits the priorities of a lane's pending requests, highest first. Few are in use at a time; each takes one step in the index.
  private func forEachPriority(in lane: Int64, _ body: (Int64) throws -> Void) throws {
    var priority = Int64(Limits.priorities.upperBound) + 1
    while let next = try statements.nextPriority.rows(.integer(lane), .integer(priority), read: { $0.integer(0) }).first {
      priority = next
      try body(next)
    }
  }

  // MARK: Deadlines

  func pastDeadline(by now: WallTime, limit: Int) throws -> [RequestRecord] {
    let sql = """
      SELECT \(RequestColumns.list) FROM requests INDEXED BY requests_deadline
      WHERE deadline_ms IS NOT NULL AND relaxed = 0 AND state = 20 AND deadline_ms <= ? ORDER BY deadline_ms LIMIT ?
      """
    return try PreparedStatement(database, sql).rows(.integer(now.unixMilliseconds), .integer(Int64(limit)), read: record)
  }

  func nextDeadline() throws -> WallTime? {
    try statements.nextDeadline.rows { WallTime(stored: $0.integer(0)) }.first
  }

  // MARK: Clocks

  func clockReference() throws -> ClockReference? {
    try PreparedStatement(database, "SELECT boot, offset_ms FROM clock").rows { ClockReference(boot: $0.text(0), offset: $0.integer(1)) }
      .first
  }

  func setClockReference(_ reference: ClockReference) throws {
    try PreparedStatement(database, "INSERT OR REPLACE INTO clock (id, boot, offset_ms) VALUES (1, ?, ?)").run(
      .text(reference.boot), .integer(reference.offset))
  }

  func shiftBootTimes(by distance: Duration) throws {
    let farthest = WallTime.movable.upperBound.unixMilliseconds
    try PreparedStatement(
      database,
      """
      UPDATE requests SET due_ms = due_ms + ?1,
        earliest_begin_ms = CASE WHEN earliest_begin_ms BETWEEN -?2 AND ?2 THEN earliest_begin_ms + ?1 ELSE earliest_begin_ms END,
        started_ms = CASE WHEN started_ms BETWEEN -?2 AND ?2 THEN started_ms + ?1 ELSE started_ms END,
        occurrence_ms = CASE WHEN occurrence_ms BETWEEN -?2 AND ?2 THEN occurrence_ms + ?1 ELSE occurrence_ms END
      WHERE state < 50 AND clock = 10 AND due_ms BETWEEN -?2 AND ?2
      """
    ).run(.integer(min(max(distance.wholeMilliseconds, -farthest), farthest)), .integer(farthest))
  }

  func shiftWaits(by distance: Duration, passed: WallTime) throws {
    let farthest = WallTime.movable.upperBound.unixMilliseconds
    try PreparedStatement(
      database,
      """
      UPDATE requests SET due_ms = due_ms + ?1
      WHERE state < 50 AND clock = 0 AND repeats = 0 AND event IS NULL AND due_ms BETWEEN -?2 AND ?2 AND (?1 < 0 OR due_ms > ?3)
        AND (earliest_begin_ms IS NULL OR last_outcome IS NOT NULL)
      """
    ).run(
      .integer(min(max(distance.wholeMilliseconds, -farthest), farthest)), .integer(farthest), .integer(passed.unixMilliseconds))
  }

  func repeatingByCalendar() throws -> [RequestRecord] {
    // Reads every live request. Called only after a clock was set.
    try PreparedStatement(
      database, "SELECT \(RequestColumns.list) FROM requests WHERE state IN (20, 40) AND clock = 0 AND repeats IN (10, 20) ORDER BY id"
    ).rows(read: record)
  }
}
