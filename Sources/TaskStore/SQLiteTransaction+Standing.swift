import GRDB
import TaskModel

extension SQLiteTransaction {
  func standings() throws -> [TaskIdentifier: Standing] {
    let sql = "SELECT identifier, strikes, host_crashes, held_until_ms, quarantined_ms, last_trouble FROM standing"
    let rows = try PreparedStatement(database, sql).rows { row in
      var standing = Standing()
      standing.strikes = StoredNumber.count(row.integer(1))
      standing.hostCrashes = StoredNumber.count(row.integer(2))
      standing.heldUntil = row.optionalInteger(3).map(WallTime.init(stored:))
      standing.quarantinedSince = row.optionalInteger(4).map(WallTime.init(stored:))
      standing.lastTrouble = row.optionalText(5)
      return (try identifiers.name(of: row.integer(0), in: database), standing)
    }
    return Dictionary(rows) { first, _ in first }
  }

  func setStanding(_ standing: Standing?, of identifier: TaskIdentifier) throws {
    guard let standing else {
      guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return }
      try database.execute(sql: "DELETE FROM standing WHERE identifier = ?", arguments: [number])
      return
    }
    try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO standing (identifier, strikes, host_crashes, held_until_ms, quarantined_ms, last_trouble)
      VALUES (?, ?, ?, ?, ?, ?)
      """
    ).run(
      .integer(try identifiers.number(of: identifier, in: database)), .integer(Int64(standing.strikes)),
      .integer(Int64(standing.hostCrashes)), .integer(standing.heldUntil?.unixMilliseconds),
      .integer(standing.quarantinedSince?.unixMilliseconds), .text(standing.lastTrouble))
  }
}
