import GRDB
public import TaskModel

extension SQLiteRequestStore {
  /// Uses a reading connection. Reads counters, not requests.
  public func counts() throws(StoreError) -> [RequestState: Int] { try read { try RequestCounts.stored($0) } }

  /// Uses a reading connection. Searches for the oldest failure only if there are at most 20,000 dead letters.
  public func deadLetters() throws(StoreError) -> [DeadLetters] {
    try read { database in
      let failed = PreparedStatement.Value.integer(RequestState.failed.stored)
      let counts = try PreparedStatement(database, "SELECT identifier, requests FROM request_counts WHERE state = ? AND requests > 0")
        .rows(failed) { (number: $0.integer(0), count: Int($0.integer(1))) }
      var oldest: [Int64: WallTime] = [:]
      if counts.reduce(0, { $0 + $1.count }) <= 20_000 {
        let sql = """
          SELECT identifier, min(ended_ms) FROM requests INDEXED BY requests_ended WHERE state >= 50 AND state = ? GROUP BY identifier
          """
        for row in try PreparedStatement(database, sql).rows(failed, read: { ($0.integer(0), $0.optionalInteger(1)) }) {
          oldest[row.0] = row.1.map(WallTime.init(unixMilliseconds:))
        }
      }
      return try counts.map { number, count in
        DeadLetters(identifier: try identifiers.name(of: number, in: database), count: count, oldest: oldest[number])
      }.sorted { $0.identifier < $1.identifier }
    }
  }

  /// Uses a reading connection.
  public func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] {
    try read { database in
      try PreparedStatement(database, EdgeColumns.ofRequest).rows(.integer(id.sequence)) {
        try EdgeColumns.record($0, of: id.sequence, origin: origin, seals)
      }
    }
  }

  /// Uses a reading connection.
  public func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord] {
    try read { database in
      let sql = "SELECT \(RunColumns.list) FROM runs WHERE id IN (SELECT max(id) FROM runs GROUP BY identifier)"
      let runs = try PreparedStatement(database, sql).rows { try run($0, database) }
      return Dictionary(runs.map { ($0.identifier, $0) }) { first, _ in first }
    }
  }
}
