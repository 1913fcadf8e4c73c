import Glibc
import GRDB
import TaskModel

/// A store that is read and never written, beside its host or alone. All reads in one call of ``read(_:)`` see the same content.
///
/// While it reads, the host's write-ahead log cannot start again and grows with what the host writes. Closing it leaves the log alone:
/// only a host moves the log into its database, because it keeps checksums of the database's pages.
final class StoreReader {
  /// The path of the database.
  let path: String
  /// The migrations that were applied.
  let migrations: Set<String>
  private let queue: DatabaseQueue

  /// Opens a store.
  ///
  /// - Throws: If there is none, it cannot be opened, or SQLite finds it damaged.
  init(path: String) throws(StoreCareError) {
    self.path = path
    try StorePlace(database: path, marks: []).checkExists()
    do {
      var configuration = Configuration()
      configuration.label = "taskhost reading"
      configuration.readonly = true
      configuration.busyMode = .timeout(5)
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      self.queue = queue
      let migrator = Schema.migrator
      migrations = try queue.read { try migrator.appliedIdentifiers($0) }
      guard try queue.read({ try $0.tableExists("origin") && $0.tableExists("requests") }) else {
        throw StoreCareError(path, "a database, but not a store of taskhost", remedy: "name a backup that taskhost store backup made")
      }
    } catch { throw StoreCareError(path, error) }
  }

  /// Runs `body` in one read transaction.
  func read<Value>(_ body: (Database) throws -> Value) throws(StoreCareError) -> Value {
    do { return try queue.read(body) } catch { throw StoreCareError(path, error) }
  }

  /// Runs `body` outside of a transaction.
  func readWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws(StoreCareError) -> Value {
    do { return try queue.unsafeRead(body) } catch { throw StoreCareError(path, error) }
  }

  /// Closes the store. Other descriptors of its files may be closed only afterwards, because that would end SQLite's locks.
  func close() { try? queue.close() }

  // MARK: The schema

  /// The highest number of the applied migrations; 0 if there is none.
  var schema: Int { migrations.compactMap(Schema.number).max() ?? 0 }

  /// Throws if a newer taskhost wrote the store.
  func checkNotNewer() throws(StoreCareError) {
    guard let error = try read({ try Schema.future(in: $0) }) else { return }
    throw StoreCareError(path, error.observed, remedy: error.remedy)
  }

  /// Throws if values may need keys that are not there.
  func checkKeys(_ sealing: StoreSealing?) throws(StoreCareError) { try read { try SealingRecord.check(sealing, in: $0) } }

  /// Throws unless the store has exactly the schema of this program.
  func checkCurrent() throws(StoreCareError) {
    try checkNotNewer()
    guard schema == Schema.current else {
      throw StoreCareError(
        path, "an older taskhost wrote it (schema \(schema); this one has \(Schema.current))",
        remedy: "start and stop the host once, which migrates the store: taskhost run")
    }
  }
}
