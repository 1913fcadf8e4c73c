import GRDB
import TaskModel

extension SQLiteTransaction {
  func pluginHealth() throws -> [TaskIdentifier: PluginHealth] {
    let sql = "SELECT identifier, strikes, host_crashes, held_until_ms, quarantined_ms, last_trouble, sealed FROM standing"
    let rows = try PreparedStatement(database, sql).rows { row in
      var health = PluginHealth()
      health.failures = StoredNumber.count(row.integer(1))
      health.hostCrashes = StoredNumber.count(row.integer(2))
      health.heldUntil = row.optionalInteger(3).map(WallTime.init(stored:))
      health.quarantinedSince = row.optionalInteger(4).map(WallTime.init(stored:))
      health.lastTrouble = try seals.text(row, at: 5, sealed: 6, SealedPlace(.trouble, .integer(row.integer(0))))
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
    let number = PreparedStatement.Value.integer(try identifiers.number(of: identifier, in: database))
    let trouble = try seals.written(.text(health.lastTrouble), as: SealedPlace(.trouble, number))
    try PreparedStatement(
      database,
      """
      INSERT OR REPLACE INTO standing (identifier, strikes, host_crashes, held_until_ms, quarantined_ms, last_trouble, sealed)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      number, .integer(Int64(health.failures)),
      .integer(Int64(health.hostCrashes)), .integer(health.heldUntil?.unixMilliseconds),
      .integer(health.quarantinedSince?.unixMilliseconds), trouble.plain, trouble.sealed)
  }
}
