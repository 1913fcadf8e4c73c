import GRDB
import TaskModel

extension SQLiteTransaction {
  func lanesWithPending() throws -> [Lane] {
    try Int64.fetchAll(
      database, sql: "SELECT id FROM lanes l WHERE EXISTS (SELECT 1 FROM requests r WHERE r.state = 20 AND r.lane = l.id)"
    )
    .map { try lanes.lane(of: $0, in: database) }
  }

  func pruneLanes(limit: Int) throws -> Bool {
    guard let after = try laneTidying.after ?? firstToLookAt() else { return false }
    let look = try PreparedStatement(
      database,
      """
      SELECT id, EXISTS (SELECT 1 FROM requests r INDEXED BY requests_pending WHERE r.state = 20 AND r.lane = l.id)
      FROM lanes l WHERE id > ? ORDER BY id LIMIT ?
      """)
    let remove = try PreparedStatement(database, "DELETE FROM lanes WHERE id = ?")
    let slice = try look.rows(.integer(after), .integer(Int64(limit))) { (number: $0.integer(0), isUsed: $0.integer(1) != 0) }
    // A request that becomes pending writes its lane's number again, so no request refers to a lane that is removed here. Only this thread
    // writes: a concurrent submission comes after this transaction and does not find the lane.
    for (number, isUsed) in slice where !isUsed {
      try remove.run(.integer(number))
      lanes.forget(number)
    }
    recentLane = nil
    laneTidying.after = slice.count < limit ? nil : slice.last?.number
    if laneTidying.after == nil { lanes.compact() }
    return laneTidying.after != nil
  }

  /// Where a search of all lanes starts; nil if it is not worthwhile.
  private func firstToLookAt() throws -> Int64? {
    guard laneTidying.left >= LaneTidying.few, try thereAreLanes(moreThan: LaneTidying.few),
      try !thereAreLanes(moreThan: laneTidying.left * 2)
    else { return nil }
    laneTidying.left = 0
    return 0
  }

  private func thereAreLanes(moreThan count: Int) throws -> Bool {
    try Int.fetchOne(database, sql: "SELECT count(*) FROM (SELECT 1 FROM lanes LIMIT ?)", arguments: [count + 1]) ?? 0 > count
  }
}
