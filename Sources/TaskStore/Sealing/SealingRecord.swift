import GRDB
import TaskModel
import ValueSealing

/// What a store records about how its values are written: the tables `sealing` and `seal_keys`.
struct SealingRecord: Equatable {
  /// The key that seals; nil if values are written plain.
  var key: KeyID?
  /// Whether each value is written so.
  var isWhole: Bool
  /// Whether no unused space of the file can have a plain value.
  var isClean: Bool
  /// The keys that values may need.
  var needed: [KeyID]

  /// - Parameter needed: The keys that values may need, and nothing else is known.
  init(needed: [KeyID]) { (key, isWhole, isClean, self.needed) = (nil, false, false, needed.sorted()) }

  /// Nil for a store of an earlier version, which has no sealed values.
  init?(_ database: Database) throws {
    guard try database.tableExists("sealing") else { return nil }
    let rows = try PreparedStatement(database, "SELECT key, is_whole, is_clean FROM sealing").rows {
      (key: $0.optionalInteger(0), isWhole: $0.integer(1) != 0, isClean: $0.integer(2) != 0)
    }
    guard let row = rows.first else { throw UnknownStoredValue(type: "record of sealing", value: 0) }
    (key, isWhole, isClean) = (row.key.map(KeyID.init(stored:)), row.isWhole, row.isClean)
    needed = try PreparedStatement(database, "SELECT id FROM seal_keys").rows { KeyID(stored: $0.integer(0)) }.sorted()
  }

  /// Throws `sealed` if values may need keys that are not there.
  static func check(_ sealing: StoreSealing?, in database: Database) throws {
    guard let record = try SealingRecord(database), let missing = record.missing(from: sealing) else { return }
    throw StoreError.sealed(missing)
  }

  /// The keys that are needed and not there, as a sentence; nil if there are none.
  func missing(from sealing: StoreSealing?) -> String? {
    let missing = needed.filter { sealing?.keys.key($0) == nil }
    guard !missing.isEmpty else { return nil }
    let names = missing.map(\.description).joined(separator: ", ")
    let what = missing.count == 1 ? "the key \(names)" : "the keys \(names)"
    guard let sealing else { return "the store is sealed with \(what), and there is no [encryption]" }
    let there = sealing.keys.ids.map(\.description).joined(separator: ", ")
    return "the store is sealed with \(what), and the key file has only \(there)"
  }

  /// Records that values are written so from now on, before the first one is. In a transaction of its own.
  ///
  /// - Parameter isNew: Whether nothing has ever been written to the file.
  /// - Returns: Whether values are left that are written otherwise.
  @discardableResult static func begin(_ sealing: StoreSealing?, isNew: Bool, in database: Database) throws -> Bool {
    // From now on, SQLite overwrites what it removes.
    if sealing?.target != nil { try database.execute(sql: "PRAGMA secure_delete = ON") }
    guard let record = try SealingRecord(database) else { return false }
    let target = sealing?.target
    guard record.key != target || isNew && target != nil else { return !record.isWhole }
    try database.inTransaction(.immediate) {
      if let target { try database.execute(sql: "INSERT OR IGNORE INTO seal_keys (id) VALUES (?)", arguments: [target.stored]) }
      try database.execute(
        sql: "UPDATE sealing SET key = ?, is_whole = ?, is_clean = ?",
        // Values that another key has sealed are not plain.
        arguments: [target?.stored, isNew, target != nil && (isNew || record.isClean)])
      return .commit
    }
    return !isNew
  }

  /// Records that each value is written with `key`, or plain, and forgets the other keys.
  static func becomeWhole(_ key: KeyID?, in database: Database) throws {
    try database.execute(sql: "DELETE FROM seal_keys WHERE id IS NOT ?", arguments: [key?.stored])
    try database.execute(sql: "UPDATE sealing SET is_whole = 1 WHERE key IS ?", arguments: [key?.stored])
  }

  /// Records that the file was written anew when all of its values were sealed.
  static func becomeClean(in database: Database) throws {
    try database.execute(sql: "UPDATE sealing SET is_clean = 1 WHERE key IS NOT NULL AND is_whole = 1")
  }
}

extension KeyID {
  /// The signed number with the same bits.
  var stored: Int64 { Int64(bitPattern: bits) }

  init(stored: Int64) { self.init(bits: UInt64(bitPattern: stored)) }
}
