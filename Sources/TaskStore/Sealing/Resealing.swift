import GRDB
import TaskModel
import ValueSealing

/// Brings the values of a store into the form in which they are written now: sealed with the present key, or plain. It goes through the parts
/// in the order of rows, a slice at a time, and can begin anew at any moment: a value that has the form is passed over.
struct Resealing {
  /// Rows to look at in a slice, and to write in one.
  private static let (looked, written) = (1024, 64)
  /// Bytes after which a slice ends.
  private static let bytes = 256 << 10

  /// Values that have the wrong form.
  struct Slice {
    let part: SealedPart
    fileprivate let rows: [Int64]
    var isEmpty: Bool { rows.isEmpty }
  }

  /// The part that is looked at, and the last of its rows that was.
  private var (part, row): (Int, Int64) = (0, .min)
  /// The number of values that were rewritten.
  private(set) var rewritten = 0
  /// Those that do not open, and stay as they are.
  private(set) var damaged: [DamagedValue] = []
  /// The number of those.
  private(set) var damagedCount = 0

  /// Looks for values with the wrong form.
  ///
  /// - Returns: Nil if all parts were looked through. A slice may be empty.
  mutating func look(_ database: Database, _ target: KeyID?) throws -> Slice? {
    guard SealedPart.all.indices.contains(part) else { return nil }
    let place = SealedPart.all[part]
    // An empty blob has no part of its own: SQLite returns NULL.
    let others = target.map {
      "(\(place.isPlain)) OR \(place.sealed) IS NOT NULL AND substr(\(place.sealed), 1, \(SealedValue.headerSize)) IS NOT x'\(Self.hex($0))'"
    }
    let window = "SELECT rowid AS r FROM \(place.table) WHERE rowid > ? ORDER BY rowid LIMIT \(Self.looked)"
    let last = try PreparedStatement(database, "SELECT max(r) FROM (\(window))").rows(.integer(row)) { $0.optionalInteger(0) }.first ?? nil
    guard let last else {
      (part, row) = (part + 1, .min)
      return Slice(part: place, rows: [])
    }
    let sql = """
      SELECT rowid FROM \(place.table) WHERE rowid > ? AND rowid <= ? AND (\(others ?? "\(place.sealed) IS NOT NULL")) ORDER BY rowid
      LIMIT \(Self.written)
      """
    let found = try PreparedStatement(database, sql).rows(.integer(row), .integer(last)) { $0.integer(0) }
    // With as many as a slice may have, there may be more before the window's end.
    row = found.count == Self.written ? found.last ?? last : last
    return Slice(part: place, rows: found)
  }

  private static func hex(_ key: KeyID) -> String {
    SealedValue.header(of: key).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Rewrites the values of a slice in the transaction of the caller. If it has too many bytes, the next call of ``look(_:_:)`` finds the
  /// rest.
  mutating func rewrite(_ slice: Slice, _ seals: ValueSeals, _ database: Database) throws {
    guard !slice.isEmpty else { return }
    let part = slice.part
    let (names, identity) = (part.columns.map(\.name), part.identity.count)
    let select = try PreparedStatement(
      database, "SELECT \((part.identity + names + [part.sealed]).joined(separator: ", ")) FROM \(part.table) WHERE rowid = ?")
    let update = try PreparedStatement(
      database, "UPDATE \(part.table) SET \((names + [part.sealed]).map { "\($0) = ?" }.joined(separator: ", ")) WHERE rowid = ?")
    var bytes = 0
    for row in slice.rows {
      guard bytes < Self.bytes else {
        self.row = row - 1
        return
      }
      let found = try select.rows(.integer(row)) { columns -> (SealedPlace, [PreparedStatement.Value], [UInt8]?)? in
        let place = SealedPlace(part, row: part.identity.indices.map { columns.identity(Int32($0)) })
        let sealed = columns.isNull(Int32(identity + names.count)) ? nil : columns.blob(Int32(identity + names.count))
        return (place, part.columns.enumerated().map { $1.value(columns, at: Int32(identity + $0)) }, sealed)
      }.first
      guard case .some(.some((let place, let plain, let sealed))) = found else { continue }
      do {
        let values = try sealed.map { try seals.opened($0, as: place) } ?? plain
        let written = try seals.written(values, as: place)
        try update.run(written + [.integer(row)])
        rewritten += 1
        bytes += (sealed?.count ?? 0) + written.reduce(0) { $0 + $1.bytes.count }
      } catch let error as DamagedValue {
        damagedCount += 1
        if damaged.count < 8 { damaged.append(error) }
      }
    }
  }

  /// Rewrites everything at once, for a command that has the store for itself.
  static func all(_ seals: ValueSeals, _ database: Database, _ step: (Int) -> Void) throws -> Resealing {
    var resealing = Resealing()
    try database.execute(sql: "PRAGMA secure_delete = ON")
    while let slice = try resealing.look(database, seals.sealing?.target) {
      guard !slice.isEmpty else { continue }
      try database.inTransaction(.immediate) {
        try resealing.rewrite(slice, seals, database)
        return .commit
      }
      step(resealing.rewritten)
    }
    return resealing
  }
}

extension PreparedStatement.Columns {
  /// A column that names a row.
  func identity(_ index: Int32) -> PreparedStatement.Value { isText(index) ? .text(text(index)) : .integer(integer(index)) }
}
