import GRDB
import TaskModel

extension SQLiteTransaction {
  /// Adds the tags of a request.
  func addTags(of record: RequestRecord) throws {
    for tag in record.request.tags { try statements.insertTag.run(.text(tag), .integer(record.id.sequence)) }
  }

  /// Removes the tags of a request whose row still has them.
  func removeTags(of request: Int64) throws {
    for tags in try statements.tags.rows(.integer(request), read: { $0.text(0) }) {
      for tag in try StoredJSON.decode([String].self, from: tags) { try statements.deleteTag.run(.text(tag), .integer(request)) }
    }
  }

  func live(tagged tag: String, identifier: TaskIdentifier?, after request: RequestID?, limit: Int) throws -> [RequestID] {
    var number: Int64?
    if let identifier {
      guard let known = try identifiers.existingNumber(of: identifier, in: database) else { return [] }
      number = known
    }
    let sql = """
      SELECT request FROM request_tags CROSS JOIN requests ON id = request
      WHERE tag = ?1 AND request > ?2 AND state < 50 AND (?3 IS NULL OR identifier = ?3) ORDER BY request LIMIT ?4
      """
    return try PreparedStatement(database, sql)
      .rows(.text(tag), .integer(request?.sequence ?? -1), .integer(number), .integer(Int64(limit))) {
        RequestID(sequence: $0.integer(0), origin: origin)
      }
  }

  func failed(of identifier: TaskIdentifier?) throws -> [RequestID] {
    var number: Int64?
    if let identifier {
      guard let known = try identifiers.existingNumber(of: identifier, in: database) else { return [] }
      number = known
    }
    // The index contains only ended requests.
    let sql = """
      SELECT id FROM requests INDEXED BY requests_ended
      WHERE state >= 50 AND state = ?1 AND (?2 IS NULL OR identifier = ?2) ORDER BY id
      """
    return try PreparedStatement(database, sql).rows(.integer(RequestState.failed.stored), .integer(number)) {
      RequestID(sequence: $0.integer(0), origin: origin)
    }
  }
}
