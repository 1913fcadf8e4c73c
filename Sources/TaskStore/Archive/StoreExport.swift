import GRDB
import StrictText
import TaskModel

/// Writes a store as lines of JSON, see ``StoreArchive``.
public enum StoreExport {
  /// What was written.
  public struct Result: Sendable, Hashable {
    /// The number of requests.
    public let requests: Int
    /// The number of runs.
    public let runs: Int
    /// The number of lines.
    public let lines: Int

    package init(requests: Int, runs: Int, lines: Int) { (self.requests, self.runs, self.lines) = (requests, runs, lines) }
  }

  /// Exports a store beside its host, as it is at one moment.
  ///
  /// - Parameters:
  ///   - sealing: The keys that open the store's values: an export is plain.
  ///   - program: The version of this program.
  ///   - sink: Gets the bytes in order, a few lines at a time.
  public static func run(
    _ place: StorePlace, _ sealing: StoreSealing? = nil, program: String?, to sink: ([UInt8]) throws(StoreCareError) -> Void,
    _ step: StoreStep.Observer = { _ in }
  ) throws(StoreCareError) -> Result {
    let reader = try StoreReader(path: place.database)
    defer { reader.close() }
    try reader.checkCurrent()
    try reader.checkKeys(sealing)
    return try reader.read { database in
      guard let origin = try SQLiteRequestStore.recordedOrigin(database) else {
        throw StoreCareError(place.database, "the store has no identity yet", remedy: "start its host once")
      }
      return try withoutActuallyEscaping(sink) { sink in
        let isOpen = place.marks.contains { (try? StoreMark.read($0))?.isOpen == true }
        let export = ArchiveExport(database, origin: origin, isOpen: isOpen, sealing, sink)
        return try export.run(program: program, step)
      }
    }
  }

  private static let kind = PendingFile.Kind(name: "an export", beginning: Array(#"{"format":"\#(StoreArchive.format)""#.utf8))

  /// Exports a store into a file with mode 0600, which it replaces once it is complete.
  public static func run(
    _ place: StorePlace, _ sealing: StoreSealing? = nil, program: String?, toFile path: String, _ step: StoreStep.Observer = { _ in }
  ) throws(StoreCareError) -> Result {
    do {
      return try write(toFile: path) { sink in
        try run(place, sealing, program: program, to: { (bytes) throws(StoreCareError) in try sink(bytes) }, step)
      }
    } catch { throw StoreCareError(path, error) }
  }

  /// Writes an export into a file with mode 0600, which it replaces once `body` is done.
  package static func write(
    toFile path: String, _ body: (_ sink: @escaping ([UInt8]) throws(StoreCareError) -> Void) throws -> Result
  ) throws -> Result {
    let file = try PendingFile(for: path, replacing: kind)
    let result = try body { (bytes) throws(StoreCareError) in try file.write(bytes) }
    try file.publish(at: path)
    return result
  }
}

/// One export.
private final class ArchiveExport {
  private let database: Database
  private let origin: UInt64
  private let isOpen: Bool
  private let seals: ValueSeals
  private let identifiers = IdentifierTable()
  private let writer: ArchiveWriter

  init(_ database: Database, origin: UInt64, isOpen: Bool, _ sealing: StoreSealing?, _ sink: @escaping ([UInt8]) throws -> Void) {
    self.database = database
    (self.origin, self.isOpen) = (origin, isOpen)
    seals = ValueSeals(origin: origin, sealing, isStrict: true)
    writer = ArchiveWriter(sink)
  }

  func run(program: String?, _ step: StoreStep.Observer) throws -> StoreExport.Result {
    let total = try Int.fetchOne(database, sql: "SELECT (SELECT count(*) FROM requests) + (SELECT count(*) FROM runs)") ?? 0
    try head(program)
    let requests = try self.requests { step(StoreStep("exporting", done: $0, of: total)) }
    let runs = try self.runs { step(StoreStep("exporting", done: requests + $0, of: total)) }
    try schedules()
    try pluginRecords()
    try pauses()
    try keys()
    try writer.finish()
    return StoreExport.Result(requests: requests, runs: runs, lines: writer.lines)
  }

  private func rows(_ sql: String, _ read: (borrowing PreparedStatement.Columns) throws -> Void) throws {
    try PreparedStatement(database, sql).visit([]) { row in
      try read(row)
      return true
    }
  }

  private func request(_ sequence: Int64?) -> RequestID? { sequence.map { RequestID(sequence: $0, origin: origin) } }
  private func run(_ sequence: Int64?) -> RunID? { sequence.map { RunID(sequence: $0, origin: origin) } }
  private func name(_ number: Int64) throws -> TaskIdentifier { try identifiers.name(of: number, in: database) }

  // MARK: Records

  private func head(_ program: String?) throws {
    let highest = try Int64.fetchOne(database, sql: "SELECT highest FROM origin") ?? 0
    let lastPause = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'pauses'")
    try writer.head(origin: origin, highest: highest, lastPause: lastPause, isOpen: isOpen, program: program)
  }

  private func requests(_ done: (Int) -> Void) throws -> Int {
    let parts = try [SealedPart.payload, .eventPayload, .checkpoint].map { part in
      (part: part, select: try PreparedStatement(database, "SELECT bytes, sealed FROM \(part.table) WHERE request = ?"))
    }
    let edges = try PreparedStatement(database, EdgeColumns.ofRequest)
    var count = 0
    try rows("SELECT \(RequestColumns.list) FROM requests ORDER BY id") { row in
      let id = row.integer(0)
      let bytes = try parts.map { part in
        try part.select.rows(.integer(id)) { try seals.bytes($0, at: 0, sealed: 1, SealedPlace(part.part, .integer(id))) }.first
      }
      var record = try RequestColumns.record(row, origin: origin, seals, name: name)
      record.request.payload = bytes[0] ?? []
      let request = ArchivedRequest(
        record: record, eventPayload: bytes[1], checkpoint: bytes[2],
        edges: try edges.rows(.integer(id)) { try EdgeColumns.record($0, of: id, origin: origin, seals) })
      try writer.add(request)
      count += 1
      if count.isMultiple(of: 1024) { done(count) }
    }
    return count
  }

  private func runs(_ done: (Int) -> Void) throws -> Int {
    var count = 0
    try rows("SELECT \(RunColumns.list), \(RunColumns.reported) FROM runs ORDER BY id") { row in
      var record = try RunColumns.record(row, origin: origin, seals, name: name)
      try RunColumns.report(row, at: RunColumns.count, of: row.integer(0), to: &record.report, seals)
      try writer.add(record)
      count += 1
      if count.isMultiple(of: 1024) { done(count) }
    }
    return count
  }

  private func schedules() throws {
    let sql = """
      SELECT i.name, s.kind, s.name, s.run, s.success, s.success_ms, s.failures, s.failing_since_ms
      FROM schedules s JOIN identifiers i ON i.id = s.identifier ORDER BY i.name, s.kind, s.name
      """
    try rows(sql) { row in
      let kind = try StoredScheduleKind(stored: row.integer(1))
      try writer.line(.schedule) { writer in
        writer.member("identifier", row.text(0))
        switch kind {
        case .others: break
        case .key: writer.member("unique_key", row.text(2))
        case .request: writer.id("request", request(Int64(row.text(2)) ?? 0))
        }
        writer.id("last_run", run(row.optionalInteger(3)))
        writer.id("last_success", run(row.optionalInteger(4)))
        writer.time("last_success_unix_ms", row.optionalInteger(5).map(WallTime.init(stored:)))
        if row.integer(6) > 0 { writer.member("failures", row.integer(6)) }
        writer.time("failing_since_unix_ms", row.optionalInteger(7).map(WallTime.init(stored:)))
      }
    }
  }

  private func pluginRecords() throws {
    let state =
      "SELECT i.name, s.key, s.value, s.sealed, i.id FROM state s JOIN identifiers i ON i.id = s.identifier ORDER BY i.name, s.key"
    try rows(state) { row in
      let value = try seals.bytes(row, at: 2, sealed: 3, SealedPlace(.state, .integer(row.integer(4)), .text(row.text(1))))
      try writer.line(.state) { writer in
        writer.member("identifier", row.text(0))
        writer.member("key", row.text(1))
        writer.blob("value", value)
      }
    }
    let standing = """
      SELECT i.name, strikes, host_crashes, held_until_ms, quarantined_ms, last_trouble, sealed, i.id FROM standing s
      JOIN identifiers i ON i.id = s.identifier ORDER BY i.name
      """
    try rows(standing) { row in
      let trouble = try seals.text(row, at: 5, sealed: 6, SealedPlace(.trouble, .integer(row.integer(7))))
      try writer.line(.health) { writer in
        writer.member("identifier", row.text(0))
        writer.member("failures", StoredNumber.count(row.integer(1)))
        writer.member("host_crashes", StoredNumber.count(row.integer(2)))
        writer.time("held_until_unix_ms", row.optionalInteger(3).map(WallTime.init(stored:)))
        writer.time("quarantined_unix_ms", row.optionalInteger(4).map(WallTime.init(stored:)))
        writer.member("last_trouble", trouble)
      }
    }
    try rows("SELECT i.name, o.since_ms FROM objectives o JOIN identifiers i ON i.id = o.identifier ORDER BY i.name") { row in
      try writer.line(.objective) { writer in
        writer.member("identifier", row.text(0))
        writer.time("since_unix_ms", WallTime(stored: row.integer(1)))
      }
    }
  }

  private func pauses() throws {
    try rows("SELECT \(PauseColumns.list) FROM pauses ORDER BY id") { try writer.add(PauseColumns.pause($0, seals)) }
    try rows("SELECT boot, offset_ms FROM clock") { row in
      try writer.line(.clock) { writer in
        writer.member("boot", row.text(0))
        writer.member("offset_ms", row.integer(1))
      }
    }
  }

  private func keys() throws {
    let submissions = """
      SELECT s.submitter, i.name, s.key, s.fingerprint, s.request, s.disposition, s.submitted_ms, s.sealed
      FROM submissions s
      LEFT JOIN identifiers i ON i.id = s.submitter ORDER BY i.name, s.submitter, s.key
      """
    try rows(submissions) { row in
      let disposition = try Disposition(stored: row.integer(5))
      let place = SealedPlace(.fingerprint, .integer(row.integer(0)), .text(row.text(2)))
      let fingerprint = try seals.values(row, sealed: 7, place)?.first?.number ?? row.integer(3)
      let key = ArchivedRequests.Key(
        key: row.text(2), fingerprint: UInt64(bitPattern: fingerprint),
        request: RequestID(sequence: row.integer(4), origin: origin),
        submitted: WallTime(stored: row.integer(6)))
      try writer.add(key, of: row.optionalText(1), isForAll: row.integer(0) == -1, disposition: disposition)
    }
    let windows = """
      SELECT i.name, w.key, w.request, w.until_ms FROM unique_windows w JOIN identifiers i ON i.id = w.identifier ORDER BY i.name, w.key
      """
    try rows(windows) { row in
      try writer.add(
        ArchivedRequests.Window(
          identifier: try TaskIdentifier(row.text(0)), key: row.text(1),
          request: RequestID(sequence: row.integer(2), origin: origin),
          until: WallTime(stored: row.integer(3))))
    }
  }
}
