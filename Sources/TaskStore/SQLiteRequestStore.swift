import Failpoints
import Foundation
import GRDB
public import TaskModel

/// The store on SQLite: one file in WAL mode, every commit synced (`synchronous = FULL`), one writing connection, some reading ones.
public final class SQLiteRequestStore: RequestStore {
  /// Drawn when the file was made.
  public let origin: UInt64
  let pool: DatabasePool
  let identifiers = IdentifierTable()
  let lanes: LaneTable
  private let writer: Writer
  private let checkpointer: WALCheckpointer

  /// The transaction object of the writing connection. It never leaves `commit`.
  private struct Writer: @unchecked Sendable {  // reason: used inside the pool's writer access only, which is one thread at a time
    let transaction: SQLiteTransaction
  }

  /// Opens the store in `path`, making it if it is not there.
  ///
  /// - Throws: `locked`, `full`, `readOnly`, `corrupt`, `futureSchema`: nothing was changed.
  public init(path: String) throws(StoreError) {
    do {
      var configuration = Configuration()
      configuration.label = "taskhost store"
      configuration.maximumReaderCount = 4
      configuration.busyMode = .timeout(2)
      pool = try DatabasePool(path: path, configuration: configuration)
      let migrator = Schema.migrator
      if try pool.read({ try migrator.hasBeenSuperseded($0) }) {
        let applied = try pool.read { try migrator.appliedIdentifiers($0) }
        throw StoreError.futureSchema(found: applied.sorted().last ?? "an unknown schema")
      }
      Failpoint.beforeMigration.hit()
      try migrator.migrate(pool)
      Failpoint.afterMigration.hit()
      let identifiers = self.identifiers
      let lanes = LaneTable(identifiers)
      self.lanes = lanes
      (origin, writer) = try pool.writeWithoutTransaction { database in
        // GRDB opens a WAL database with synchronous = NORMAL, which a power failure could take commits from.
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
        try database.execute(sql: "PRAGMA cache_size = -16384")
        // The log keeps its greatest size otherwise.
        try database.execute(sql: "PRAGMA journal_size_limit = 67108864")
        guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else { throw StoreError.other("synchronous = FULL was not taken") }
        let origin = try Self.origin(database)
        return (origin, Writer(transaction: try SQLiteTransaction(database, origin: origin, lanes: lanes, identifiers: identifiers)))
      }
      let checkpointer = try WALCheckpointer(path: path)
      self.checkpointer = checkpointer
      pool.writeWithoutTransaction { checkpointer.observe($0.sqliteConnection) }
    } catch {
      throw StoreError(error)
    }
  }

  private static func origin(_ database: Database) throws -> UInt64 {
    if let bits = try Int64.fetchOne(database, sql: "SELECT bits FROM origin") { return UInt64(bitPattern: bits) }
    let bits = UInt64.random(in: 0...0x3FFF_FFFF_FFFF_FFFF)
    try database.execute(sql: "INSERT INTO origin (bits) VALUES (?)", arguments: [Int64(bitPattern: bits)])
    return bits
  }

  /// One `BEGIN IMMEDIATE … COMMIT` on the writing connection, synced before it returns.
  public func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value {
    do {
      return try pool.writeWithoutTransaction { database in
        let transaction = writer.transaction
        var value: Value?
        do {
          try database.inTransaction(.immediate) {
            transaction.begin()
            value = try body(transaction)
            try transaction.finish()
            Failpoint.beforeCommit.hit()
            return .commit
          }
        } catch {
          transaction.end(isUndone: true)
          throw error
        }
        transaction.end(isUndone: false)
        Failpoint.afterCommit.hit()
        guard let value else { throw StoreError.other("the transaction gave nothing") }
        return value
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Moves what is left of the write-ahead log into the file and closes the connections.
  public func close() {
    checkpointer.stop()
    // A reader that is still busy keeps the log; the next start reads it.
    try? pool.writeWithoutTransaction { database in _ = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    Failpoint.storeSettled.hit()
    writer.transaction.close()
    try? pool.close()
  }

  // MARK: Reading

  /// On a reading connection.
  public func request(_ id: RequestID) throws(StoreError) -> RequestRecord? {
    guard id.origin == origin else { return nil }
    return try read { database in
      let sql = "SELECT \(RequestColumns.list) FROM requests WHERE id = ?"
      guard var found = try PreparedStatement(database, sql).rows(.integer(id.sequence), read: { try record($0, database) }).first else {
        return nil
      }
      found.request.payload = [UInt8](
        try Data.fetchOne(database, sql: "SELECT bytes FROM payloads WHERE request = ?", arguments: [id.sequence]) ?? Data())
      return found
    }
  }

  /// On a reading connection.
  public func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] {
    try read { database in
      var conditions = ["1"]
      var values: [PreparedStatement.Value] = []
      if let identifier = query.identifier {
        guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return [] }
        conditions.append("identifier = ?")
        values.append(.integer(number))
      }
      if let request = query.request {
        // A run is made after its request, and ids rise.
        conditions.append("id > ? AND request = ?")
        values += [.integer(request.sequence), .integer(request.sequence)]
      }
      values.append(.integer(Int64(max(1, query.limit))))
      let sql = "SELECT \(RunColumns.list) FROM runs WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?"
      return try PreparedStatement(database, sql).rows(values) { row in
        try RunColumns.record(row, origin: origin) { try identifiers.name(of: $0, in: database) }
      }
    }
  }

  /// On a reading connection.
  public func run(_ id: RunID) throws(StoreError) -> RunRecord? {
    guard id.origin == origin else { return nil }
    return try read { database in
      let sql = "SELECT \(RunColumns.list), output, log, trouble FROM runs WHERE id = ?"
      return try PreparedStatement(database, sql).rows(.integer(id.sequence)) { row in
        var record = try RunColumns.record(row, origin: origin) { try identifiers.name(of: $0, in: database) }
        record.report.output = row.blob(15)
        record.report.log = try StoredJSON.log(row.optionalText(16))
        record.report.trouble = row.optionalText(17)
        return record
      }.first
    }
  }

  /// On a reading connection.
  public func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]? {
    try read { database in
      guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return nil }
      return try Data.fetchOne(database, sql: "SELECT value FROM state WHERE identifier = ? AND key = ?", arguments: [number, key]).map {
        [UInt8]($0)
      }
    }
  }

  /// On a reading connection.
  public func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]? {
    try read { database in
      try Data.fetchOne(database, sql: "SELECT bytes FROM checkpoints WHERE request = ?", arguments: [request.sequence]).map { [UInt8]($0) }
    }
  }

  /// The greatest id of requests, runs and runs that last.
  public func highestSequence() throws(StoreError) -> Int64 {
    try read { database in
      try Int64.fetchOne(
        database,
        sql:
          "SELECT max(coalesce((SELECT max(id) FROM requests), 0), coalesce((SELECT max(id) FROM runs), 0), coalesce((SELECT max(run) FROM requests WHERE state = 40), 0))"
      ) ?? 0
    }
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
    do { return try pool.read(body) } catch { throw StoreError(error) }
  }

  func record(_ row: borrowing PreparedStatement.Columns, _ database: Database) throws -> RequestRecord {
    try RequestColumns.record(row, origin: origin) { try identifiers.name(of: $0, in: database) }
  }
}

extension StoreError {
  /// What an error of the database means to the host.
  init(_ error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as DatabaseError:
      let detail = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
      switch error.resultCode {
      case .SQLITE_FULL: self = .full(detail)
      case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: self = .readOnly(detail)
      case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked(detail)
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .corrupt(detail)
      default: self = .other(detail)
      }
    default: self = .other("\(error)")
    }
  }
}
