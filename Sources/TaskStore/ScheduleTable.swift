import GRDB
import TaskModel

/// The record of each schedule's runs (``TaskModel/ScheduleRecord``): rows of `schedules`, written by the commit that adds the runs.
///
/// Collects the changes of a transaction and writes them once, however many runs it adds. Used only on the writing thread.
final class ScheduleTable {
  /// A schedule of an identifier.
  struct Key: Hashable {
    let identifier: Int64
    let kind: StoredScheduleKind
    /// The bytes of the unique key, or the digits of the request's id. Bytes, because different Unicode spellings are different keys.
    let name: [UInt8]
  }

  fileprivate struct Row {
    let id: Int64
    var run, success, successEnded: Int64?
    var failures: Int64
    var failingSince: Int64?

    /// Whether the schedule needs the run in the history.
    func needs(_ id: Int64) -> Bool { run == id || success == id }
  }

  /// The changes of the current transaction; a savepoint restores them.
  struct Changes {
    fileprivate var numbers: [Key: Int64] = [:]
    fileprivate var rows: [Int64: Row] = [:]
    /// The runs that no schedule needs any more.
    fileprivate var dropped: [Int64] = []

    fileprivate mutating func drop(_ run: Int64?) {
      if let run { dropped.append(run) }
    }
  }

  var changes = Changes()
  private let subject, select, insert, update, deleteRun, selectByID, isKeySpare, isOutlived, delete: PreparedStatement

  init(_ database: Database) throws {
    func prepare(_ sql: String) throws -> PreparedStatement { try PreparedStatement(database, sql) }
    let columns = "id, run, success, success_ms, failures, failing_since_ms"
    subject = try prepare("SELECT unique_key, repeats FROM requests WHERE id = ?")
    select = try prepare("SELECT \(columns) FROM schedules WHERE identifier = ? AND kind = ? AND name = ?")
    selectByID = try prepare("SELECT \(columns) FROM schedules WHERE id = ?")
    insert = try prepare("INSERT INTO schedules (identifier, kind, name, failures) VALUES (?, ?, ?, 0) RETURNING id")
    update = try prepare("UPDATE schedules SET run = ?, success = ?, success_ms = ?, failures = ?, failing_since_ms = ? WHERE id = ?")
    deleteRun = try prepare("DELETE FROM runs WHERE id = ?")
    delete = try prepare("DELETE FROM schedules WHERE id = ?")
    isOutlived = try prepare(
      """
      SELECT EXISTS (SELECT 1 FROM schedules WHERE identifier = ?1 AND id <> ?2 AND run > ?3)
        AND (?4 IS NULL OR EXISTS (SELECT 1 FROM schedules WHERE identifier = ?1 AND id <> ?2 AND success > ?4))
      """)
    isKeySpare = try prepare(
      """
      SELECT EXISTS (SELECT 1 FROM schedules WHERE identifier = ?1 AND kind = ?2 LIMIT 1 OFFSET \(ScheduleRecord.keysKept))
        AND NOT EXISTS (SELECT 1 FROM requests WHERE identifier = ?1 AND unique_key = ?3 AND state < 50)
        AND NOT EXISTS (SELECT 1 FROM runs u JOIN requests r ON r.id = u.request WHERE u.id = ?5 AND r.id <> ?4)
      """)
  }

  /// Updates the schedule of a run that will be added.
  ///
  /// - Parameter identifier: The identifier's number.
  /// - Returns: The number of the schedule.
  func added(_ run: RunRecord, _ identifier: Int64) throws -> Int64 {
    let key = try key(of: run.request.sequence, identifier)
    var row = try row(of: key)
    let before = row
    let ended = (run.ended ?? run.started).unixMilliseconds
    let outcome = run.outcome ?? .lost
    row.run = run.id.sequence
    if outcome.isSuccess {
      (row.success, row.successEnded, row.failures, row.failingSince) = (run.id.sequence, ended, 0, nil)
    } else if outcome.isFailure {
      row.failures += 1
      row.failingSince = row.failingSince ?? ended
    }
    changes.rows[row.id] = row
    if before.run != row.success { changes.drop(before.run) }
    if outcome.isSuccess, before.success != before.run { changes.drop(before.success) }
    return row.id
  }

  private func key(of request: Int64, _ identifier: Int64) throws -> Key {
    let found = try subject.rows(.integer(request)) { ($0.optionalText(0), $0.integer(1)) }.first
    if let key = found?.0 { return Key(identifier: identifier, kind: .key, name: Array(key.utf8)) }
    if let found, found.1 != 0 { return Key(identifier: identifier, kind: .request, name: Array("\(request)".utf8)) }
    return Key(identifier: identifier, kind: .others, name: [])
  }

  private func row(of key: Key) throws -> Row {
    if let number = changes.numbers[key], let row = changes.rows[number] { return row }
    let name = PreparedStatement.Value.text(String(decoding: key.name, as: UTF8.self))
    let values: [PreparedStatement.Value] = [.integer(key.identifier), .integer(key.kind.stored), name]
    let known = try select.rows(values, read: Self.row).first
    let row = try known ?? insert.rows(values) { Row(id: $0.integer(0), failures: 0) }.first
    guard let row else { throw StoreError.other("a schedule could not be added") }
    changes.numbers[key] = row.id
    return row
  }

  private static func row(_ columns: borrowing PreparedStatement.Columns) -> Row {
    Row(
      id: columns.integer(0), run: columns.optionalInteger(1), success: columns.optionalInteger(2),
      successEnded: columns.optionalInteger(3),
      failures: columns.integer(4), failingSince: columns.optionalInteger(5))
  }

  /// Whether a schedule needs one of its runs in the history, taking the transaction's changes into account.
  func needs(_ run: Int64, schedule: Int64?) throws -> Bool {
    guard let schedule else { return false }
    let row = try changes.rows[schedule] ?? selectByID.rows(.integer(schedule), read: Self.row).first
    return row?.needs(run) ?? false
  }

  /// Removes the record of a removed repeating request, or of the unique key of a removed request if no other one has that and the identifier
  /// has many, if the identifier has run since, and succeeded since the record's last success. The request is still there.
  func removed(request: Int64, of identifier: Int64) throws {
    var key = try key(of: request, identifier)
    // It may have repeated once.
    if key.kind != .key { key = Key(identifier: identifier, kind: .request, name: Array("\(request)".utf8)) }
    let values: [PreparedStatement.Value] = [
      .integer(identifier), .integer(key.kind.stored), .text(String(decoding: key.name, as: UTF8.self)),
    ]
    guard let known = try select.rows(values, read: Self.row).first else { return }
    let row = changes.rows[known.id] ?? known
    if key.kind == .key {
      let numbers: [PreparedStatement.Value] = [.integer(request), .integer(row.run)]
      guard try isKeySpare.rows(values + numbers, read: { $0.integer(0) != 0 }).contains(true) else { return }
    }
    // The query must see the changes of this transaction.
    try write()
    let numbers: [PreparedStatement.Value] = [.integer(identifier), .integer(row.id), .integer(row.run ?? 0), .integer(row.success)]
    guard try isOutlived.rows(numbers, read: { $0.integer(0) != 0 }).contains(true) else { return }
    try delete.run(.integer(row.id))
    changes.rows[row.id] = nil
    changes.numbers[key] = nil
    changes.drop(row.run)
    if row.success != row.run { changes.drop(row.success) }
  }

  // MARK: The transaction

  /// Writes the changes of the transaction.
  private func write() throws {
    for row in changes.rows.values {
      try update.run(
        .integer(row.run), .integer(row.success), .integer(row.successEnded), .integer(row.failures), .integer(row.failingSince),
        .integer(row.id))
    }
  }

  /// Writes the changes of the transaction and removes the runs that no schedule needs from the pruned part of the history.
  func finish(prunedThrough: Int64) throws {
    try write()
    for run in changes.dropped where run <= prunedThrough { try deleteRun.run(.integer(run)) }
  }

  /// Ends the transaction.
  func forget() { changes = Changes() }
}

/// The stored kind of a schedule. Numbers never change.
enum StoredScheduleKind: StoredValue {
  /// Requests without a unique key that run once.
  case others
  /// A unique key.
  case key
  /// A repeating request without a unique key.
  case request

  var stored: Int64 {
    switch self {
    case .others: 0
    case .key: 10
    case .request: 20
    }
  }
}
