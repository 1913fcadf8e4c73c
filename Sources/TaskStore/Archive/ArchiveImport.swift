import Foundation
import GRDB
import StrictText
import TaskModel

/// Adds the lines of an archive to a database, in one transaction. A record that the database has stays as it is there.
final class ArchiveImport {
  private let database: Database
  private let head: ArchiveHead
  private let identifiers = IdentifierTable()
  private let transaction: SQLiteTransaction
  private let request, run: PreparedStatement
  private var result = StoreImport.Result()

  init(_ database: Database, _ head: ArchiveHead, _ seals: ValueSeals) throws {
    self.database = database
    self.head = head
    transaction = try SQLiteTransaction(
      database, origin: head.origin, seals, lanes: LaneTable(identifiers), identifiers: identifiers)
    request = try PreparedStatement(database, "SELECT 1 FROM requests WHERE id = ?")
    run = try PreparedStatement(database, "SELECT 1 FROM runs WHERE id = ?")
  }

  func begin() throws { try transaction.begin() }

  /// Takes the next line.
  func take(_ line: ArchiveObject, _ kind: StoreArchive.Kind) throws {
    do {
      switch kind {
      case .request: try takeRequest(line)
      case .run: try takeRun(line)
      case .schedule: try takeSchedule(line)
      case .state: try takeState(line)
      case .health: try takeHealth(line)
      case .objective:
        try add(
          "INSERT OR IGNORE INTO objectives (identifier, since_ms) VALUES (?, ?)",
          .integer(try identifier(line)), .integer(try line.requiredTime("since_unix_ms").unixMilliseconds))
      case .pause: try takePause(line)
      case .clock:
        try add(
          "INSERT OR IGNORE INTO clock (id, boot, offset_ms) VALUES (1, ?, ?)", .text(try line.requiredText("boot")),
          .integer(try line.requiredOffset("offset_ms")))
      case .submission: try takeSubmission(line)
      case .uniqueWindow:
        let window = try ArchivedRequests.window(line)
        try add(
          "INSERT OR IGNORE INTO unique_windows (identifier, key, request, until_ms) VALUES (?, ?, ?, ?)",
          .integer(try identifiers.number(of: window.identifier, in: database)), .text(window.key), .integer(window.request.sequence),
          .integer(window.until.unixMilliseconds))
      case .end: break
      }
      try line.finish()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      let isKey = error.message?.contains("unique_key") == true
      throw ArchiveFlaw(
        line: line.line,
        sentence: isKey
          ? "its unique_key is held by another live request of the identifier"
          : "it does not fit the other records: \(error.message ?? "")")
    }
  }

  /// Adds what follows from all lines, and commits.
  func finish() throws -> StoreImport.Result {
    for column in ["run", "success"] {
      try database.execute(sql: "UPDATE runs SET schedule = s.id FROM schedules s WHERE runs.id = s.\(column) AND runs.schedule IS NULL")
    }
    if let lastPause = head.lastPause {
      try database.execute(
        sql: """
          UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'pauses';
          INSERT INTO sqlite_sequence (name, seq) SELECT 'pauses', ?1 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pauses')
          """.replacingOccurrences(of: "?1", with: "\(lastPause)"))
    }
    let limit = "HAVING count(*) > \(Limits.stateKeys) OR sum(\(SQLiteTransaction.stateLength)) > \(Limits.stateBytes)"
    if let number = try Int64.fetchOne(database, sql: "SELECT identifier FROM state GROUP BY identifier \(limit) LIMIT 1") {
      let name = try identifiers.name(of: number, in: database)
      throw ArchiveFlaw(
        line: 1, sentence: "the state of \(name) would have more than \(Limits.stateKeys) keys or \(Limits.stateBytes) bytes")
    }
    try transaction.finish()
    try transaction.commit()
    transaction.end(isUndone: false)
    transaction.close()
    return result
  }

  /// Takes everything back.
  func abandon() {
    transaction.end(isUndone: true)
    transaction.close()
  }

  // MARK: Parts

  private func identifier(_ line: ArchiveObject) throws -> Int64 {
    try identifiers.number(of: try line.requiredIdentifier(), in: database)
  }

  /// Runs a statement that adds one row or, if there is one already, none.
  private func add(_ sql: String, _ values: PreparedStatement.Value...) throws {
    let statement = try statements[sql] ?? PreparedStatement(database, sql)
    statements[sql] = statement
    if try statement.run(values) > 0 { result.others += 1 } else { result.skipped += 1 }
  }

  private var statements: [String: PreparedStatement] = [:]

  private func exists(_ statement: PreparedStatement, _ sequence: Int64) throws -> Bool {
    try !statement.rows(.integer(sequence)) { $0.integer(0) }.isEmpty
  }

  // MARK: Records

  private func takeRequest(_ line: ArchiveObject) throws {
    let archived = try ArchivedRequest(line)
    let id = archived.record.id
    guard try !exists(request, id.sequence) else {
      result.skipped += 1
      return
    }
    try transaction.insert(archived.record)
    try transaction.insert(archived.edges, of: id)
    if let payload = archived.eventPayload { try transaction.setEventPayload(payload, of: id) }
    if let checkpoint = archived.checkpoint { try transaction.setCheckpoint(checkpoint, of: id) }
    result.requests += 1
  }

  private func takeRun(_ line: ArchiveObject) throws {
    let record = try ArchivedRun.read(line)
    guard try !exists(run, record.id.sequence) else {
      result.skipped += 1
      return
    }
    try transaction.insert(record, try identifiers.number(of: record.identifier, in: database), schedule: nil)
    result.runs += 1
  }

  private func takeSchedule(_ line: ArchiveObject) throws {
    let number = try identifier(line)
    let key = try line.text("unique_key")
    let request = try line.id("request", RequestID.self)
    guard key == nil || request == nil else { throw line.flaw("unique_key", "and request exclude each other") }
    let kind: StoredScheduleKind = key != nil ? .key : request != nil ? .request : .others
    try add(
      """
      INSERT OR IGNORE INTO schedules (identifier, kind, name, run, success, success_ms, failures, failing_since_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .integer(number), .integer(kind.stored), .text(key ?? request.map { "\($0.sequence)" } ?? ""),
      .integer(try line.id("last_run", RunID.self)?.sequence), .integer(try line.id("last_success", RunID.self)?.sequence),
      .integer(try line.time("last_success_unix_ms")?.unixMilliseconds), .integer(Int64(try line.count("failures"))),
      .integer(try line.time("failing_since_unix_ms")?.unixMilliseconds))
  }

  private func takeState(_ line: ArchiveObject) throws {
    let value = try line.blob("value", atMost: Limits.stateValueBytes)
    guard let value else { throw line.flaw("value", "is missing") }
    let (number, key) = (PreparedStatement.Value.integer(try identifier(line)), PreparedStatement.Value.text(try line.requiredKey("key")))
    let written = try transaction.seals.written(.blob(value), as: SealedPlace(.state, number, key))
    try add(
      "INSERT OR IGNORE INTO state (identifier, key, value, sealed) VALUES (?, ?, ?, ?)", number, key, written.plain, written.sealed)
  }

  private func takeHealth(_ line: ArchiveObject) throws {
    let number = PreparedStatement.Value.integer(try identifier(line))
    let trouble = try transaction.seals.written(.text(try line.text("last_trouble")), as: SealedPlace(.trouble, number))
    try add(
      """
      INSERT OR IGNORE INTO standing (identifier, strikes, host_crashes, held_until_ms, quarantined_ms, last_trouble, sealed)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      number, .integer(Int64(try line.count("failures"))), .integer(Int64(try line.count("host_crashes"))),
      .integer(try line.time("held_until_unix_ms")?.unixMilliseconds), .integer(try line.time("quarantined_unix_ms")?.unixMilliseconds),
      trouble.plain, trouble.sealed)
  }

  private func takePause(_ line: ArchiveObject) throws {
    let number = try line.requiredInteger("number")
    guard (1...ArchiveHead.highestPause).contains(number) else { throw line.flaw("number", "must be 1 to \(ArchiveHead.highestPause)") }
    let user = try line.integer("user")
    if let user, !(0...Int64(UInt32.max)).contains(user) { throw line.flaw("user", "is not the number of a user: \(user)") }
    let words = try transaction.seals.written(
      [.text(try line.requiredText("filter")), .text(try line.text("why"))], as: SealedPlace(.pause, .integer(number)))
    try add(
      "INSERT OR IGNORE INTO pauses (id, filter, by, user, reason, since_ms, until_ms, sealed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      .integer(number), words[0], .text(try line.requiredText("by")), .integer(user), words[1],
      .integer(try line.requiredTime("since_unix_ms").unixMilliseconds), .integer(try line.time("until_unix_ms")?.unixMilliseconds),
      words[2])
  }

  private func takeSubmission(_ line: ArchiveObject) throws {
    let (submission, plugin, isForAll, disposition) = try ArchivedRequests.key(line)
    let submitter = isForAll ? -1 : try plugin.map { try identifiers.number(of: $0, in: database) } ?? 0
    let (owner, key) = (PreparedStatement.Value.integer(submitter), PreparedStatement.Value.text(submission.key))
    let fingerprint = try transaction.seals.written(
      .integer(Int64(bitPattern: submission.fingerprint)), as: SealedPlace(.fingerprint, owner, key))
    try add(
      """
      INSERT OR IGNORE INTO submissions (submitter, key, fingerprint, request, disposition, submitted_ms, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      owner, key, fingerprint.plain, .integer(submission.request.sequence), .integer(disposition.stored),
      .integer(submission.submitted.unixMilliseconds), fingerprint.sealed)
  }
}
