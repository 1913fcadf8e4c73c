import Failpoints
import Foundation
import GRDB
import HostThreads
import Synchronization
public import TaskModel

/// The store on SQLite: one file in WAL mode, every commit synced (`synchronous = FULL`), one writing connection and several reading
/// connections.
public final class SQLiteRequestStore: RequestStore {
  /// Drawn at random when the file was created.
  public let origin: UInt64
  private let path: String
  private let pageSize: Int
  let pool: DatabasePool
  let identifiers = IdentifierTable()
  let lanes: LaneTable
  let seals: ValueSeals
  private let writer: Writer
  private let checkpointer: WALCheckpointer
  private let marks: [StoreMark]
  private let sums: Result<PageSums, PageSums.Unavailable>
  private let isClosed = Guarded(false)
  private let committed = Atomic<UInt64>(0)
  private let check = Guarded<StoreCheck?>(nil)
  struct ResealingState {
    var thread: StoreResealing?
    var changed: (@Sendable (SealingProgress) -> Void)?
  }
  let resealing = Guarded(ResealingState())
  /// The open files of the store.
  public let files: StoreFiles
  /// The number of commits since the store was opened; each waited for the disk.
  public var commits: UInt64 { committed.load(ordering: .relaxed) }
  /// The size of the write-ahead log in bytes.
  public var logBytes: Int64 { Int64(clamping: checkpointer.logPages).multiplied(saturatingBy: Int64(clamping: pageSize)) }
  /// Sentences about accepted and possible losses.
  public let lossNotes: [String]
  /// Why page checksums that should exist are missing, as a sentence; nil if none are missing.
  public var checksumLoss: String? { (try? sums.get())?.loss }

  /// The transaction object of the writing connection. It never leaves `commit`.
  private struct Writer: @unchecked Sendable {  // reason: used inside the pool's writer access only, which is one thread at a time
    let transaction: SQLiteTransaction
  }

  /// Opens or creates the store at `path`.
  ///
  /// - Parameters:
  ///   - marks: Files outside the store that record its content; created if missing.
  ///   - traces: Files that are created only after the store and its mark: if they exist without both, the store was lost.
  ///   - program: The version of this program, for the message of an older one that cannot read the store; nil leaves the recorded one.
  ///   - sealing: The keys of the store's values; nil if none are to be sealed, and none are.
  ///   - acceptsLoss: Whether to continue with the existing store, or a new one, when a mark shows that records are missing.
  ///   - checkpoints: Called on a thread of the store with the error when checkpoints start to fail, and with nil when one succeeds again.
  ///     While they fail, the log grows; nothing committed is lost.
  /// - Throws: `locked`, `full`, `readOnly`, `corrupt`, `futureSchema`, `lost`, `sealed`. Nothing was changed then.
  public init(
    path: String, marks: [String] = [], traces: [String] = [], program: String? = nil, sealing: StoreSealing? = nil,
    acceptsLoss: Bool = false,
    checkpoints: @escaping @Sendable (StoreError?) -> Void = { _ in }
  ) throws(StoreError) {
    self.path = path
    do {
      var recollection = StoreRecollection(path: path, marks: marks, traces: traces)
      if let loss = recollection.lossBeforeOpening {
        guard acceptsLoss else { throw StoreError.lost(loss) }
        try recollection.setAside()
        PageSums.forgetAll(of: path)
        recollection.accept(loss)
      }
      PageSums.forget(pagesInLogOf: path)
      var configuration = Configuration()
      configuration.label = "taskhost store"
      configuration.maximumReaderCount = 4
      configuration.busyMode = .timeout(2)
      // Only a checkpoint that ``PageSums`` knows of may change the database. Reading connections stay open, so their caches are small;
      // the writing one gets a larger one below.
      configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -512") }
      pool = try DatabasePool(path: path, configuration: configuration)
      let migrator = Schema.migrator
      if let error = try pool.read({ try Schema.future(in: $0) }) { throw error }
      if try pool.read({ try migrator.hasBeenSuperseded($0) }) { throw StoreError.futureSchema(found: "an unknown schema") }
      let isNew = try pool.read { try !migrator.hasCompletedMigrations($0) && migrator.appliedIdentifiers($0).isEmpty }
      try pool.read { try SealingRecord.check(sealing, in: $0) }
      // Before anything is changed: another program may have to use the file.
      if let loss = try pool.read({ try Self.loss(recollection, in: $0) }) {
        guard acceptsLoss else { throw StoreError.lost(loss) }
        PageSums.forgetAll(of: path)
        recollection.accept(loss)
      }
      Failpoint.beforeMigration.hit()
      try migrator.migrate(pool)
      Failpoint.afterMigration.hit()
      let identifiers = self.identifiers
      let lanes = LaneTable(identifiers)
      self.lanes = lanes
      (origin, seals, writer) = try pool.writeWithoutTransaction { database in
        // GRDB opens a WAL database with synchronous = NORMAL, so a power failure could lose commits.
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: "PRAGMA cache_size = -16384")
        // Without a limit, the log file never shrinks.
        try database.execute(sql: "PRAGMA journal_size_limit = \(StoreFiles.logLimit)")
        guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else { throw StoreError.other("synchronous = FULL was refused") }
        let origin = try Self.origin(database)
        if let program {
          try database.execute(sql: "UPDATE origin SET program = ?1 WHERE program IS NOT ?1", arguments: [program])
        }
        try SealingRecord.begin(sealing, isNew: isNew, in: database)
        let seals = ValueSeals(origin: origin, sealing)
        let transaction = try SQLiteTransaction(database, origin: origin, seals, lanes: lanes, identifiers: identifiers)
        return (origin, seals, Writer(transaction: transaction))
      }
      let highest = try pool.read { try Self.highestSequence($0) }
      lossNotes = recollection.notes
      let content = StoreMark.Content(origin: origin, sequence: highest, isOpen: true)
      let written = try marks.map { try StoreMark(path: $0, content) }
      self.marks = written
      pageSize = try pool.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } ?? 4096
      let sums: Result<PageSums, PageSums.Unavailable>
      do throws(PageSums.Unavailable) {
        sums = .success(try PageSums(path: path, origin: origin, pageSize: pageSize, isExpected: recollection.knows(origin)))
      } catch { sums = .failure(error) }
      self.sums = sums
      let files = StoreFiles(path: path, pageSize: pageSize)
      self.files = files
      let checkpointer = try WALCheckpointer(path: path, sums: try? sums.get(), mayBegin: { files.check() == nil }, changed: checkpoints) {
        for mark in written { mark.sync() }
      }
      self.checkpointer = checkpointer
      pool.writeWithoutTransaction { checkpointer.observe($0.sqliteConnection) }
    } catch {
      // SQLite moves the log into the database when its connections close.
      PageSums.forget(pagesInLogOf: path)
      throw StoreError(error)
    }
  }

  /// A sentence about a file at `path` that is not a mark of a store; nil for a mark or no file. Call this before opening a store with a
  /// mark path that an operator chose, because opening replaces the file.
  public static func foreign(atMark path: String) -> String? { StoreMark.foreign(atMark: path) }

  /// The identity of a store; nil if it has none yet.
  static func recordedOrigin(_ database: Database) throws -> UInt64? {
    try Int64.fetchOne(database, sql: "SELECT bits FROM origin").map { UInt64(bitPattern: $0) }
  }

  private static func origin(_ database: Database) throws -> UInt64 {
    if let origin = try recordedOrigin(database) { return origin }
    let bits = UInt64.random(in: 0...0x3FFF_FFFF_FFFF_FFFF)
    try database.execute(sql: "INSERT INTO origin (bits) VALUES (?)", arguments: [Int64(bitPattern: bits)])
    return bits
  }

  /// Runs one `BEGIN IMMEDIATE … COMMIT` on the writing connection, synced before it returns.
  public func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value {
    do {
      if let error = files.checkBeforeCommit() { throw error }
      return try pool.writeWithoutTransaction { _ in
        let transaction = writer.transaction
        let value: Value
        do {
          try transaction.begin()
          value = try body(transaction)
          try transaction.finish()
          Failpoint.beforeCommit.hit()
          try transaction.commit()
          if let error = files.checkAfterCommit(logPages: checkpointer.logPages) { throw error }
        } catch {
          transaction.end(isUndone: true)
          throw error
        }
        committed.add(1, ordering: .relaxed)
        let highest = transaction.highestAdded
        transaction.end(isUndone: false)
        for mark in marks { mark.note(highest) }
        Failpoint.afterCommit.hit()
        return value
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Empties SQLite's caches.
  ///
  /// The reading connections stay open: the queue of one that closes is destroyed on a pool of Dispatch, and a thread of that pool then wakes
  /// every second.
  public func giveBackMemory() {
    guard !isClosed.withLock({ $0 }) else { return }
    try? pool.read { $0.releaseMemory() }
    pool.writeWithoutTransaction { $0.releaseMemory() }
  }

  /// Moves the rest of the write-ahead log into the file and closes the connections.
  public func close() {
    isClosed.withLock { $0 = true }
    check.withLock { $0?.stop() }
    stopResealing()
    checkpointer.stop()
    guard files.check() == nil else {
      // SQLite would remove the log by its name, which may now be another file. Leave the connections open until the process ends.
      _ = Unmanaged.passRetained(pool)
      return
    }
    files.end()
    for mark in marks { mark.end() }
    // If a reader is still busy, the log stays and the next start reads it.
    try? pool.writeWithoutTransaction { database in
      // Nobody writes now, so the log contains exactly the pages that the checkpoint changes.
      let changed = WALPages(path + "-wal")?.numbers ?? []
      let sums = try? sums.get()
      sums?.willChange(changed)
      let busy = try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      // If a reader was busy, SQLite or the next host moves the rest later.
      if busy == 0 { sums?.haveChanged(changed, isComplete: true) }
    }
    Failpoint.storeSettled.hit()
    writer.transaction.close()
    try? pool.close()
  }

  /// Announces the pages in the log if the store was not closed, because SQLite then moves them into the database itself.
  deinit {
    guard !isClosed.withLock({ $0 }) else { return }
    checkpointer.stop()
    guard let changed = WALPages(path + "-wal")?.numbers else { return }
    (try? sums.get())?.willChange(changed)
  }

  /// Starts the search for damage (``StoreCheck``). Call it once.
  ///
  /// - Parameter done: Called with the result on the check's thread, unless the store is closed first. Also called on other threads for
  ///   damage that is already known or that a checkpoint finds later, each time with all known damage.
  public func beginCheck(done: @escaping @Sendable (StoreCheck.Result) -> Void) {
    (try? sums.get())?.observe { done(StoreCheck.Result($0)) }
    let begun = StoreCheck(sums, done: done)
    check.withLock { $0 = begun }
  }

  // MARK: Reading

  /// Uses a reading connection.
  public func request(_ id: RequestID) throws(StoreError) -> RequestRecord? {
    guard id.origin == origin else { return nil }
    return try read { database in
      let sql = "SELECT \(RequestColumns.list) FROM requests WHERE id = ?"
      guard var found = try PreparedStatement(database, sql).rows(.integer(id.sequence), read: { try record($0, database) }).first else {
        return nil
      }
      found.request.payload = try payload(id.sequence, by: PreparedStatement(database, Self.payloadSQL))
      return found
    }
  }

  /// Uses a reading connection.
  public func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] {
    try read { database in
      var conditions = ["1"]
      var values: [PreparedStatement.Value] = []
      if let identifier = query.identifier {
        guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return [] }
        conditions.append("identifier = ?")
        values.append(.integer(number))
      }
      if !query.identifiers.isEmpty {
        let numbers = try identifiers.numbers(of: query.identifiers, in: database)
        conditions.append("identifier IN (\(numbers.map(String.init).joined(separator: ", ")))")
      }
      if let id = query.id {
        conditions.append("id BETWEEN ? AND ?")
        values += [.integer(id.sequences.lowerBound), .integer(id.sequences.upperBound)]
      }
      if let request = query.request {
        // A run is created after its request, and ids increase.
        conditions.append("id > ? AND request = ?")
        values += [.integer(request.sequence), .integer(request.sequence)]
      }
      if !query.outcomes.isEmpty { conditions.append("outcome IN (\(query.outcomes.map { "\($0.stored)" }.joined(separator: ", ")))") }
      for (condition, value) in [
        ("started_ms >= ?", query.since?.unixMilliseconds), ("started_ms < ?", query.until?.unixMilliseconds),
        ("id < ?", query.after?.sequence),
      ] {
        guard let value else { continue }
        conditions.append(condition)
        values.append(.integer(value))
      }
      values.append(.integer(Int64(max(1, query.limit))))
      let sql = "SELECT \(RunColumns.list) FROM runs WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?"
      let found = try PreparedStatement(database, sql).rows(values) { try run($0, database) }
      // The last digits of an id are not in the rows.
      return query.id.map { id in found.filter { id.matches($0.id) } } ?? found
    }
  }

  /// Uses a reading connection.
  public func run(_ id: RunID) throws(StoreError) -> RunRecord? {
    guard id.origin == origin else { return nil }
    return try read { database in
      let sql = "SELECT \(RunColumns.list), \(RunColumns.reported) FROM runs WHERE id = ?"
      return try PreparedStatement(database, sql).rows(.integer(id.sequence)) { row in
        var record = try run(row, database)
        try RunColumns.report(row, at: RunColumns.count, of: id.sequence, to: &record.report, seals)
        return record
      }.first
    }
  }

  /// Uses a reading connection.
  public func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]? {
    try read { database in
      guard let number = try identifiers.existingNumber(of: identifier, in: database) else { return nil }
      let select = try PreparedStatement(database, "SELECT value, sealed FROM state WHERE identifier = ? AND key = ?")
      return try select.rows(.integer(number), .text(key)) {
        try seals.bytes($0, at: 0, sealed: 1, SealedPlace(.state, .integer(number), .text(key)))
      }.first
    }
  }

  /// Uses a reading connection.
  public func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]? {
    try read { database in
      try PreparedStatement(database, "SELECT bytes, sealed FROM checkpoints WHERE request = ?").rows(.integer(request.sequence)) {
        try seals.bytes($0, at: 0, sealed: 1, SealedPlace(.checkpoint, .integer(request.sequence)))
      }.first
    }
  }

  /// The highest id of requests, ended runs and live runs.
  public func highestSequence() throws(StoreError) -> Int64 {
    try read { try Self.highestSequence($0) }
  }

  /// In a store of any schema.
  static func highestSequence(_ database: Database) throws -> Int64 {
    // Since schema 4.
    let noted = try database.columns(in: "origin").contains { $0.name == "highest" } ? "(SELECT highest FROM origin)" : "0"
    return try Int64.fetchOne(
      database,
      sql: """
        SELECT max(coalesce((SELECT max(id) FROM requests), 0), coalesce((SELECT max(id) FROM runs), 0),
          coalesce((SELECT max(run) FROM requests WHERE state = 40), 0), coalesce((SELECT max(run) FROM requests WHERE state = 30), 0),
          coalesce(\(noted), 0))
        """) ?? 0
  }

  /// What a store lacks that may not have been migrated yet, or have no tables; nil if that is nothing.
  private static func loss(_ recollection: StoreRecollection, in database: Database) throws -> String? {
    let hasTables = try database.tableExists("origin")
    return recollection.loss(
      origin: hasTables ? try recordedOrigin(database) : nil, highest: hasTables ? try highestSequence(database) : 0)
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
    // A new connection would read another file.
    if let error = files.check() { throw error }
    do { return try pool.read(body) } catch { throw StoreError(error) }
  }

  /// What ``payload(_:by:)`` asks.
  static let payloadSQL = "SELECT bytes, sealed FROM payloads WHERE request = ?"

  /// The submitted payload of a request; empty if it has none.
  func payload(_ request: Int64, by select: PreparedStatement) throws -> [UInt8] {
    try select.rows(.integer(request)) {
      try seals.bytes($0, at: 0, sealed: 1, SealedPlace(.payload, .integer(request)))
    }.first ?? []
  }

  /// The same; empty if it does not open.
  func legiblePayload(_ request: Int64, by select: PreparedStatement) throws -> [UInt8] {
    try seals.legible {
      try payload(request, by: select)
    } or: {
      []
    }
  }

  /// The run of a row that selects ``RunColumns/list``.
  func run(_ row: borrowing PreparedStatement.Columns, _ database: Database) throws -> RunRecord {
    try RunColumns.record(row, origin: origin, seals) { try identifiers.name(of: $0, in: database) }
  }

  func record(_ row: borrowing PreparedStatement.Columns, _ database: Database) throws -> RequestRecord {
    try RequestColumns.record(row, origin: origin, seals) { try identifiers.name(of: $0, in: database) }
  }
}

extension StoreError {
  /// Converts a database error.
  init(_ error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as DamagedValue: self = .damagedValue(error.description)
    case let error as DatabaseError:
      let detail = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
      switch error.resultCode {
      case .SQLITE_FULL: self = .full(detail)
      case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: self = .readOnly(detail)
      case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked(detail)
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .corrupt(detail)
      // SQLite does not say why a file cannot be written.
      case .SQLITE_IOERR:
        let limit = FileSizeLimit.bytes.map { ": files may not grow beyond \($0) bytes here: \(FileSizeLimit.remedy)" }
        self = .other(detail + (limit ?? ""))
      default: self = .other(detail)
      }
    default: self = .other("\(error)")
    }
  }
}
