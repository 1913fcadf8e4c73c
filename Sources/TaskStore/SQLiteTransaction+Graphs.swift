import GRDB
import TaskModel

extension SQLiteTransaction {
  // MARK: Graphs

  func insert(_ edges: [DependencyRecord], of id: RequestID) throws {
    let add = try PreparedStatement(
      database, "INSERT OR REPLACE INTO edges (request, predecessor, on_failure, ended, output, sealed) VALUES (?, ?, ?, ?, ?, ?)")
    for edge in edges {
      let output = try written(edge.output, of: id, from: edge.predecessor.sequence)
      try add.run(
        .integer(id.sequence), .integer(edge.predecessor.sequence), .integer(edge.onFailure.stored), .integer(edge.ended?.stored),
        output.plain, output.sealed)
    }
  }

  private func written(
    _ output: [UInt8], of dependant: RequestID, from predecessor: Int64
  ) throws -> (plain: PreparedStatement.Value, sealed: PreparedStatement.Value) {
    try seals.written(
      output.isEmpty ? .null : .blob(output), as: SealedPlace(.dependency, .integer(dependant.sequence), .integer(predecessor)))
  }

  func awaitedPredecessors() throws -> Set<RequestID> {
    Set(
      try PreparedStatement(database, "SELECT DISTINCT predecessor FROM edges INDEXED BY edges_open WHERE ended IS NULL").rows {
        RequestID(sequence: $0.integer(0), origin: origin)
      })
  }

  func edges(of id: RequestID) throws -> [DependencyRecord] {
    try refusing {
      try statements.edges.rows(.integer(id.sequence)) { try EdgeColumns.record($0, of: id.sequence, origin: origin, seals) }
    }
  }

  func dependants(of predecessor: RequestID) throws -> [RequestID] {
    try statements.openEdges.rows(.integer(predecessor.sequence)) { RequestID(sequence: $0.integer(0), origin: origin) }
  }

  func failedDependants(of predecessor: RequestID) throws -> [RequestID] {
    // The literal lets SQLite use the partial index.
    let select = try PreparedStatement(
      database, "SELECT request FROM edges INDEXED BY edges_failed WHERE predecessor = ? AND ended = 60 ORDER BY request")
    return try select.rows(.integer(predecessor.sequence)) { RequestID(sequence: $0.integer(0), origin: origin) }
  }

  func output(of id: RequestID) throws -> [UInt8]? {
    // A run's id is higher than its request's and was created before the request ended; ids begin with the time. Only if the clock was set
    // back can a run's id be later than the request's end.
    let select = try PreparedStatement(
      database, "SELECT \(RunColumns.reported), id FROM runs WHERE request = ?1 AND id > ?1 AND id <= ?2 ORDER BY id DESC LIMIT 1")
    let ended = try request(id)?.ended?.unixMilliseconds ?? 0
    let last = max(0, min(ended, Int64.max >> 13) + 1) << 12
    func output(through last: Int64) throws -> [UInt8]? {
      try select.rows(.integer(id.sequence), .integer(last)) { row in
        try seals.values(row, sealed: 3, SealedPlace(.report, .integer(row.integer(4)))).map { $0[0].bytes } ?? row.blob(0)
      }.first
    }
    return try refusing { try output(through: last) ?? output(through: .max) }
  }

  func settleEdges(from predecessor: RequestID, ended: RequestState, output: [UInt8]) throws -> [RequestID] {
    let dependants = try dependants(of: predecessor)
    guard !dependants.isEmpty else { return [] }
    for dependant in dependants {
      let written = try written(output, of: dependant, from: predecessor.sequence)
      try statements.settleEdge.run(
        .integer(ended.stored), written.plain, written.sealed, .integer(dependant.sequence), .integer(predecessor.sequence))
    }
    return dependants
  }

  // MARK: Keys

  func submission(withKey key: String, by plugin: TaskIdentifier?) throws -> KnownSubmission? {
    let sql = """
      SELECT fingerprint, request, disposition, submitted_ms, sealed, submitter FROM submissions
      WHERE submitter IN (?, -1) AND key = ? ORDER BY submitter DESC LIMIT 1
      """
    return try PreparedStatement(database, sql)
      .rows(.integer(try submitter(plugin)), .text(key)) { row in
        let fingerprint = try refusing { try self.fingerprint(row, at: 0, sealed: 4, of: row.integer(5), key) }
        return KnownSubmission(
          fingerprint: UInt64(bitPattern: fingerprint), request: RequestID(sequence: row.integer(1), origin: origin),
          disposition: try Disposition(stored: row.integer(2)), submitted: WallTime(unixMilliseconds: row.integer(3)))
      }.first
  }

  func remember(_ submission: KnownSubmission, key: String, by plugin: TaskIdentifier?) throws {
    let sql = """
      INSERT OR REPLACE INTO submissions (submitter, key, fingerprint, request, disposition, submitted_ms, sealed)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """
    let submitter = PreparedStatement.Value.integer(try submitter(plugin))
    let fingerprint = try seals.written(
      .integer(Int64(bitPattern: submission.fingerprint)), as: SealedPlace(.fingerprint, submitter, .text(key)))
    try PreparedStatement(database, sql).run(
      submitter, .text(key), fingerprint.plain, .integer(submission.request.sequence), .integer(submission.disposition.stored),
      .integer(submission.submitted.unixMilliseconds), fingerprint.sealed)
  }

  private func fingerprint(
    _ row: borrowing PreparedStatement.Columns, at plain: Int32, sealed: Int32, of submitter: Int64, _ key: String
  ) throws -> Int64 {
    try seals.values(row, sealed: sealed, SealedPlace(.fingerprint, .integer(submitter), .text(key)))?.first?.number ?? row.integer(plain)
  }

  func submissionCount(by plugin: TaskIdentifier) throws -> Int {
    try Int.fetchOne(database, sql: "SELECT count(*) FROM submissions WHERE submitter = ?", arguments: [try submitter(plugin)]) ?? 0
  }

  /// The number of whoever submits.
  private func submitter(_ plugin: TaskIdentifier?) throws -> Int64 {
    try plugin.map { try identifiers.number(of: $0, in: database) } ?? 0
  }

  func windowHolder(of key: String, identifier: TaskIdentifier, now: WallTime) throws -> RequestID? {
    guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return nil }
    return try PreparedStatement(database, "SELECT request FROM unique_windows WHERE identifier = ? AND key = ? AND until_ms > ?")
      .rows(.integer(number), .text(key), .integer(now.unixMilliseconds)) { RequestID(sequence: $0.integer(0), origin: origin) }.first
  }

  func hold(_ key: String, identifier: TaskIdentifier, for id: RequestID, until time: WallTime) throws {
    try PreparedStatement(database, "INSERT OR REPLACE INTO unique_windows (identifier, key, request, until_ms) VALUES (?, ?, ?, ?)").run(
      .integer(try identifiers.number(of: identifier, in: database)), .text(key), .integer(id.sequence), .integer(time.unixMilliseconds))
  }

  func windowCount(of identifier: TaskIdentifier, now: WallTime) throws -> Int {
    guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return 0 }
    try database.execute(
      sql: "DELETE FROM unique_windows WHERE identifier = ? AND until_ms <= ?", arguments: [number, now.unixMilliseconds])
    return try Int.fetchOne(database, sql: "SELECT count(*) FROM unique_windows WHERE identifier = ?", arguments: [number]) ?? 0
  }

  // MARK: Events

  func waiting(forEvent name: String) throws -> [RequestRecord] {
    let sql = """
      SELECT \(RequestColumns.list) FROM requests INDEXED BY requests_event
      WHERE event IS NOT NULL AND state < 50 AND event = ? ORDER BY id
      """
    return try PreparedStatement(database, sql).rows(.text(name), read: record)
  }

  func awaitedEvents() throws -> [String] {
    try String.fetchAll(
      database, sql: "SELECT DISTINCT event FROM requests INDEXED BY requests_event WHERE event IS NOT NULL AND state < 50 ORDER BY event")
  }

  func setEventPayload(_ payload: [UInt8]?, of id: RequestID) throws {
    guard let payload else {
      try database.execute(sql: "DELETE FROM event_payloads WHERE request = ?", arguments: [id.sequence])
      return
    }
    let sequence = PreparedStatement.Value.integer(id.sequence)
    let written = try seals.written(.blob(payload), as: SealedPlace(.eventPayload, sequence))
    try PreparedStatement(database, "INSERT OR REPLACE INTO event_payloads (request, bytes, sealed) VALUES (?, ?, ?)")
      .run(sequence, written.plain, written.sealed)
  }
}
