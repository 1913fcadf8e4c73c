import Failpoints
import GRDB
import TaskModel

extension SQLiteTransaction {
  func setState(_ key: String, to value: [UInt8]?, of identifier: TaskIdentifier) throws {
    let number = try identifiers.number(of: identifier, in: database)
    guard let value else {
      try database.execute(sql: "DELETE FROM state WHERE identifier = ? AND key = ?", arguments: [number, key])
      return
    }
    let row = try Row.fetchOne(
      database, sql: "SELECT count(*), coalesce(sum(\(Self.stateLength)), 0) FROM state WHERE identifier = ? AND key <> ?",
      arguments: [number, key])
    try Limits.checkState(of: identifier, otherKeys: row?[0] ?? 0, bytes: (row?[1] ?? 0) + value.count)
    let written = try seals.written(.blob(value), as: SealedPlace(.state, .integer(number), .text(key)))
    try PreparedStatement(
      database,
      """
      INSERT INTO state (identifier, key, value, sealed) VALUES (?, ?, ?, ?)
      ON CONFLICT (identifier, key) DO UPDATE SET value = excluded.value, sealed = excluded.sealed
      """
    ).run(.integer(number), .text(key), written.plain, written.sealed)
  }

  /// The length of a value of `state` before it was sealed.
  static var stateLength: String { "coalesce(length(sealed) - \(SealedPart.overheadOfOne), length(value))" }

  func setCheckpoint(_ value: [UInt8]?, of request: RequestID) throws {
    guard let value else {
      try statements.deleteCheckpoint.run(.integer(request.sequence))
      return
    }
    let sequence = PreparedStatement.Value.integer(request.sequence)
    let written = try seals.written(.blob(value), as: SealedPlace(.checkpoint, sequence))
    try PreparedStatement(
      database,
      """
      INSERT INTO checkpoints (request, bytes, sealed) VALUES (?, ?, ?)
      ON CONFLICT (request) DO UPDATE SET bytes = excluded.bytes, sealed = excluded.sealed
      """
    ).run(sequence, written.plain, written.sealed)
  }

  func prune(before horizon: WallTime, keeping count: Int, limit: Int) throws -> Bool {
    // Ids increase with time, so the oldest runs are the first rows, newer runs are not examined, and a count is a position in this order.
    let behind = try runCount ?? Int.fetchOne(database, sql: "SELECT count(*) FROM runs WHERE id > ?", arguments: [pruning.through]) ?? 0
    let schedules = try statements.schedules
    let slice = try PreparedStatement(database, "SELECT id, ended_ms, schedule FROM runs WHERE id > ? ORDER BY id LIMIT ?")
      .rows(.integer(pruning.through), .integer(Int64(limit))) {
        (sequence: $0.integer(0), ended: $0.integer(1), isNeeded: try schedules.needs($0.integer(0), schedule: $0.optionalInteger(2)))
      }
    let (removed, passed) = pruning.choose(
      from: slice, excess: max(0, behind - count), old: RunID(firstAt: horizon, origin: origin).sequence, horizon: horizon.unixMilliseconds)
    let remove = try PreparedStatement(database, "DELETE FROM runs WHERE id = ?")
    for run in removed { try remove.run(.integer(run)) }
    let kept = behind - passed
    runCount = kept
    Failpoint.pruning.hit()
    // A request is removed at the same age as a run. If the count limit has removed younger runs, requests that ended before the oldest
    // remaining run started are removed too: they have no runs left.
    var age = horizon.unixMilliseconds
    if kept >= max(count, 1) {
      let oldest = try Int64.fetchOne(
        database, sql: "SELECT started_ms FROM runs WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?",
        arguments: [pruning.through, kept - max(count, 1)])
      age = max(age, oldest ?? age)
    }
    let ended = try removeEnded(before: age, limit: limit)
    if let highest = (removed + ended).max() {
      try database.execute(sql: "UPDATE origin SET highest = ?1 WHERE highest < ?1", arguments: [highest])
    }
    // An idempotency key is kept as long as its request, because a long-waiting request outlives the horizon.
    try database.execute(
      sql: """
        DELETE FROM submissions WHERE rowid IN (
          SELECT rowid FROM submissions s INDEXED BY submissions_age
          WHERE submitted_ms < ? AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = s.request) LIMIT ?)
        """,
      arguments: [horizon.unixMilliseconds, limit])
    try database.execute(
      sql: "DELETE FROM unique_windows WHERE rowid IN (SELECT rowid FROM unique_windows WHERE until_ms < ? LIMIT ?)",
      arguments: [horizon.unixMilliseconds, limit])
    return passed == limit || ended.count == limit
  }

  /// Removes requests that succeeded or were cancelled, in the order in which they ended. Returns their ids.
  private func removeEnded(before time: Int64, limit: Int) throws -> [Int64] {
    let first = try PreparedStatement(
      database,
      """
      SELECT id, identifier, ended_ms FROM requests INDEXED BY requests_ended
      WHERE state >= 50 AND state = ? AND ended_ms < ? ORDER BY ended_ms, id LIMIT ?
      """)
    var ended: [(id: Int64, identifier: Int64, state: Int64, time: Int64)] = []
    for state in [RequestState.succeeded, .cancelled].map(\.stored) {
      ended += try first.rows(.integer(state), .integer(time), .integer(Int64(limit))) {
        ($0.integer(0), $0.integer(1), state, $0.integer(2))
      }
    }
    ended = Array(ended.sorted { ($0.time, $0.id) < ($1.time, $1.id) }.prefix(limit))
    let remove = try ["requests WHERE id", "payloads WHERE request", "event_payloads WHERE request", "edges WHERE request"].map {
      try PreparedStatement(database, "DELETE FROM \($0) = ?")
    }
    for request in ended {
      try statements.schedules.removed(request: request.id, of: request.identifier)
      try removeTags(of: request.id)
      for statement in remove { try statement.run(.integer(request.id)) }
      try statements.counts.removed(request.identifier, request.state)
    }
    return ended.map(\.id)
  }
}
