import GRDB
import GRDBSQLite

/// An SQL statement that is prepared once and run often.
///
/// Binds values directly, because GRDB's argument lists cost more than SQLite itself for a row of the dispatch path. Used only on the
/// writing thread, inside a transaction.
final class PreparedStatement {
  private let statement: Statement
  private let raw: OpaquePointer
  private let connection: OpaquePointer?

  /// Prepares a single statement.
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

  /// Runs a statement that returns no rows. Returns the number of changed rows.
  @discardableResult func run(_ values: Value...) throws -> Int { try run(values) }

  /// The same with the values as a list.
  @discardableResult func run(_ values: [Value]) throws -> Int {
    defer { finish() }
    try bind(values)
    let code = sqlite3_step(raw)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    return Int(sqlite3_changes(connection))
  }

  /// Like ``run(_:)``, but `bind` binds the values in the order of the statement's parameters. Avoids building a list for each of thousands
  /// of rows.
  @discardableResult func run(binding bind: (inout Binder) throws -> Void) throws -> Int {
    defer { finish() }
    var binder = Binder(raw: raw)
    try bind(&binder)
    guard binder.code == SQLITE_OK else { throw failure(binder.code) }
    let code = sqlite3_step(raw)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    return Int(sqlite3_changes(connection))
  }

  /// Binds parameters in order. Unbound parameters and nil become NULL.
  struct Binder: ~Copyable {
    fileprivate let raw: OpaquePointer
    private var position: Int32 = 0
    /// The first error.
    fileprivate private(set) var code = SQLITE_OK

    fileprivate init(raw: OpaquePointer) { self.raw = raw }

    mutating func integer(_ value: Int64) {
      position += 1
      note(sqlite3_bind_int64(raw, position, value))
    }

    mutating func integer(_ value: Int64?) {
      guard let value else { return skip() }
      integer(value)
    }

    mutating func text(_ value: String?) {
      guard var value else { return skip() }
      position += 1
      note(
        value.withUTF8 { bytes in
          bytes.withMemoryRebound(to: CChar.self) { sqlite3_bind_text(raw, position, $0.baseAddress, Int32($0.count), copied) }
        })
    }

    mutating func value(_ value: Value) {
      position += 1
      note(PreparedStatement.bind(value, at: position, of: raw))
    }

    /// Leaves a parameter NULL.
    mutating func skip() { position += 1 }

    private mutating func note(_ result: Int32) { if code == SQLITE_OK { code = result } }
  }

  /// Runs the statement and returns the results of `read` for all rows.
  func rows<Element>(_ values: Value..., read: (borrowing Columns) throws -> Element) throws -> [Element] {
    try rows(values, read: read)
  }

  /// The same with the values as a list.
  func rows<Element>(_ values: [Value], read: (borrowing Columns) throws -> Element) throws -> [Element] {
    var elements: [Element] = []
    try visit(values) { row in
      elements.append(try read(row))
      return true
    }
    return elements
  }

  /// Runs the statement and calls `body` for each row until it returns false.
  ///
  /// - Returns: Whether `body` has seen all rows.
  @discardableResult func visit(_ values: [Value], _ body: (borrowing Columns) throws -> Bool) throws -> Bool {
    defer { finish() }
    try bind(values)
    while true {
      let code = sqlite3_step(raw)
      if code == SQLITE_DONE { return true }
      guard code == SQLITE_ROW else { throw failure(code) }
      guard try body(Columns(raw: raw)) else { return false }
    }
  }

  /// The columns of the current row, by position from 0.
  struct Columns: ~Copyable {
    fileprivate let raw: OpaquePointer

    func isNull(_ index: Int32) -> Bool { sqlite3_column_type(raw, index) == SQLITE_NULL }

    func isText(_ index: Int32) -> Bool { sqlite3_column_type(raw, index) == SQLITE_TEXT }

    func integer(_ index: Int32) -> Int64 { sqlite3_column_int64(raw, index) }

    func optionalInteger(_ index: Int32) -> Int64? {
      sqlite3_column_type(raw, index) == SQLITE_NULL ? nil : sqlite3_column_int64(raw, index)
    }

    func optionalText(_ index: Int32) -> String? {
      // Reads the text by its length, because it can contain a zero byte.
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
      let code = Self.bind(value, at: Int32(index + 1), of: raw)
      guard code == SQLITE_OK else { throw failure(code) }
    }
  }

  private static func bind(_ value: Value, at position: Int32, of raw: OpaquePointer) -> Int32 {
    switch value {
    case .null: sqlite3_bind_null(raw, position)
    case .integer(let integer): sqlite3_bind_int64(raw, position, integer)
    case .text(var text):
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { sqlite3_bind_text(raw, position, $0.baseAddress, Int32($0.count), copied) }
      }
    case .blob(let bytes):
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(raw, position, 0)
        : bytes.withUnsafeBytes { sqlite3_bind_blob(raw, position, $0.baseAddress, Int32($0.count), copied) }
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
}

/// SQLITE_TRANSIENT: SQLite copies the bound value.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
