import GRDB
public import TaskModel

extension SQLiteRequestStore {
  /// On a reading connection.
  public func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] {
    try read { database in
      let sql = "SELECT predecessor, on_failure, ended, output FROM edges WHERE request = ? ORDER BY rowid"
      return try PreparedStatement(database, sql).rows(.integer(id.sequence)) { row in
        DependencyRecord(
          predecessor: RequestID(sequence: row.integer(0), origin: origin),
          onFailure: try Dependency.FailurePolicy(stored: row.integer(1)), ended: try RequestState.optional(row.optionalInteger(2)),
          output: row.blob(3))
      }
    }
  }

  /// On a reading connection.
  public func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord] {
    try read { database in
      let sql = "SELECT \(RunColumns.list) FROM runs WHERE id IN (SELECT max(id) FROM runs GROUP BY identifier)"
      let runs = try PreparedStatement(database, sql).rows { row in
        try RunColumns.record(row, origin: origin) { try identifiers.name(of: $0, in: database) }
      }
      return Dictionary(runs.map { ($0.identifier, $0) }) { first, _ in first }
    }
  }
}
