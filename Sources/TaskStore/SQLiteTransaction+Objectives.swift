import GRDB
import TaskModel

extension SQLiteTransaction {
  func objectives() throws -> [TaskIdentifier: WallTime] {
    let rows = try PreparedStatement(database, "SELECT identifier, since_ms FROM objectives").rows { row in
      (try identifiers.name(of: row.integer(0), in: database), WallTime(stored: row.integer(1)))
    }
    return Dictionary(rows) { first, _ in first }
  }

  func setObjective(_ since: WallTime?, of identifier: TaskIdentifier) throws {
    guard let since else {
      guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return }
      try PreparedStatement(database, "DELETE FROM objectives WHERE identifier = ?").run(.integer(number))
      return
    }
    try PreparedStatement(database, "INSERT OR REPLACE INTO objectives (identifier, since_ms) VALUES (?, ?)").run(
      .integer(try identifiers.number(of: identifier, in: database)), .integer(since.unixMilliseconds))
  }

  func lastSuccess(of identifier: TaskIdentifier) throws -> WallTime? {
    guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return nil }
    let last = try PreparedStatement(database, "SELECT max(success_ms) FROM schedules WHERE identifier = ?").rows(.integer(number)) {
      $0.optionalInteger(0)
    }
    return last.first.flatMap { $0 }.map(WallTime.init(stored:))
  }
}
