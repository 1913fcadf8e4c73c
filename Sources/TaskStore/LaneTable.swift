import GRDB
import HostThreads
import TaskModel

/// The short numbers that stand for lanes. Only the writing connection uses this table. It adds and removes rows but never changes one, so
/// the cache stays valid until `forget` is called.
final class LaneTable: Sendable {
  private struct Known {
    var numbers: [Lane: Int64] = [:]
    var lanes: [Int64: Lane] = [:]
  }

  private let known = Guarded(Known())
  private let identifiers: IdentifierTable

  init(_ identifiers: IdentifierTable) { self.identifiers = identifiers }

  /// The number of a lane, which is added if necessary. Call it in a transaction of the writer; call `forget` after a rollback.
  func number(of lane: Lane, in database: Database) throws -> Int64 {
    if let number = try existingNumber(of: lane, in: database) { return number }
    let identifier = try identifiers.number(of: lane.identifier, in: database)
    try database.execute(
      sql: "INSERT INTO lanes (identifier, gates) VALUES (?, ?)", arguments: [identifier, try StoredGates.text(of: lane.gates)])
    let number = database.lastInsertedRowID
    learn(number, lane)
    return number
  }

  /// The number of a lane; nil if it has none.
  func existingNumber(of lane: Lane, in database: Database) throws -> Int64? {
    if let number = known.withLock({ $0.numbers[lane] }) { return number }
    guard let identifier = try identifiers.existingNumber(of: lane.identifier, in: database) else { return nil }
    // A lane of the host's fleet has no number here, and is asked for each time.
    let number = try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT id FROM lanes WHERE identifier = ? AND gates = ?"),
      arguments: [identifier, try StoredGates.text(of: lane.gates)])
    if let number { learn(number, lane) }
    return number
  }

  /// The lane that `number` stands for.
  func lane(of number: Int64, in database: Database) throws -> Lane {
    if let lane = known.withLock({ $0.lanes[number] }) { return lane }
    guard let row = try Row.fetchOne(database, sql: "SELECT identifier, gates FROM lanes WHERE id = ?", arguments: [number]) else {
      throw UnknownStoredValue(type: "lane", value: number)
    }
    let lane = Lane(try identifiers.name(of: row[0], in: database), try StoredGates.gates(row[1]))
    learn(number, lane)
    return lane
  }

  /// Clears the cache after a rollback, because it may contain rows that the rollback removed.
  func forget() { known.withLock { $0 = Known() } }

  /// Forgets a removed lane.
  func forget(_ number: Int64) {
    known.withLock { known in
      guard let lane = known.lanes.removeValue(forKey: number) else { return }
      known.numbers[lane] = nil
    }
  }

  /// Releases unused memory after lanes were removed.
  func compact() {
    known.withLock { known in
      guard known.lanes.capacity > max(1024, known.lanes.count * 4) else { return }
      known = Known(
        numbers: Dictionary(known.numbers.map { ($0.key, $0.value) }) { first, _ in first },
        lanes: Dictionary(known.lanes.map { ($0.key, $0.value) }) { first, _ in first })
    }
  }

  /// The number of cached lanes.
  var count: Int { known.withLock { $0.lanes.count } }

  private func learn(_ number: Int64, _ lane: Lane) {
    known.withLock { known in
      known.numbers[lane] = number
      known.lanes[number] = lane
    }
  }
}
