import GRDB
import GRDBSQLite
import TaskModel

/// The operations of one commit on the writing connection. One object serves all commits and keeps the prepared statements.
final class SQLiteTransaction: StoreTransaction {
  let database: Database
  let origin: UInt64
  let seals: ValueSeals
  let identifiers: IdentifierTable
  let lanes: LaneTable
  /// The progress of removing empty lanes.
  var laneTidying = LaneTidying()
  /// ``pruning`` at the last commit.
  private var laneTidyingBefore = LaneTidying()
  /// The highest sequence added by the current transaction.
  private(set) var highestAdded: Int64 = 0
  /// The number of runs after ``pruning``; nil if they must be counted.
  var runCount: Int?
  /// How far the history has been pruned.
  var pruning = PruningProgress()
  /// ``laneTidying`` at the last commit.
  private var pruningBefore = PruningProgress()
  /// The statements; nil once the store is closed, because SQLite cannot close a connection that has statements.
  private(set) var prepared: Statements?
  /// The connection's change count at the beginning of the current transaction.
  private var changesBefore: Int64 = 0
  /// The lane to which the current transaction last added a request.
  var recentLane: (lane: Lane, numbers: (lane: Int64, identifier: Int64))?

  init(_ database: Database, origin: UInt64, _ seals: ValueSeals, lanes: LaneTable, identifiers: IdentifierTable) throws {
    self.database = database
    self.origin = origin
    self.seals = seals
    self.lanes = lanes
    self.identifiers = identifiers
    prepared = try Statements(database)
  }

  var statements: Statements {
    get throws {
      guard let prepared else { throw StoreError.other("the store is closed") }
      return prepared
    }
  }

  /// Releases the statements before the store is closed.
  func close() { prepared = nil }

  /// Writes the counts and schedules that result from the transaction, before it is committed.
  func finish() throws {
    laneTidying.left += try statements.counts.write()
    try statements.schedules.finish(prunedThrough: pruning.through)
  }

  /// Ends the transaction.
  ///
  /// - Parameter isUndone: Whether to roll it back, unless an error has already ended it.
  func end(isUndone: Bool) {
    if isUndone { try? rollBack() }
    highestAdded = 0
    prepared?.counts.forget()
    prepared?.schedules.forget()
    guard isUndone else {
      laneTidyingBefore = laneTidying
      pruningBefore = pruning
      return
    }
    forgetUndone()
    laneTidying = laneTidyingBefore
    pruning = pruningBefore
  }

  /// Clears caches of rows that the rollback removed.
  private func forgetUndone() {
    identifiers.forget()
    lanes.forget()
    recentLane = nil
    runCount = nil
  }

  /// Frequently used statements, prepared once.
  final class Statements {
    let begin, commit, rollBack, savepoint, releaseSavepoint, rollbackToSavepoint: PreparedStatement
    let insert, insertPayload, payload, input, eventPayload, update, rewrite, select, change, appendRun: PreparedStatement
    let selectRunning, selectClaimed, selectHolder, due, nextPriority, firstDue, nextDeadline: PreparedStatement
    let deleteCheckpoint, edges, openEdges, settleEdge: PreparedStatement
    let insertTag, tags, deleteTag, identifierAndState: PreparedStatement
    let counts: RequestCounts
    let schedules: ScheduleTable
    let noted: NotedIdentifier

    init(_ database: Database) throws {
      func prepare(_ sql: String) throws -> PreparedStatement { try PreparedStatement(database, sql) }
      noted = try NotedIdentifier(database)
      begin = try prepare("BEGIN IMMEDIATE")
      commit = try prepare("COMMIT")
      rollBack = try prepare("ROLLBACK")
      savepoint = try prepare("SAVEPOINT submission")
      releaseSavepoint = try prepare("RELEASE submission")
      rollbackToSavepoint = try prepare("ROLLBACK TO submission")
      let columns = RequestColumns.list
      let marks = columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
      insert = try prepare("INSERT INTO requests (\(columns)) VALUES (\(marks))")
      insertPayload = try prepare("INSERT INTO payloads (request, bytes, sealed) VALUES (?, ?, ?)")
      payload = try prepare("SELECT bytes, sealed FROM payloads WHERE request = ?")
      input = try prepare("SELECT bytes, p.sealed, options FROM requests LEFT JOIN payloads p ON request = id WHERE id = ?")
      eventPayload = try prepare("SELECT bytes, sealed FROM event_payloads WHERE request = ?")
      update = try prepare(
        """
        UPDATE requests SET state = ?, due_ms = ?, priority = ?, unique_key = ?, every_ms = ?, occurrence_ms = ?, attempts_spent = ?,
        losses = ?, stop_requested = ?, blocked_by = ?, run = ?, started_ms = ?, ended_ms = ?, last_outcome = ?, last_message = ?,
        lane = ?, relaxed = ?, event_due_ms = ?, event_since_ms = ?, missed_left = ?, paused = ?, set_aside = ?, sealed = ?,
        sealed_pause = ? WHERE id = ?
        """)
      rewrite = try prepare("UPDATE requests SET (\(columns)) = (\(marks)) WHERE id = ?1")
      select = try prepare("SELECT \(columns) FROM requests WHERE id = ?")
      change = try prepare(
        """
        UPDATE requests SET state = ?1, attempts_spent = attempts_spent * ?2 + ?3, losses = losses * ?4 + ?5, run = ?6,
        started_ms = coalesce(?7, started_ms), ended_ms = coalesce(?8, ended_ms), last_outcome = coalesce(?9, last_outcome),
        last_message = iif(?9 IS NULL, last_message, ?10), sealed = iif(?9 IS NULL, sealed, ?14)
        WHERE id = ?11 AND state = ?12 AND (?13 IS NULL OR run = ?13) AND noted(identifier)
        """)
      appendRun = try prepare(
        """
        INSERT INTO runs (id, request, identifier, attempt, started_ms, ended_ms, outcome, stop_reason, forced, message, completed, total,
        cpu_ns, output, log, stop_stage, peak_memory_bytes, trouble, schedule, handler_ns, details, sealed, sealed_report)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
      selectRunning = try prepare("SELECT \(columns) FROM requests WHERE state = 40")
      selectClaimed = try prepare("SELECT \(columns) FROM requests INDEXED BY requests_claimed WHERE state = 30 ORDER BY id")
      selectHolder = try prepare("SELECT \(columns) FROM requests WHERE identifier = ? AND unique_key = ? AND state < 50")
      due = try prepare(
        """
        SELECT id, due_ms, attempts_spent, repeats FROM requests
        WHERE state = 20 AND lane = ? AND priority = ? AND due_ms <= ? ORDER BY due_ms LIMIT ?
        """)
      nextPriority = try prepare(
        "SELECT priority FROM requests WHERE state = 20 AND lane = ? AND priority < ? ORDER BY priority DESC LIMIT 1")
      firstDue = try prepare("SELECT id, due_ms FROM requests WHERE state = 20 AND lane = ? AND priority = ? ORDER BY due_ms LIMIT 1")
      nextDeadline = try prepare(
        """
        SELECT deadline_ms FROM requests INDEXED BY requests_deadline
        WHERE deadline_ms IS NOT NULL AND relaxed = 0 AND state = 20 ORDER BY deadline_ms LIMIT 1
        """)
      insertTag = try prepare("INSERT OR IGNORE INTO request_tags (tag, request) VALUES (?, ?)")
      tags = try prepare("SELECT tags FROM requests WHERE id = ? AND tags IS NOT NULL")
      // Deletes by tag, because the table is sorted by tag.
      deleteTag = try prepare("DELETE FROM request_tags WHERE tag = ? AND request = ?")
      identifierAndState = try prepare("SELECT identifier, state FROM requests WHERE id = ?")
      counts = try RequestCounts(database)
      schedules = try ScheduleTable(database)
      deleteCheckpoint = try prepare("DELETE FROM checkpoints WHERE request = ?")
      edges = try prepare(EdgeColumns.ofRequest)
      openEdges = try prepare("SELECT request FROM edges WHERE predecessor = ? AND ended IS NULL ORDER BY request")
      settleEdge = try prepare("UPDATE edges SET ended = ?, output = ?, sealed = ? WHERE request = ? AND predecessor = ?")
    }
  }

  // These bypass GRDB, which would parse the statement each time. It asks SQLite whether a transaction is open.

  /// Begins the transaction of a commit.
  func begin() throws {
    try statements.begin.run()
    changesBefore = sqlite3_total_changes64(database.sqliteConnection)
    // The previous transaction may have been rolled back.
    recentLane = nil
  }

  /// Commits the transaction; synced when it returns.
  func commit() throws { try statements.commit.run() }

  /// Rolls back the transaction, unless an error has already ended it.
  private func rollBack() throws {
    if sqlite3_get_autocommit(database.sqliteConnection) == 0 { try statements.rollBack.run() }
  }

  /// Makes no savepoint if nothing was written before, because SQLite would copy each page that `body` changes, as many bytes as the commit
  /// itself writes. If `body` throws then, the whole transaction restarts.
  func savepoint<Value>(_ body: () throws -> Value) throws -> Value {
    let counts = try statements.counts
    let mark = counts.savepoint()
    let (tidying, progress, scheduleChanges) = try (laneTidying, pruning, statements.schedules.changes)
    let added = highestAdded
    let isFirst = sqlite3_total_changes64(database.sqliteConnection) == changesBefore
    if !isFirst { try statements.savepoint.run() }
    do {
      let value = try body()
      if !isFirst { try statements.releaseSavepoint.run() }
      counts.release(mark)
      return value
    } catch {
      counts.rollBack(mark)
      forgetUndone()
      laneTidying = tidying
      (pruning, highestAdded) = (progress, added)
      try statements.schedules.changes = scheduleChanges
      do {
        if isFirst {
          try beginAnew()
        } else {
          try statements.rollbackToSavepoint.run()
          try statements.releaseSavepoint.run()
        }
      } catch let failure {
        // A full disk rolls back the whole transaction with its savepoints. The first error is then the cause, and nothing may be
        // committed.
        throw error is DatabaseError ? error : failure
      }
      throw error
    }
  }

  private func beginAnew() throws {
    try rollBack()
    try begin()
  }

  /// The numbers of a lane and its identifier, which are added if necessary.
  private func numbers(of lane: Lane) throws -> (lane: Int64, identifier: Int64) {
    // Consecutive requests mostly have the same lane, and comparing two lanes is cheaper than a lookup.
    if let recentLane, recentLane.lane == lane { return recentLane.numbers }
    let numbers = (lane: try lanes.number(of: lane, in: database), identifier: try identifiers.number(of: lane.identifier, in: database))
    recentLane = (lane, numbers)
    return numbers
  }

  // MARK: Requests

  func insert(_ record: RequestRecord) throws {
    let identifier = try write(record, by: statements.insert)
    highestAdded = max(highestAdded, record.id.sequence)
    try statements.counts.added(identifier, record.state.stored)
  }

  /// Runs a statement that takes all columns in the order of ``RequestColumns/list``, then adds the payload and the tags.
  ///
  /// - Returns: The number of the identifier.
  private func write(_ record: RequestRecord, by statement: PreparedStatement) throws -> Int64 {
    let request = record.request
    let retry = request.retry ?? RetryPolicy()
    let tags = request.tags.isEmpty ? nil : try StoredJSON.encode(request.tags)
    let options = try StoredOptions.text(of: request)
    let words = try words(of: record)
    let (lane, identifier) = try numbers(of: record.lane)
    try statement.run { row in
      row.integer(record.id.sequence)
      row.integer(identifier)
      row.integer(record.state.stored)
      row.integer(record.due.unixMilliseconds)
      row.integer(Int64(request.priority))
      row.integer(record.submitted.unixMilliseconds)
      row.integer(request.earliestBegin?.unixMilliseconds)
      row.integer(Int64(request.conditions.rawValue))
      row.text(request.uniqueKey)
      row.integer(request.onConflict.stored)
      row.text(tags)
      row.integer(Int64(retry.attempts))
      row.integer(retry.backoff.stored)
      row.integer(retry.initial.wholeMilliseconds)
      row.integer(retry.maximum.wholeMilliseconds)
      row.integer(request.repetition?.interval?.wholeMilliseconds)
      row.integer(record.occurrence?.unixMilliseconds)
      row.integer(Int64(record.attemptsSpent))
      row.integer(Int64(record.losses))
      row.integer(record.stopRequested?.stored)
      row.integer(record.blockedBy?.sequence)
      row.integer(record.run?.sequence)
      row.integer(record.started?.unixMilliseconds)
      row.integer(record.ended?.unixMilliseconds)
      row.integer(record.lastOutcome?.stored)
      row.value(words.message.plain)
      row.integer(lane)
      row.integer(StoredRepetition(request.repetition).stored)
      row.integer(request.clock.stored)
      row.integer(request.deadline?.unixMilliseconds)
      row.integer(record.isRelaxed ? 1 : 0)
      row.text(request.event?.name)
      row.integer(record.eventDue?.unixMilliseconds)
      row.integer(record.eventSince?.unixMilliseconds)
      row.integer(Int64(record.missedLeft))
      row.text(options)
      row.value(words.paused.plain)
      row.integer(record.setAside?.number)
      row.value(words.message.sealed)
      row.value(words.paused.sealed)
    }
    if !request.payload.isEmpty {
      let id = PreparedStatement.Value.integer(record.id.sequence)
      let payload = try seals.written(.blob(request.payload), as: SealedPlace(.payload, id))
      try statements.insertPayload.run(id, payload.plain, payload.sealed)
    }
    try addTags(of: record)
    return identifier
  }

  private typealias Written = (plain: PreparedStatement.Value, sealed: PreparedStatement.Value)

  /// The words in the row of a request as they are written.
  private func words(of record: RequestRecord) throws -> (message: Written, paused: Written) {
    let id = PreparedStatement.Value.integer(record.id.sequence)
    return (
      try seals.written(.text(record.lastMessage), as: SealedPlace(.message, id)),
      try seals.written(.text(try StoredPause.text(of: record.paused)), as: SealedPlace(.pauseOfRequest, id))
    )
  }

  func update(_ record: RequestRecord) throws {
    let (identifier, state) = try identifierAndState(of: record.id)
    let words = try words(of: record)
    try statements.update.run(
      .integer(record.state.stored), .integer(record.due.unixMilliseconds), .integer(Int64(record.request.priority)),
      .text(record.request.uniqueKey), .integer(record.request.repetition?.interval?.wholeMilliseconds),
      .integer(record.occurrence?.unixMilliseconds), .integer(Int64(record.attemptsSpent)), .integer(Int64(record.losses)),
      .integer(record.stopRequested?.stored), .integer(record.blockedBy?.sequence), .integer(record.run?.sequence),
      .integer(record.started?.unixMilliseconds), .integer(record.ended?.unixMilliseconds), .integer(record.lastOutcome?.stored),
      words.message.plain, .integer(try lanes.number(of: record.lane, in: database)), .integer(record.isRelaxed ? 1 : 0),
      .integer(record.eventDue?.unixMilliseconds), .integer(record.eventSince?.unixMilliseconds), .integer(Int64(record.missedLeft)),
      words.paused.plain, .integer(record.setAside?.number), words.message.sealed, words.paused.sealed,
      .integer(record.id.sequence))
    try noteUpdate(of: record, identifier, from: state)
  }

  private func identifierAndState(of id: RequestID) throws -> (identifier: Int64, state: Int64) {
    let before = try statements.identifierAndState.rows(.integer(id.sequence)) { ($0.integer(0), $0.integer(1)) }.first
    guard let before else { throw StoreError.other("request \(id) does not exist") }
    return before
  }

  private func noteUpdate(of record: RequestRecord, _ identifier: Int64, from state: Int64) throws {
    try statements.counts.changed(identifier, from: state, to: record.state.stored)
    if record.state.isFinal { try statements.deleteCheckpoint.run(.integer(record.id.sequence)) }
  }

  func rewrite(_ record: RequestRecord) throws {
    let (identifier, state) = try identifierAndState(of: record.id)
    try removeTags(of: record.id.sequence)
    try database.execute(sql: "DELETE FROM payloads WHERE request = ?", arguments: [record.id.sequence])
    _ = try write(record, by: statements.rewrite)
    try noteUpdate(of: record, identifier, from: state)
  }

  func request(_ id: RequestID) throws -> RequestRecord? {
    guard id.origin == origin else { return nil }
    return try statements.select.rows(.integer(id.sequence), read: record).first
  }

  func input(of id: RequestID) throws -> RunInput {
    let sequence = PreparedStatement.Value.integer(id.sequence)
    do {
      let submitted = try statements.input.rows(sequence) { row in
        RunInput(
          payload: try seals.bytes(row, at: 0, sealed: 1, SealedPlace(.payload, sequence)),
          traceparent: try row.optionalText(2).flatMap(StoredOptions.traceparent(in:)))
      }
      var input = submitted.first ?? RunInput(payload: [])
      let event = try statements.eventPayload.rows(sequence) {
        try seals.bytes($0, at: 0, sealed: 1, SealedPlace(.eventPayload, sequence))
      }
      if let bytes = event.first { input.payload = bytes }
      return input
    } catch let error as DamagedValue {
      return RunInput(payload: [], damage: error.description)
    }
  }

  func submittedPayload(of id: RequestID) throws -> [UInt8] {
    let sequence = PreparedStatement.Value.integer(id.sequence)
    return try refusing {
      try statements.payload.rows(sequence) { try seals.bytes($0, at: 0, sealed: 1, SealedPlace(.payload, sequence)) }.first ?? []
    }
  }

  /// Makes a refusal of a value that does not open, so that only what needs the value fails.
  func refusing<Value>(_ read: () throws -> Value) throws -> Value {
    do { return try read() } catch let error as DamagedValue { throw error.refusal }
  }

  func holder(of key: String, identifier: TaskIdentifier) throws -> RequestRecord? {
    guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return nil }
    return try statements.selectHolder.rows(.integer(number), .text(key), read: record).first
  }

  func liveCount(of identifier: TaskIdentifier) throws -> Int {
    guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return 0 }
    return try statements.counts.live(number)
  }

  func running() throws -> [RequestRecord] { try statements.selectRunning.rows(read: record) }

  func claimed() throws -> [RequestRecord] { try statements.selectClaimed.rows(read: record) }

  func holders(ofKeysBeginningWith prefix: String) throws -> [RequestRecord] {
    // One index search per identifier, from the prefix to the prefix followed by the highest code point.
    try PreparedStatement(
      database,
      """
      SELECT \(RequestColumns.list) FROM requests INDEXED BY requests_key
      WHERE identifier IN (SELECT id FROM identifiers) AND unique_key IS NOT NULL AND state < 50
        AND unique_key >= ?1 AND unique_key <= ?1 || char(1114111) AND substr(unique_key, 1, length(?1)) = ?1
      """
    ).rows(.text(prefix), read: record)
  }

  func waiting(of identifier: TaskIdentifier) throws -> [RequestRecord] {
    guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return [] }
    let sql = "SELECT \(RequestColumns.list) FROM requests WHERE id IN (\(RequestColumns.waiting(of: 1))) ORDER BY id"
    return try PreparedStatement(database, sql).rows(.integer(number), read: record)
  }

  // MARK: Runs

  func apply(_ change: RequestChange, to id: RequestID) throws {
    let statements = try statements
    let transition = change.transition
    let message = try seals.written(.text(change.message), as: SealedPlace(.message, .integer(id.sequence)))
    let changed = try statements.change.run { row in
      row.integer(transition.state.stored)
      row.integer(transition.attempts.factor)
      row.integer(transition.attempts.summand)
      row.integer(transition.losses.factor)
      row.integer(transition.losses.summand)
      row.integer(change.run?.sequence)
      row.integer(change.started?.unixMilliseconds)
      row.integer(change.ended?.unixMilliseconds)
      row.integer(change.outcome?.stored)
      row.value(message.plain)
      row.integer(id.sequence)
      row.integer(change.from.stored)
      row.integer(change.expectedRun?.sequence)
      row.value(message.sealed)
    }
    guard changed == 1 else { throw StoreError.fenced }
    statements.counts.changed(statements.noted.value, from: change.from.stored, to: transition.state.stored)
    if transition.state.isFinal { try statements.deleteCheckpoint.run(.integer(id.sequence)) }
  }

  func append(_ run: RunRecord) throws {
    let identifier = try identifiers.number(of: run.identifier, in: database)
    try insert(run, identifier, schedule: try statements.schedules.added(run, identifier))
  }

  /// Writes the row of a run.
  ///
  /// - Parameters:
  ///   - identifier: The identifier's number.
  ///   - schedule: The number of the schedule that may need the run; nil if none does.
  func insert(_ run: RunRecord, _ identifier: Int64, schedule: Int64?) throws {
    let report = run.report
    highestAdded = max(highestAdded, run.id.sequence)
    let id = PreparedStatement.Value.integer(run.id.sequence)
    let words = try seals.written(
      [.text(report.message), .text(try StoredDetails.text(of: report))], as: SealedPlace(.words, id))
    let rest = try seals.written(
      [
        report.output.isEmpty ? .null : .blob(report.output), .text(try StoredJSON.encode(report.log)), .text(report.trouble),
      ], as: SealedPlace(.report, id))
    try statements.appendRun.run(
      id, .integer(run.request.sequence), .integer(identifier),
      .integer(Int64(run.attempt)), .integer(run.started.unixMilliseconds), .integer((run.ended ?? run.started).unixMilliseconds),
      .integer((run.outcome ?? .lost).stored), .integer(report.stopReason?.stored), .integer(report.forced ? 1 : 0), words[0],
      .integer(report.progress.map { Int64(bitPattern: $0.completed) }), .integer(report.progress.map { Int64(bitPattern: $0.total) }),
      .integer(report.cpuTime?.wholeNanoseconds), rest[0], rest[1], .integer(report.stopStage?.stored),
      .integer(report.peakMemory.map { Int64($0) }), rest[2], .integer(schedule), .integer(report.handlerTime?.wholeNanoseconds),
      words[1], words[2], rest[3])
    runCount? += 1
  }

  func record(_ row: borrowing PreparedStatement.Columns) throws -> RequestRecord {
    try RequestColumns.record(row, origin: origin, seals) { try identifiers.name(of: $0, in: database) }
  }
}

extension RequestTransition.Count {
  /// The new count is the old count times this, plus ``summand``.
  fileprivate var factor: Int64 { self == .reset ? 0 : 1 }
  fileprivate var summand: Int64 { self == .add ? 1 : 0 }
}
