import GRDB
public import TaskModel

extension SQLiteRequestStore {
  /// Uses a reading connection.
  public func schedules(limit: Int, onlyFailing: Bool) throws(StoreError) -> [ScheduleRecord] {
    try read { database in
      var found: Set<Int64> = []
      var schedules: [ScheduleRecord] = []
      let columns = "s.id, s.identifier, s.kind, s.name, s.success_ms, s.failures, s.failing_since_ms, s.run"
      let order = "ORDER BY s.identifier, s.kind, s.name LIMIT ?"
      let statements = try ScheduleStatements(database)
      let failing = "SELECT \(columns) FROM schedules s INDEXED BY schedules_failing WHERE s.failures > 0 \(order)"
      for sql in [failing] + (onlyFailing ? [] : ["SELECT \(columns) FROM schedules s \(order)"]) where found.count < limit {
        for row in try PreparedStatement(database, sql).rows(.integer(Int64(limit)), read: Self.row) where found.count < limit {
          // A finished repeating request without a key has no name.
          if found.insert(row.id).inserted, let schedule = try schedule(row, statements, database) { schedules.append(schedule) }
        }
      }
      if onlyFailing { return ScheduleRecord.listed(schedules) }
      let shown = Set(schedules.compactMap(\.request?.id))
      let sql = """
        SELECT \(RequestColumns.list) FROM requests INDEXED BY requests_repeating WHERE repeats <> 0 AND state < 50 ORDER BY id LIMIT ?
        """
      let repeating = try PreparedStatement(database, sql).rows(.integer(Int64(limit + shown.count))) { try record($0, database) }
      for record in repeating.filter({ !shown.contains($0.id) }).prefix(limit) {
        schedules.append(ScheduleRecord(identifier: record.request.identifier, key: record.request.uniqueKey, request: record))
      }
      return ScheduleRecord.listed(schedules)
    }
  }

  /// Uses a reading connection. Reads every schedule.
  public func scheduleSums() throws(StoreError) -> [TaskIdentifier: ScheduleSum] {
    try read { database in
      let sql = "SELECT identifier, max(success_ms), max(failures) FROM schedules GROUP BY identifier"
      let sums = try PreparedStatement(database, sql).rows { row in
        (
          try identifiers.name(of: row.integer(0), in: database),
          ScheduleSum(lastSuccess: row.optionalInteger(1).map(WallTime.init(unixMilliseconds:)), failures: Int(row.integer(2)))
        )
      }
      return Dictionary(sums) { first, _ in first }
    }
  }

  private struct Row {
    let id, identifier: Int64
    let kind: StoredScheduleKind
    let name: String
    let success, failingSince, run: Int64?
    let failures: Int
  }

  private static func row(_ row: borrowing PreparedStatement.Columns) throws -> Row {
    Row(
      id: row.integer(0), identifier: row.integer(1), kind: try StoredScheduleKind(stored: row.integer(2)), name: row.text(3),
      success: row.optionalInteger(4), failingSince: row.optionalInteger(6), run: row.optionalInteger(7), failures: Int(row.integer(5)))
  }

  /// The queries for each schedule, prepared once: preparing a statement takes longer than running it.
  private struct ScheduleStatements {
    let byKey, byID, run: PreparedStatement

    init(_ database: Database) throws {
      let live = "SELECT \(RequestColumns.list) FROM requests WHERE state < 50 AND"
      byKey = try PreparedStatement(database, "\(live) identifier = ? AND unique_key = ?")
      byID = try PreparedStatement(database, "\(live) id = ?")
      run = try PreparedStatement(database, "SELECT \(RunColumns.list) FROM runs WHERE id = ?")
    }
  }

  private func schedule(_ row: Row, _ statements: ScheduleStatements, _ database: Database) throws -> ScheduleRecord? {
    var schedule = ScheduleRecord(
      identifier: try identifiers.name(of: row.identifier, in: database), lastSuccess: row.success.map(WallTime.init(unixMilliseconds:)),
      failures: row.failures, failingSince: row.failingSince.map(WallTime.init(unixMilliseconds:)))
    switch row.kind {
    case .others: break
    case .key:
      schedule.key = row.name
      let values: [PreparedStatement.Value] = [.integer(row.identifier), .text(row.name)]
      schedule.request = try statements.byKey.rows(values) { try record($0, database) }.first
    case .request:
      schedule.request = try statements.byID.rows(.integer(Int64(row.name) ?? 0)) { try record($0, database) }.first
      if schedule.request == nil { return nil }
    }
    if let run = row.run {
      schedule.lastRun = try statements.run.rows(.integer(run)) { try self.run($0, database) }.first
    }
    return schedule
  }

  /// Uses a reading connection. Checks each lane, not each request.
  public func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord] {
    try read { database in
      let lanes = try Int64.fetchAll(database, sql: "SELECT id FROM lanes ORDER BY id LIMIT 4096")
      let next = try PreparedStatement(
        database,
        """
        SELECT priority FROM requests INDEXED BY requests_pending WHERE state = 20 AND lane = ? AND priority < ?
        ORDER BY priority DESC LIMIT 1
        """)
      let first = try PreparedStatement(
        database,
        """
        SELECT \(RequestColumns.list) FROM requests INDEXED BY requests_pending WHERE state = 20 AND lane = ? AND priority = ?
          AND due_ms <= ? ORDER BY due_ms LIMIT 1
        """)
      var found: [RequestRecord] = []
      for lane in lanes {
        var oldest: RequestRecord?
        var priority = Int64(Limits.priorities.upperBound) + 1
        while let below = try next.rows(.integer(lane), .integer(priority), read: { $0.integer(0) }).first {
          priority = below
          let values: [PreparedStatement.Value] = [.integer(lane), .integer(priority), .integer(time.unixMilliseconds)]
          guard let record = try first.rows(values, read: { try record($0, database) }).first else { continue }
          if oldest.map({ (record.due, record.id) < ($0.due, $0.id) }) ?? true { oldest = record }
        }
        if let oldest { found.append(oldest) }
      }
      return found.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }
  }
}
