import GRDB
import GRDBSQLite
import Glibc
public import TaskModel
import ValueSealing

/// A look at a store that no host has open. Changes nothing: no log, no lock and no mark is made.
public enum StoreGlance: Sendable, Equatable {
  /// There is no store.
  case absent
  /// Its last host did not close it, so a part of it is in its log, which only an opening store may read.
  case open
  /// It passed SQLite's check. The value is the number of its requests.
  case whole(requests: Int64)
  /// It can be read; a check would take long.
  case large
  /// A launch would fail, with this error.
  case flaw(StoreError)

  /// Bytes that are checked within a second or so.
  private static let most: Int64 = 64 << 20

  /// Looks at the store at `path`.
  ///
  /// - Parameter marks: The files that record its content.
  public static func look(at path: String, marks: [String]) -> Self {
    if let loss = StoreRecollection(path: path, marks: marks, traces: []).lossBeforeOpening { return .flaw(.lost(loss)) }
    var info = stat()
    guard stat(path, &info) == 0 else {
      return errno == ENOENT ? .absent : .flaw(.readOnly("\(path): \(String(cString: strerror(errno)))"))
    }
    guard info.st_mode & S_IFMT == S_IFREG else { return .flaw(.corrupt("\(path) is not a file")) }
    guard info.st_size > 0 else { return .absent }
    guard access(path, R_OK | W_OK) == 0 else { return .flaw(.readOnly("\(path): \(String(cString: strerror(errno)))")) }
    var log = stat()
    guard stat(path + "-wal", &log) != 0 || log.st_size == 0 else { return .open }
    do throws(StoreError) { return try read(path, isLarge: info.st_size > most) } catch { return .flaw(error) }
  }

  /// Whether a store that no host has open needs keys, and has them.
  ///
  /// - Returns: Nil if that is unknown: a host has it open, it was not closed, or it cannot be read.
  /// - Throws: `sealed` if keys are missing.
  public static func needsKeys(_ path: String, _ sealing: StoreSealing?) throws(StoreError) -> Bool? {
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return errno == ENOENT ? false : nil }
    guard info.st_size > 0 else { return false }
    guard stat(path + "-wal", &info) != 0 else { return nil }
    var database: OpaquePointer?
    let result = sqlite3_open_v2("file:\(escaped(path))?immutable=1", &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
    defer { sqlite3_close_v2(database) }
    guard result == SQLITE_OK, let database else { return nil }
    // A store of an earlier version has no such table.
    guard let ids = try? texts("SELECT id FROM seal_keys", database) else { return false }
    let record = SealingRecord(needed: ids.compactMap { Int64($0) }.map(KeyID.init(stored:)))
    if let missing = record.missing(from: sealing) { throw .sealed(missing) }
    return !record.needed.isEmpty
  }

  private static func read(_ path: String, isLarge: Bool) throws(StoreError) -> Self {
    var database: OpaquePointer?
    // Immutable: SQLite makes no files beside it.
    let result = sqlite3_open_v2("file:\(escaped(path))?immutable=1", &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
    defer { sqlite3_close_v2(database) }
    guard result == SQLITE_OK, let database else { throw .corrupt(String(cString: sqlite3_errstr(result))) }
    let known = Set(Schema.migrator.migrations)
    if let unknown = try texts("SELECT identifier FROM grdb_migrations ORDER BY rowid", database).last(where: { !known.contains($0) }) {
      throw .futureSchema(found: unknown)
    }
    guard !isLarge else { return .large }
    if let flaw = try texts("PRAGMA quick_check(1)", database).first, flaw != "ok" { throw .corrupt(flaw) }
    return .whole(requests: Int64(try texts("SELECT count(*) FROM requests", database).first ?? "") ?? 0)
  }

  /// The first column of all rows.
  private static func texts(_ sql: String, _ database: OpaquePointer) throws(StoreError) -> [String] {
    func failure() -> StoreError { .corrupt(String(cString: sqlite3_errmsg(database))) }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    defer { sqlite3_finalize(statement) }
    var texts: [String] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
      case SQLITE_DONE: return texts
      default: throw failure()
      }
    }
  }

  /// A path in a URI.
  private static func escaped(_ path: String) -> String {
    path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
  }
}
