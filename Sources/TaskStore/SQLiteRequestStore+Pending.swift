import GRDB
public import TaskModel

extension SQLiteRequestStore {
  /// On a reading connection.
  public func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    try read { database in
      let numbers = try identifiers.compactMap { try self.identifiers.existingNumber(of: $0, in: database) }
      guard !numbers.isEmpty else { return PendingPage() }
      var records = try waiting(of: numbers, after: request, database)
      var last = records.count < PendingPage.requestLimit ? nil : records.last?.id
      records.removeAll(where: \.request.isSchedule)
      let payload = try PreparedStatement(database, "SELECT bytes FROM payloads WHERE request = ?")
      var page = PendingPage()
      var bytes = 0
      for var record in records {
        record.request.payload = try payload.rows(.integer(record.id.sequence)) { $0.blob(0) }.first ?? []
        bytes += record.request.payload.count
        page.requests.append(PendingRequest(record))
        guard bytes < PendingPage.payloadLimit else {
          last = record.id
          break
        }
      }
      page.next = last
      return page
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
