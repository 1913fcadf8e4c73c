import HostThreads
import PostgresTestSupport
import TaskModel
import Testing

@testable import FleetStore

/// Statements that the server keeps for a connection.
@Suite(.timeLimit(.minutes(2))) struct PostgresConnectionTests {
  private static let kept = "SELECT count(*) FROM pg_prepared_statements"
  private let address: String
  private let connection: PostgresConnection
  private var deadline: MonotonicTime { SystemClock.now + .seconds(30) }

  init() throws {
    address = try PostgresServer.shared.get().makeDatabase()
    connection = try PostgresConnection(address, name: "test")
  }

  private func sum(_ first: Int64, _ second: Int64?) -> PostgresStatement {
    PostgresStatement("SELECT $1 + $2", .int(first), .int(second)).kept
  }

  private func keptStatements() throws -> Int64? {
    connection.isAlone = false
    defer { connection.isAlone = true }
    return try connection.run(PostgresStatement(Self.kept), by: deadline).int(0, 0)
  }

  @Test("a statement is kept from the second time on, also within one transaction, and each time has its own values")
  func again() throws {
    connection.isAlone = true
    #expect(try connection.run(sum(1, 2), by: deadline).int(0, 0) == 3)
    #expect(try keptStatements() == 0)
    let rows = try connection.run([sum(3, 4), sum(5, nil), sum(6, 7)], by: deadline)
    #expect(rows.map { $0.int(0, 0) } == [7, nil, 13])
    #expect(try keptStatements() == 1)
    // Another type of parameter is another statement.
    #expect(
      try connection.run([PostgresStatement("SELECT $1 + $2", .int(1), .int(1)), PostgresStatement("SELECT $1", .text("x"))], by: deadline)
        .count == 2)
    #expect(try connection.run([PostgresStatement("SELECT $1", .ints([1, -2]))], by: deadline).first?.bytes(0, 0)?.count == 44)
    #expect(try keptStatements() == 1)
  }

  @Test("what was to be kept in a transaction that failed is kept the next time")
  func failure() throws {
    connection.isAlone = true
    let wrong = PostgresStatement("SELECT 1 / $1", .int(0)).kept
    _ = try connection.run(sum(1, 2), by: deadline)
    for _ in 0..<3 {
      let error = #expect(throws: PostgresError.self) { try connection.run([wrong, sum(1, 2)], by: deadline) }
      #expect(error?.code == "22012", "\(error as Any)")
    }
    #expect(try connection.run([sum(2, 2), sum(4, 4)], by: deadline).map { $0.int(0, 0) } == [4, 8])
    #expect(try keptStatements() == 2)
  }

  @Test("what follows a transaction has one of its own, whether either fails or not")
  func following() throws {
    connection.isAlone = true
    try connection.run(PostgresStatement("CREATE TABLE seen (value bigint)"), by: deadline)
    func insert(_ value: Int64) -> PostgresStatement { PostgresStatement("INSERT INTO seen VALUES (100 / $1)", .int(value)).kept }
    for _ in 0..<3 {
      #expect(try connection.run([sum(1, 2)], then: insert(1), by: deadline).map { $0.int(0, 0) } == [3])
      #expect(try connection.run([insert(2), sum(2, 2)], then: insert(0), by: deadline).count == 2)
      #expect(throws: PostgresError.self) { try connection.run([insert(4), insert(0)], then: insert(5), by: deadline) }
    }
    let seen = try connection.run(PostgresStatement("SELECT string_agg(value::text, ',' ORDER BY value DESC) FROM seen"), by: deadline)
    #expect(seen.text(0, 0) == "100,100,100,50,50,50,20,20,20")
  }

  @Test("a connection that the server has ended is known to be closed before it is used")
  func closed() throws {
    #expect(connection.isOpen)
    let process = connection.serverProcess
    let other = try PostgresConnection(address, name: "other")
    _ = try other.run(PostgresStatement("SELECT pg_terminate_backend($1::integer, 10000)", .int(process)), by: deadline)
    #expect(!connection.isOpen)
    #expect(other.isOpen)
  }

  @Test("a statement that selects by its parameters is not kept: a plan that fits any of them may read a whole table")
  func selections() throws {
    connection.isAlone = true
    for _ in 0..<3 { _ = try connection.run(PostgresStatement("SELECT 1 WHERE $1 > 0", .int(1)), by: deadline) }
    #expect(try keptStatements() == 0)
  }

  @Test("a process that others may use too keeps nothing")
  func shared() throws {
    for number in 1...3 { #expect(try connection.run(sum(1, Int64(number)), by: deadline).int(0, 0) == Int64(number) + 1) }
    #expect(try connection.run(PostgresStatement(Self.kept), by: deadline).int(0, 0) == 0)
  }
}
