import GRDB
public import TaskModel

extension SQLiteRequestStore {
  /// Uses a reading connection.
  ///
  /// Goes through short rows of an index or of the table in the order of ids, and reads the records of those whose state and identifier
  /// match. It stops after ``RequestScan/rows`` of them, and earlier if many records are rejected.
  public func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests {
    try read { database in
      let numbers = scan.identifiers.isEmpty ? nil : try identifiers.numbers(of: scan.identifiers, in: database)
      var found = ScannedRequests()
      if let numbers, numbers.isEmpty { return found }
      let states = Set(scan.states.map(\.stored))
      let whole = try PreparedStatement(database, "SELECT \(RequestColumns.list) FROM requests WHERE id = ?")
      let payload = try PreparedStatement(database, Self.payloadSQL)
      var (rows, rejected, bytes) = (0, 0, 0)
      let (sql, values) = try Self.source(scan, numbers, database)
      let isDone = try PreparedStatement(database, sql).visit(values) { row in
        let sequence = row.integer(0)
        rows += 1
        if row.optionalInteger(2).map({ states.isEmpty || states.contains($0) }) ?? true,
          row.optionalInteger(1).flatMap({ numbers?.contains($0) }) ?? true,
          var record = try whole.rows(.integer(sequence), read: { try self.record($0, database) }).first
        {
          if scan.readsPayload, scan.covers(record) {
            // A payload that does not open matches nothing.
            record.request.payload = try legiblePayload(sequence, by: payload)
            bytes += record.request.payload.count
          }
          if scan.covers(record), accepts(record) {
            record.request.payload = []
            found.records.append(record)
          } else {
            rejected += 1
          }
        }
        let goesOn =
          found.records.count < max(1, scan.limit) && rows < RequestScan.rows && rejected < RequestScan.rejected
          && bytes < RequestScan.payloadBytes
        if !goesOn { found.next = RequestID(sequence: sequence, origin: origin) }
        return goesOn
      }
      if isDone { found.next = nil }
      return found
    }
  }

  /// Selects id, identifier and state in the order of the scan; the last two are NULL if they match anyway.
  private static func source(
    _ scan: RequestScan, _ numbers: Set<Int64>?, _ database: Database
  ) throws -> (sql: String, values: [PreparedStatement.Value]) {
    let (direction, follows) = scan.oldestFirst ? ("ASC", ">") : ("DESC", "<")
    let cursor: [PreparedStatement.Value] = [.integer(scan.after?.sequence ?? (scan.oldestFirst ? -1 : .max))]
    func after(_ id: String) -> String { "\(id) \(follows) ?1 ORDER BY \(id) \(direction)" }
    if let ids = scan.id?.sequences {
      let sql = "SELECT id, identifier, state FROM requests NOT INDEXED WHERE id BETWEEN ?2 AND ?3 AND \(after("id"))"
      return (sql, cursor + [.integer(ids.lowerBound), .integer(ids.upperBound)])
    }
    // An index has the ids of a state in another order. Sorting few of them costs less than passing all other requests.
    if numbers.map({ $0.count <= 500 }) ?? true, !scan.states.isEmpty || numbers != nil {
      let list = numbers.map { $0.map(String.init).joined(separator: ", ") }
      let states = scan.states.isEmpty ? RequestState.allCases : scan.states
      let condition = "state IN (\(states.map { String($0.stored) }.joined(separator: ", ")))"
      let counted = "SELECT total(requests) FROM request_counts WHERE \(condition)" + (list.map { " AND identifier IN (\($0))" } ?? "")
      let matching = try PreparedStatement(database, counted).rows { $0.integer(0) }.first ?? 0
      if matching <= Int64(RequestScan.rows) {
        let ids = Set(states).map { RequestListing.indexed($0, of: list) }.sorted().joined(separator: " UNION ALL ")
        return ("SELECT id, NULL, NULL FROM (\(ids)) WHERE \(after("id"))", cursor)
      }
    }
    if let names = scan.tags.first, names.count == 1, let name = names.first {
      let sql = "SELECT request, identifier, state FROM request_tags CROSS JOIN requests ON id = request WHERE tag = ?2 AND "
      return (sql + after("request"), cursor + [.text(name)])
    }
    return ("SELECT id, identifier, state FROM requests NOT INDEXED WHERE \(after("id"))", cursor)
  }
}
