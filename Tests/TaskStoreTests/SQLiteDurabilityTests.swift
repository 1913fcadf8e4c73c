import CPowerLossVFS
import Foundation
import GRDB
import GRDBSQLite
import StoreTestSupport
import HostThreads
import TaskModel
import Testing

@testable import TaskStore

/// A store on a disk whose power can be cut.
private final class FragileStore {
  let directory: TemporaryDirectory
  let store: SQLiteRequestStore

  init() throws {
    try #require(power_loss_register() == SQLITE_OK)
    directory = try TemporaryDirectory()
    try #require(power_loss_watch(directory.path) == 0)
    store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
  }

  deinit { power_loss_unwatch(directory.path) }

  /// What is left when power is lost now.
  func recordFailure(seed: UInt64, torn: Int32) throws -> TemporaryDirectory {
    let remains = try TemporaryDirectory()
    try #require(power_loss_strike(directory.path, remains.path, seed, torn) > 0)
    return remains
  }

  /// Sets a pragma of the writing connection between two commits, which the test's only writer is.
  func set(_ pragma: String) throws {
    let connection = try store.commit { transaction in (transaction as? SQLiteTransaction)?.database.sqliteConnection }
    try #require(sqlite3_exec(connection, "PRAGMA \(pragma)", nil, nil, nil) == SQLITE_OK)
  }
}

@Suite("Names that a commit adds") struct AddedNameTests {
  @Test("a reader that sees none of a new identifier during its first commit hides none of its requests from the scheduler")
  func hidden() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { store.close() }
    let new = TaskIdentifier.sample("org.example.new")
    struct Refused: Error {}
    try store.commit { transaction in
      try transaction.insert(.sample(1, origin: store.origin, identifier: new))
      // Another change of the same turn is refused.
      #expect(throws: Refused.self) { try transaction.savepoint { throw Refused() } }
      let read = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var query = RequestQuery()
        query.identifier = new
        #expect((try? store.requests(query).isEmpty) == true)
        read.signal()
      }
      read.wait()
    }
    #expect(try store.commit { try $0.nextDue(in: Lane(new)) } == .testStart)
    #expect(try store.commit { try $0.due(in: Lane(new), by: .testStart, limit: 1).count } == 1)
    try store.commit { try $0.insert(.sample(2, origin: store.origin, identifier: new)) }
  }
}

@Suite("Power loss", .serialized) struct SQLiteDurabilityTests {
  /// What a writer was told is durable.
  private struct Acknowledged: Sendable {
    var submitted = Set<Int64>()
    var ended: [Int64: Int64] = [:]
    var isOver = false
  }

  /// One round as the scheduler commits it: the outcome of one request, the start of the next, new requests.
  private static func round(_ number: Int64, _ store: any RequestStore, payload: Int) throws -> (submitted: [Int64], ended: [Int64: Int64])
  {
    let first = number * 10
    try store.commit { transaction in
      for sequence in first..<first + 3 {
        try transaction.insert(
          .sample(sequence, origin: store.origin, payload: [UInt8](repeating: UInt8(truncatingIfNeeded: sequence), count: payload)))
      }
      try transaction.start(
        RequestID(sequence: first, origin: store.origin), run: RunID(sequence: first + 5, origin: store.origin), at: .ms(number))
      if number > 1 {
        let (request, run) = (RequestID(sequence: first - 10, origin: store.origin), RunID(sequence: first - 5, origin: store.origin))
        try transaction.succeed(request, run: run, began: nil, outcome: .succeeded, message: nil, at: .ms(number))
        try transaction.append(
          RunRecord(
            id: run, request: request, identifier: .sample(), attempt: 1, started: .ms(number - 1), ended: .ms(number), outcome: .succeeded)
        )
      }
    }
    return (Array(first..<first + 3), number > 1 ? [first - 10: first - 5] : [:])
  }

  /// What of `acknowledged` the store in `directory` has lost; checks that the file is sound.
  private static func losses(_ acknowledged: Acknowledged, in directory: TemporaryDirectory, payload: Int) throws -> Int {
    let path = directory.file("requests.sqlite")
    let store = try SQLiteRequestStore(path: path)
    let integrity = try DatabaseQueue(path: path).read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
    #expect(integrity == ["ok"])
    var lost = 0
    var all = RequestQuery()
    all.limit = .max
    let states = Dictionary(uniqueKeysWithValues: try store.requests(all).map { ($0.id.sequence, $0.state) })
    var allRuns = RunQuery()
    allRuns.limit = .max
    let outcomes = Dictionary(uniqueKeysWithValues: try store.runs(allRuns).map { ($0.id.sequence, $0.outcome) })
    for sequence in acknowledged.submitted where states[sequence] == nil { lost += 1 }
    for (request, run) in acknowledged.ended where states[request] != .succeeded || outcomes[run] != .succeeded { lost += 1 }
    for sequence in acknowledged.submitted.prefix(40) where states[sequence] != nil {
      let bytes = try store.known(sequence).request.payload
      #expect(bytes.count == payload && bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: sequence) })
    }
    return lost
  }

  /// Commits on a thread of its own while power is lost again and again, and returns what the reopened stores had lost in all.
  private func run(failures: Int, seed: UInt64, payload: Int, pragma: String?) async throws -> Int {
    let fragile = try FragileStore()
    if let pragma { try fragile.set(pragma) }
    let acknowledged = Guarded(Acknowledged())
    let store = fragile.store
    let writer = Task.detached {
      defer { acknowledged.withLock { $0.isOver = true } }
      var number: Int64 = 1
      while !acknowledged.withLock({ $0.isOver }) {
        let (submitted, ended) = try Self.round(number, store, payload: payload)
        acknowledged.withLock { acknowledged in
          acknowledged.submitted.formUnion(submitted)
          acknowledged.ended.merge(ended) { $1 }
        }
        number += 1
      }
    }
    var generator = SeededGenerator(seed: seed)
    var lost = 0
    for recordFailure in 0..<failures {
      // Whatever was acknowledged before the failure has to be there after it; the writer is anywhere in its next commits.
      let wanted = acknowledged.withLock { $0.submitted.count } + Int.random(in: 1...60, using: &generator)
      while acknowledged.withLock({ $0.submitted.count < wanted && !$0.isOver }) { await Task.yield() }
      let before = acknowledged.withLock { $0 }
      let remains = try fragile.recordFailure(seed: generator.next(), torn: [0, 50, 90, 100, 10][recordFailure % 5])
      lost += try Self.losses(before, in: remains, payload: payload)
    }
    acknowledged.withLock { $0.isOver = true }
    try await writer.value
    return lost
  }

  @Test("nothing that was acknowledged is lost, whenever power goes and whichever writes were torn", arguments: [1, 2, 3] as [UInt64])
  func nothingLost(_ seed: UInt64) async throws {
    #expect(try await run(failures: 8, seed: seed, payload: seed == 1 ? 10 : 3000, pragma: nil) == 0, "seed \(seed)")
  }

  @Test("the same test finds losses when commits are not synced", arguments: ["synchronous = NORMAL", "synchronous = OFF"])
  func testCanFail(_ pragma: String) async throws {
    #expect(try await run(failures: 5, seed: 4, payload: 10, pragma: pragma) > 0)
  }

  @Test("every commit is synced before it returns")
  func synced() throws {
    let fragile = try FragileStore()
    #expect(
      try fragile.store.commit { try ($0 as? SQLiteTransaction).map { try Int.fetchOne($0.database, sql: "PRAGMA synchronous") } } == 2)
    for sequence in 1...20 as ClosedRange<Int64> {
      let before = power_loss_syncs(fragile.directory.path)
      try fragile.store.add(.sample(sequence, origin: fragile.store.origin))
      #expect(power_loss_syncs(fragile.directory.path) > before)
    }
  }

  @Test("what is acknowledged survives power that is lost between checkpoints of the log")
  func checkpoints() throws {
    let fragile = try FragileStore()
    var acknowledged = Acknowledged()
    // More than the commits between two checkpoints, so that the log is moved and begun anew under the writer.
    for number in 1...1300 as ClosedRange<Int64> {
      let (submitted, ended) = try Self.round(number, fragile.store, payload: 100)
      acknowledged.submitted.formUnion(submitted)
      acknowledged.ended.merge(ended) { $1 }
      guard number % 130 == 0 else { continue }
      let remains = try fragile.recordFailure(seed: UInt64(number), torn: 60)
      #expect(try Self.losses(acknowledged, in: remains, payload: 100) == 0, "after \(number)")
    }
  }
}
