import GRDB
import TaskModel

/// The number of requests of each identifier in each state. The commit that changes requests also writes these rows, so that nothing has to
/// count requests.
///
/// Collects the changes of a transaction and writes them once, however many requests change. Used only on the writing thread.
final class RequestCounts {
  /// Consecutive requests in the transaction with the same change of state. A missing state means that the request was added or removed.
  private struct Step {
    let identifier: Int64
    let from, to: Int64?
    var count: Int
  }

  private struct Key: Hashable {
    let identifier, state: Int64
  }

  private let select, add: PreparedStatement
  private var steps: [Step] = []
  /// Steps before this index belong to an outer savepoint and are not merged with new ones.
  private var floor = 0

  init(_ database: Database) throws {
    select = try PreparedStatement(database, "SELECT total(requests) FROM request_counts WHERE identifier = ? AND state < 50")
    add = try PreparedStatement(
      database,
      """
      INSERT INTO request_counts (identifier, state, requests) VALUES (?1, ?2, ?3)
      ON CONFLICT (identifier, state) DO UPDATE SET requests = requests + ?3
      """)
  }

  /// Notes that a request was added in a state.
  func added(_ identifier: Int64, _ state: Int64) { note(identifier, from: nil, to: state) }

  /// Notes that a request changed its state.
  func changed(_ identifier: Int64, from old: Int64, to new: Int64) {
    if old != new { note(identifier, from: old, to: new) }
  }

  /// Notes that a request was removed.
  func removed(_ identifier: Int64, _ state: Int64) { note(identifier, from: state, to: nil) }

  private func note(_ identifier: Int64, from: Int64?, to: Int64?) {
    if steps.count > floor, let last = steps.last, last.identifier == identifier, last.from == from, last.to == to {
      steps[steps.count - 1].count += 1
    } else {
      steps.append(Step(identifier: identifier, from: from, to: to, count: 1))
    }
  }

  /// The number of live requests of an identifier, including changes of the transaction.
  func live(_ identifier: Int64) throws -> Int {
    let stored = try select.rows(.integer(identifier)) { Int($0.integer(0)) }.first ?? 0
    return steps.reduce(stored) { count, step in
      guard step.identifier == identifier else { return count }
      return count + (Self.isLive(step.to) ? step.count : 0) - (Self.isLive(step.from) ? step.count : 0)
    }
  }

  private static func isLive(_ state: Int64?) -> Bool { state.map { $0 < RequestState.succeeded.stored } ?? false }

  // MARK: The transaction

  /// Begins a savepoint. Pass the result to ``release(_:)`` or ``rollBack(_:)``.
  func savepoint() -> (steps: Int, floor: Int) {
    defer { floor = steps.count }
    return (steps.count, floor)
  }

  /// Keeps a savepoint's changes.
  func release(_ savepoint: (steps: Int, floor: Int)) {
    floor = savepoint.floor
    // Many savepoints with the same change collapse into one step.
    guard savepoint.steps > floor, steps.count == savepoint.steps + 1, let last = steps.last else { return }
    let before = steps[savepoint.steps - 1]
    guard before.identifier == last.identifier, before.from == last.from, before.to == last.to else { return }
    steps.removeLast()
    steps[savepoint.steps - 1].count += last.count
  }

  /// Undoes a savepoint's changes.
  func rollBack(_ savepoint: (steps: Int, floor: Int)) {
    steps.removeLast(steps.count - savepoint.steps)
    floor = savepoint.floor
  }

  /// Writes the changes of the transaction.
  ///
  /// - Returns: The number of requests that are no longer pending.
  func write() throws -> Int {
    guard !steps.isEmpty else { return 0 }
    var changes: [Key: Int] = [:]
    var left = 0
    for step in steps {
      if let from = step.from { changes[Key(identifier: step.identifier, state: from), default: 0] -= step.count }
      if let to = step.to { changes[Key(identifier: step.identifier, state: to), default: 0] += step.count }
      if step.from == RequestState.pending.stored { left += step.count }
    }
    for (key, change) in changes where change != 0 {
      try add.run(.integer(key.identifier), .integer(key.state), .integer(Int64(change)))
    }
    return left
  }

  /// Ends the transaction.
  func forget() {
    steps.removeAll(keepingCapacity: steps.count < 4096)
    floor = 0
  }

  // MARK: Reading

  /// The committed counts by state, of one identifier or of all (nil). Works on any connection.
  static func stored(_ database: Database, identifier: Int64? = nil) throws -> [RequestState: Int] {
    let sql = "SELECT state, sum(requests) FROM request_counts WHERE ?1 IS NULL OR identifier = ?1 GROUP BY state"
    let rows = try PreparedStatement(database, sql).rows(.integer(identifier)) {
      (try RequestState(stored: $0.integer(0)), Int($0.integer(1)))
    }
    return Dictionary(rows) { first, _ in first }.filter { $0.value != 0 }
  }
}
