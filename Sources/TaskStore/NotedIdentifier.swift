import GRDB
import GRDBSQLite

/// The SQL function `noted(identifier)`, which returns true and stores its argument. A statement that changes a row by its id thus also
/// reports the row's identifier. `RETURNING` takes five times as long, a separate query three times.
///
/// Belongs to one connection and its thread.
final class NotedIdentifier {
  /// The argument of the last call.
  private(set) var value: Int64 = 0

  /// Defines the function for the lifetime of the connection.
  init(_ database: Database) throws {
    let code = sqlite3_create_function_v2(
      database.sqliteConnection, "noted", 1, SQLITE_UTF8, Unmanaged.passRetained(self).toOpaque(),
      { context, _, values in
        guard let object = sqlite3_user_data(context), let values else { return }
        Unmanaged<NotedIdentifier>.fromOpaque(object).takeUnretainedValue().value = sqlite3_value_int64(values[0])
        sqlite3_result_int(context, 1)
      }, nil, nil,
      { object in
        guard let object else { return }
        Unmanaged<NotedIdentifier>.fromOpaque(object).release()
      })
    guard code == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "SQLite refused the function noted")
    }
  }
}
