import GRDB
import TaskModel

/// Writes a store anew without unused space, and builds again what is derived from its records.
public enum StoreVacuum {
  /// The sizes of the database in bytes, and what was mended.
  public struct Result: Sendable, Hashable {
    /// The size before.
    public let before: Int64
    /// The size afterwards.
    public let after: Int64
    /// What an examination found that was built again.
    public let mended: [StoreInspection.Finding]
    /// What it found that stays.
    public let left: [StoreInspection.Finding]
  }

  /// Replaces the store. The caller holds the state directory's lock. On any error, and if this process is killed, the store is as it was.
  ///
  /// - Parameter sealing: The keys: all values of the new file are written with the first of them, and nothing else is in it.
  public static func run(
    _ place: StorePlace, _ sealing: StoreSealing? = nil, _ step: StoreStep.Observer = { _ in }
  ) throws(StoreCareError) -> Result {
    try place.checkExists()
    try StoreInspection.checkPages(of: place, "it stays as it is", step)
    let reader = try StoreReader(path: place.database)
    let file: PendingFile
    let found: StoreInspection
    do {
      defer { reader.close() }
      try reader.checkCurrent()
      found = try StoreInspection.of(reader, sealing, step)
      if let damage = found.findings.first(where: { $0.kind == .damaged || $0.kind == .unreadable }) {
        throw StoreCareError(place.database, "it is damaged (\(damage.observed)), so it stays as it is", remedy: damage.remedy)
      }
      file = try PendingFile(for: place.database)
      step(StoreStep(what: "writing it anew", percent: nil))
      do {
        try reader.readWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [file.path]) }
      } catch { throw StoreCareError(error.path == place.database ? file.path : error.path, error.observed, remedy: error.remedy) }
    }
    if found.findings.contains(where: { $0.kind == .derived }) { try mend(file, sealing) }
    try seal(file, sealing, step)
    try file.settle()
    let (inspection, origin, highest) = try StoreRestore.examine(file.path, named: place.database, sealing, step)
    _ = try place.install(file, origin: origin, highest: highest, keepsOld: false)
    let mended = found.findings.filter { !inspection.findings.contains($0) }
    return Result(before: found.bytes, after: inspection.bytes, mended: mended, left: inspection.findings)
  }

  /// Gives all values of the new file the form in which they are to be written. The file then has nothing else, also in its unused space.
  private static func seal(_ file: PendingFile, _ sealing: StoreSealing?, _ step: StoreStep.Observer) throws(StoreCareError) {
    guard let sealing else { return }
    do {
      let queue = try DatabaseQueue(path: file.path)
      try queue.writeWithoutTransaction { database in
        // The file counts only once it is complete, synced and checked.
        try database.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        let origin = try SQLiteRequestStore.recordedOrigin(database) ?? 0
        if try SealingRecord.begin(sealing, isNew: false, in: database) {
          let done = try Resealing.all(ValueSeals(origin: origin, sealing), database) {
            step(StoreStep(what: "\(sealing.seals ? "sealing" : "unsealing"): \($0) values", percent: nil))
          }
          if let first = done.damaged.first { throw first }
          try SealingRecord.becomeWhole(sealing.target, in: database)
          // Builds the file again, without what was there before its values were rewritten.
          try database.execute(sql: "VACUUM")
        }
        try SealingRecord.becomeClean(in: database)
      }
      try queue.close()
    } catch { throw StoreCareError(file.path, error) }
  }

  /// Builds lanes, tags and counts from the requests, and removes rows of requests that are gone.
  private static func mend(_ file: PendingFile, _ sealing: StoreSealing?) throws(StoreCareError) {
    do {
      let queue = try DatabaseQueue(path: file.path)
      try queue.write { database in
        for table in ["payloads", "event_payloads", "checkpoints", "edges"] {
          try database.execute(sql: "DELETE FROM \(table) WHERE NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = request)")
        }
        try database.execute(
          sql: """
            DELETE FROM request_tags;
            INSERT OR IGNORE INTO request_tags (tag, request) SELECT value, requests.id FROM requests, json_each(tags) WHERE tags IS NOT NULL;
            DELETE FROM request_counts;
            INSERT INTO request_counts (identifier, state, requests) SELECT identifier, state, count(*) FROM requests GROUP BY identifier, state;
            """)
        try mendLanes(database, sealing)
      }
      try queue.close()
    } catch { throw StoreCareError(file.path, error) }
  }

  private static func mendLanes(_ database: Database, _ sealing: StoreSealing?) throws {
    let identifiers = IdentifierTable()
    let lanes = LaneTable(identifiers)
    let origin = try SQLiteRequestStore.recordedOrigin(database) ?? 0
    let seals = ValueSeals(origin: origin, sealing)
    var wrong: [(request: Int64, lane: Lane)] = []
    try PreparedStatement(database, "SELECT \(RequestColumns.list) FROM requests WHERE state = 20").visit([]) { row in
      let record = try RequestColumns.record(row, origin: origin, seals) { try identifiers.name(of: $0, in: database) }
      if (try? lanes.lane(of: row.integer(26), in: database)) != record.lane { wrong.append((row.integer(0), record.lane)) }
      return true
    }
    let update = try PreparedStatement(database, "UPDATE requests SET lane = ? WHERE id = ?")
    for (request, lane) in wrong { try update.run(.integer(try lanes.number(of: lane, in: database)), .integer(request)) }
  }
}
