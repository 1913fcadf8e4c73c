import GRDB
public import TaskModel

extension SQLiteRequestStore {
  /// On a reading connection; looks at the identifiers, not at the requests.
  public func counts() throws(StoreError) -> [RequestState: Int] { try read { try RequestCounts.stored($0) } }

  /// On a reading connection.
  public func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] {
    try read { database in
      try PreparedStatement(database, EdgeColumns.ofRequest).rows(.integer(id.sequence)) { try EdgeColumns.record($0, origin: origin) }
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
