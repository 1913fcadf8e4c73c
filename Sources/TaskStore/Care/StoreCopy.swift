import GRDB
import GRDBSQLite
import TaskModel

/// Copies a database page by page with SQLite's backup API, as it is at one moment, while others write to it.
enum StoreCopy {
  /// Pages between two reports of progress: 4 MiB.
  private static let pages: Int32 = 1024

  /// Copies the content of `source` into `file`.
  static func copy(_ source: StoreReader, to file: PendingFile, _ step: StoreStep.Observer) throws(StoreCareError) {
    try source.read { from in
      do {
        // Begins the read transaction: all steps copy its content, so that a host that writes meanwhile does not make SQLite begin again.
        _ = try Int.fetchOne(from, sql: "SELECT count(*) FROM sqlite_master")
        var configuration = Configuration()
        configuration.label = "taskhost copy"
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try queue.writeWithoutTransaction { try pages(from, to: $0, step) }
        try queue.close()
      } catch {
        let isSource = (error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT
        throw StoreCareError(isSource ? source.path : file.path, error)
      }
    }
    try file.standAlone()
  }

  private static func pages(_ source: Database, to copy: Database, _ step: StoreStep.Observer) throws {
    // The file counts only once it is complete, synced and checked.
    try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    guard let backup = sqlite3_backup_init(copy.sqliteConnection, "main", source.sqliteConnection, "main") else {
      throw Self.failure(sqlite3_extended_errcode(copy.sqliteConnection), copy)
    }
    var code: Int32
    repeat {
      code = sqlite3_backup_step(backup, pages)
      let total = Int(sqlite3_backup_pagecount(backup))
      step(StoreStep("copying", done: total - Int(sqlite3_backup_remaining(backup)), of: total))
    } while code == SQLITE_OK
    let end = sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, end == SQLITE_OK else { throw Self.failure(end == SQLITE_OK ? code : end, copy) }
  }

  private static func failure(_ code: Int32, _ copy: Database) -> DatabaseError {
    DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
  }
}
