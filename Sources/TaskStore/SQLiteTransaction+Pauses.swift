import GRDB
import TaskModel

extension SQLiteTransaction {
  func pauses() throws -> [Pause] {
    try PreparedStatement(database, "SELECT \(PauseColumns.list) FROM pauses ORDER BY id").rows { try PauseColumns.pause($0, seals) }
  }

  func addPause(_ order: PauseOrder, since: WallTime) throws -> Pause {
    try PreparedStatement(
      database, "INSERT INTO pauses (filter, by, user, reason, since_ms, until_ms) VALUES (?, ?, ?, ?, ?, ?)"
    ).run(
      .text(""), .text(order.by), .integer(order.user.map(Int64.init)), .null, .integer(since.unixMilliseconds),
      .integer(order.until?.unixMilliseconds))
    let number = database.lastInsertedRowID
    // Its number is known only now.
    let words = try seals.written([.text(order.filter), .text(order.reason)], as: SealedPlace(.pause, .integer(number)))
    try PreparedStatement(database, "UPDATE pauses SET filter = ?, reason = ?, sealed = ? WHERE id = ?").run(words + [.integer(number)])
    return Pause(id: PauseID(number), order: order, since: since)
  }

  func removePause(_ id: PauseID) throws {
    try PreparedStatement(database, "DELETE FROM pauses WHERE id = ?").run(.integer(id.number))
  }
}

/// The columns of `pauses`, in the order in which they are read.
enum PauseColumns {
  static let list = "id, filter, by, user, reason, since_ms, until_ms, sealed"

  static func pause(_ row: borrowing PreparedStatement.Columns, _ seals: ValueSeals) throws -> Pause {
    let (filter, reason) = try words(row, seals)
    let order = PauseOrder(
      filter: filter, by: row.text(2), user: row.optionalInteger(3).map { UInt32(truncatingIfNeeded: $0) },
      reason: reason, until: row.optionalInteger(6).map(WallTime.init(stored:)))
    return Pause(id: PauseID(row.integer(0)), order: order, since: WallTime(stored: row.integer(5)))
  }

  /// The filter and the reason of a pause. A filter that does not open would hold nothing, and so would let run what a person has stopped:
  /// an empty one holds everything.
  private static func words(_ row: borrowing PreparedStatement.Columns, _ seals: ValueSeals) throws -> (filter: String, reason: String?) {
    guard !row.isNull(7) else { return (row.text(1), row.optionalText(4)) }
    let place = SealedPlace(.pause, .integer(row.integer(0)))
    let values = try seals.legible {
      try seals.values(row, sealed: 7, place)
    } or: {
      [.text(""), .text(ValueSeals.illegible)]
    }
    return (values?[0].string ?? "", values?[1].string)
  }
}
