import GRDB
public import TaskModel

extension SQLiteRequestStore {
  /// Uses a reading connection.
  public func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    try read { database in
      let numbers = try identifiers.compactMap { try self.identifiers.existingNumber(of: $0, in: database) }
      guard !numbers.isEmpty else { return PendingPage() }
      let select = try PreparedStatement(database, Self.payloadSQL)
      return try PendingPage(of: try waiting(of: numbers, after: request, database)) { id in
        // One that does not open must not hide the others.
        try legiblePayload(id.sequence, by: select)
      }
    }
  }

  /// At most one page of requests, without their payloads.
  private func waiting(of numbers: [Int64], after request: RequestID?, _ database: Database) throws -> [RequestRecord] {
    let (after, limit) = (numbers.count + 1, numbers.count + 2)
    let sql = """
      SELECT \(RequestColumns.list) FROM requests
      WHERE id IN (\(RequestColumns.waiting(of: numbers.count))) AND id > ?\(after) ORDER BY id LIMIT ?\(limit)
      """
    var values = numbers.map { PreparedStatement.Value.integer($0) }
    values += [.integer(request?.sequence ?? -1), .integer(Int64(PendingPage.requestLimit))]
    return try PreparedStatement(database, sql).rows(values) { try record($0, database) }
  }
}
