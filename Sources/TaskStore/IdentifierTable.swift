import GRDB
import HostThreads
import TaskModel

/// The short numbers that stand for identifiers in the other tables. Rows are only added, and only here, so the cache stays valid.
final class IdentifierTable: Sendable {
  private struct Known {
    var numbers: [TaskIdentifier: Int64] = [:]
    var names: [Int64: TaskIdentifier] = [:]
    /// Some that had no number, as the writing connection found: what a reader sees may be older. One that has got one is in `numbers` too: that
    /// counts.
    var missing: Set<TaskIdentifier> = []
  }

  /// The most that are known to be missing: anybody may ask for any.
  private static let mostMissing = 1024

  private let known = Guarded(Known())

  /// The number of `identifier`, which is added if necessary. Call it in a transaction of the writer; call `forget` after a rollback.
  func number(of identifier: TaskIdentifier, in database: Database) throws -> Int64 {
    if let number = try existingNumber(of: identifier, in: database) { return number }
    try database.execute(sql: "INSERT INTO identifiers (name) VALUES (?)", arguments: [identifier.rawValue])
    let number = database.lastInsertedRowID
    learn(number, identifier)
    return number
  }

  /// The number of `identifier`; nil if it has none.
  func existingNumber(of identifier: TaskIdentifier, in database: Database) throws -> Int64? {
    let isWriter = !database.configuration.readonly
    let (found, isMissing) = known.withLock { ($0.numbers[identifier], isWriter && $0.missing.contains(identifier)) }
    if found != nil || isMissing { return found }
    let number = try Int64.fetchOne(database, sql: "SELECT id FROM identifiers WHERE name = ?", arguments: [identifier.rawValue])
    if let number { learn(number, identifier) } else if isWriter { note(missing: identifier) }
    return number
  }

  /// The numbers of the identifiers that one of the patterns covers.
  func numbers(of patterns: [IdentifierPattern], in database: Database) throws -> Set<Int64> {
    let exact = patterns.compactMap(\.exact)
    if exact.count == patterns.count { return Set(try exact.compactMap { try existingNumber(of: $0, in: database) }) }
    var numbers: Set<Int64> = []
    try PreparedStatement(database, "SELECT id FROM identifiers").visit([]) { row in
      let name = try name(of: row.integer(0), in: database)
      if patterns.contains(where: { $0.matches(name) }) { numbers.insert(row.integer(0)) }
      return true
    }
    return numbers
  }

  /// The identifier that `number` stands for.
  func name(of number: Int64, in database: Database) throws -> TaskIdentifier {
    if let name = known.withLock({ $0.names[number] }) { return name }
    let text = try String.fetchOne(database, sql: "SELECT name FROM identifiers WHERE id = ?", arguments: [number])
    guard let text, let name = try? TaskIdentifier(text) else { throw UnknownStoredValue(type: "identifier", value: number) }
    learn(number, name)
    return name
  }

  /// Clears the cache after a rollback, because it may contain rows that the rollback removed.
  func forget() { known.withLock { $0 = Known() } }

  private func note(missing identifier: TaskIdentifier) {
    known.withLock { known in
      if known.missing.count >= Self.mostMissing { known.missing = [] }
      known.missing.insert(identifier)
    }
  }

  private func learn(_ number: Int64, _ identifier: TaskIdentifier) {
    known.withLock { known in
      known.numbers[identifier] = number
      known.names[number] = identifier
    }
  }
}
