import CPostgres

/// The rows that a statement returned, in PostgreSQL's binary format.
final class PostgresRows {
  private let result: OpaquePointer
  let count: Int

  /// Owns `result` from now on.
  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(pg_ntuples(result))
  }

  deinit { pg_clear(result) }

  /// The bytes of a field; nil for NULL.
  func bytes(_ row: Int, _ column: Int) -> [UInt8]? { field(row, column).map { Array($0) } }

  /// A field of type text, varchar, name or json.
  func text(_ row: Int, _ column: Int) -> String? { field(row, column).map { String(decoding: $0, as: UTF8.self) } }

  /// A field of type smallint, integer, bigint or boolean; nil also for any other.
  func int(_ row: Int, _ column: Int) -> Int64? {
    guard let field = field(row, column) else { return nil }
    let number = field.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch field.count {
    case 1: return Int64(number)
    case 2: return Int64(Int16(truncatingIfNeeded: number))
    case 4: return Int64(Int32(truncatingIfNeeded: number))
    case 8: return Int64(bitPattern: number)
    default: return nil
    }
  }

  func flag(_ row: Int, _ column: Int) -> Bool { int(row, column) == 1 }

  private func field(_ row: Int, _ column: Int) -> UnsafeBufferPointer<UInt8>? {
    guard row < count, column < Int(pg_nfields(result)), pg_is_null(result, Int32(row), Int32(column)) == 0,
      let value = pg_value(result, Int32(row), Int32(column))
    else { return nil }
    let length = Int(pg_length(result, Int32(row), Int32(column)))
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(value).assumingMemoryBound(to: UInt8.self), count: max(0, length))
  }
}
