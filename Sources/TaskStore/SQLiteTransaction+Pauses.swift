import GRDB
import TaskModel

extension SQLiteTransaction {
  func pauses() throws -> [Pause] {
    try PreparedStatement(database, "SELECT id, filter, by, user, reason, since_ms, until_ms FROM pauses ORDER BY id").rows { row in
      let order = PauseOrder(
        filter: row.text(1), by: row.text(2), user: row.optionalInteger(3).map { UInt32(truncatingIfNeeded: $0) },
        reason: row.optionalText(4), until: row.optionalInteger(6).map(WallTime.init(stored:)))
      return Pause(id: PauseID(row.integer(0)), order: order, since: WallTime(stored: row.integer(5)))
    }
  }

  func addPause(_ order: PauseOrder, since: WallTime) throws -> Pause {
    try PreparedStatement(
      database, "INSERT INTO pauses (filter, by, user, reason, since_ms, until_ms) VALUES (?, ?, ?, ?, ?, ?)"
    ).run(
      .text(order.filter), .text(order.by), .integer(order.user.map(Int64.init)), .text(order.reason), .integer(since.unixMilliseconds),
      .integer(order.until?.unixMilliseconds))
    return Pause(id: PauseID(database.lastInsertedRowID), order: order, since: since)
  }

  func removePause(_ id: PauseID) throws {
    try PreparedStatement(database, "DELETE FROM pauses WHERE id = ?").run(.integer(id.number))
  }
}
