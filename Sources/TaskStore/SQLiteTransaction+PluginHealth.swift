import GRDB
import TaskModel

extension SQLiteTransaction {
  func pluginHealth() throws -> [TaskIdentifier: PluginHealth] {
    let sql = "SELECT identifier, strikes, host_crashes, held_until_ms, quarantined_ms, last_trouble FROM standing"
    let rows = try PreparedStatement(database, sql).rows { row in
      var health = PluginHealth()
      health.failures = StoredNumber.count(row.integer(1))
      health.hostCrashes = StoredNumber.count(row.integer(2))
      health.heldUntil = row.optionalInteger(3).map(WallTime.init(stored:))
      health.quarantinedSince = row.optionalInteger(4).map(WallTime.init(stored:))
      health.lastTrouble = row.optionalText(5)
      return (try identifiers.name(of: row.integer(0), in: database), health)
    }
    return Dictionary(rows) { first, _ in first }
  }

  func setHealth(_ health: PluginHealth?, of identifier: TaskIdentifier) throws {
    guard let health else {
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
      .integer(try identifiers.number(of: identifier, in: database)), .integer(Int64(health.failures)),
      .integer(Int64(health.hostCrashes)), .integer(health.heldUntil?.unixMilliseconds),
      .integer(health.quarantinedSince?.unixMilliseconds), .text(health.lastTrouble))
  }
}
