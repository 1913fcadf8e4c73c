import GRDB
import GRDBSQLite

/// A statement of the writing connection that is prepared once and run often.
///
/// GRDB's own argument lists cost more than SQLite does for a row of the dispatch path, so values are bound directly here. Used on the
/// writing thread only, inside a transaction.
final class PreparedStatement {
  private let statement: Statement
  private let raw: OpaquePointer
  private let connection: OpaquePointer?

  /// Prepares `sql`, one statement.
  init(_ database: Database, _ sql: String) throws {
    statement = try database.makeStatement(sql: sql)
    raw = statement.sqliteStatement
    connection = database.sqliteConnection
  }

  /// A value that can be bound.
  enum Value {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func integer(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }
    static func text(_ value: String?) -> Value { value.map { .text($0) } ?? .null }
  }

  /// Runs a statement that gives no rows. Returns how many rows it changed.
  @discardableResult func run(_ values: Value...) throws -> Int {
    defer { finish() }
    try bind(values)
    let code = sqlite3_step(raw)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    return Int(sqlite3_changes(connection))
  }

  /// The rows that `read` makes of what the statement gives.
  func rows<Element>(_ values: Value..., read: (borrowing Columns) throws -> Element) throws -> [Element] {
    try rows(values, read: read)
  }

  /// The same with the values as a list.
  func rows<Element>(_ values: [Value], read: (borrowing Columns) throws -> Element) throws -> [Element] {
    defer { finish() }
    try bind(values)
    var elements: [Element] = []
    while true {
      let code = sqlite3_step(raw)
      if code == SQLITE_DONE { return elements }
      guard code == SQLITE_ROW else { throw failure(code) }
      elements.append(try read(Columns(raw: raw)))
    }
  }

  /// The columns of the present row, by position from 0.
  struct Columns: ~Copyable {
    fileprivate let raw: OpaquePointer

    func integer(_ index: Int32) -> Int64 { sqlite3_column_int64(raw, index) }

    func optionalInteger(_ index: Int32) -> Int64? {
      sqlite3_column_type(raw, index) == SQLITE_NULL ? nil : sqlite3_column_int64(raw, index)
    }

    func optionalText(_ index: Int32) -> String? {
      // By length: a text may contain a zero byte.
      guard let bytes = sqlite3_column_text(raw, index) else { return nil }
      return String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(raw, index))), as: UTF8.self)
    }

    func text(_ index: Int32) -> String { optionalText(index) ?? "" }

    func blob(_ index: Int32) -> [UInt8] {
      guard let bytes = sqlite3_column_blob(raw, index) else { return [] }
      return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(raw, index))))
    }
  }

  private func bind(_ values: [Value]) throws {
    for (index, value) in values.enumerated() {
      let position = Int32(index + 1)
      let code =
        switch value {
        case .null: sqlite3_bind_null(raw, position)
        case .integer(let integer): sqlite3_bind_int64(raw, position, integer)
        case .text(var text):
          text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { sqlite3_bind_text(raw, position, $0.baseAddress, Int32($0.count), Self.copied) }
          }
        case .blob(let bytes):
          bytes.isEmpty
            ? sqlite3_bind_zeroblob(raw, position, 0)
            : bytes.withUnsafeBytes { sqlite3_bind_blob(raw, position, $0.baseAddress, Int32($0.count), Self.copied) }
        }
      guard code == SQLITE_OK else { throw failure(code) }
    }
  }

  private func finish() {
    sqlite3_reset(raw)
    sqlite3_clear_bindings(raw)
  }

  private func failure(_ code: Int32) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "code \(code)")
  }

  /// SQLITE_TRANSIENT: SQLite copies what is bound.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
