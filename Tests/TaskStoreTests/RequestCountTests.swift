import Foundation
import GRDB
import MemoryStore
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("How many requests are in each state") struct RequestCountTests {
  private struct Change: Error {}

  private let directory = Result { try TemporaryDirectory() }
  private static let identifiers = ["a", "b", "c"].map { TaskIdentifier.sample($0) }

  /// Some changes of random requests, in savepoints of which some are undone.
  private static func change(_ transaction: any StoreTransaction, _ random: inout SeededGenerator, next: inout Int64, _ origin: UInt64)
    throws
  {
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      let id = RequestID(sequence: Int64.random(in: 1...max(1, next - 1), using: &random), origin: origin)
      let state = [RequestState.blocked, .pending, .pending, .succeeded, .failed, .cancelled].randomElement(using: &random) ?? .pending
      let kind = Int.random(in: 0..<6, using: &random)
      let isUndone = Int.random(in: 0..<4, using: &random) == 0
      let number = next
      next += 1
      do {
        try transaction.savepoint {
          switch kind {
          case 0, 1:
            var record = RequestRecord.sample(
              number, origin: origin, identifier: identifiers.randomElement(using: &random) ?? .sample(), state: state)
            record.ended = state.isFinal ? .ms(number) : nil
            try transaction.insert(record)
          case 2:
            guard try transaction.request(id)?.state == .pending else { return }
            try transaction.start(id, run: RunID(sequence: number, origin: origin), at: .ms(number))
          case 3:
            guard let record = try transaction.request(id), record.state == .running, let run = record.run else { return }
            try transaction.succeed(id, run: run, began: nil, outcome: .succeeded, message: nil, at: .ms(number))
          case 4:
            guard var record = try transaction.request(id) else { return }
            record.place(in: state)
            (record.run, record.ended) = (nil, state.isFinal ? .ms(number) : nil)
            if Bool.random(using: &random) { try transaction.update(record) } else { try transaction.rewrite(record) }
          default:
            _ = try transaction.prune(before: .ms(number - 60), keeping: 5, limit: 2)
          }
          if isUndone { throw Change() }
        }
      } catch is Change {}
    }
  }

  /// What the requests of a store's file say.
  private static func counted(_ path: String) throws -> [Int64: [RequestState: Int]] {
    try DatabaseQueue(path: path).read { database in
      var counts: [Int64: [RequestState: Int]] = [:]
      for row in try Row.fetchAll(database, sql: "SELECT identifier, state, count(*) FROM requests GROUP BY identifier, state") {
        counts[row[0], default: [:]][try RequestState(stored: row[1])] = row[2]
      }
      return counts
    }
  }

  /// What the counters of a store's file say.
  private static func kept(_ path: String) throws -> [Int64: [RequestState: Int]] {
    try DatabaseQueue(path: path).read { database in
      var counts: [Int64: [RequestState: Int]] = [:]
      for number in try Int64.fetchAll(database, sql: "SELECT id FROM identifiers") {
        let stored = try RequestCounts.stored(database, identifier: number)
        counts[number] = stored.isEmpty ? nil : stored
      }
      return counts
    }
  }

  @Test("is what counting them gives, after any changes, kept and undone", arguments: 1...6 as ClosedRange<UInt64>)
  func random(_ seed: UInt64) throws {
    let path = try directory.get().file("\(seed).sqlite")
    var random = SeededGenerator(seed: seed)
    var next: Int64 = 1
    var store = try SQLiteRequestStore(path: path)
    for step in 0..<150 {
      let isUndone = step % 7 == 6
      do {
        try store.commit { transaction in
          try Self.change(transaction, &random, next: &next, store.origin)
          let database = try #require((transaction as? SQLiteTransaction)?.database)
          for identifier in Self.identifiers {
            let live = try Int.fetchOne(
              database, sql: "SELECT count(*) FROM requests JOIN identifiers ON identifiers.id = identifier WHERE name = ? AND state < 50",
              arguments: [identifier.rawValue])
            // With what the transaction has changed itself.
            #expect(try transaction.liveCount(of: identifier) == live, "seed \(seed), step \(step)")
          }
          if isUndone { throw Change() }
        }
      } catch { #expect(isUndone, "\(error)") }
      #expect(try Self.kept(path) == Self.counted(path), "seed \(seed), step \(step)")
      var counts: [RequestState: Int] = [:]
      for states in try Self.counted(path).values { counts.merge(states, uniquingKeysWith: +) }
      #expect(try store.counts() == counts, "seed \(seed), step \(step)")
      if step % 50 == 49 {
        store.close()
        store = try SQLiteRequestStore(path: path)
      }
    }
    store.close()
  }

  @Test("is right in the files of a host that ends without warning, in a transaction too", arguments: 1...3 as ClosedRange<UInt64>)
  func killed(_ seed: UInt64) throws {
    let directory = try directory.get()
    let path = directory.file("\(seed).sqlite")
    var random = SeededGenerator(seed: seed)
    var next: Int64 = 1
    let store = try SQLiteRequestStore(path: path)
    defer { store.close() }
    /// The files as they are at this moment.
    func remains() throws -> String {
      let copy = directory.file("remains-\(seed)-\(next)")
      for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
      return copy
    }
    for _ in 0..<20 {
      var left: [String] = []
      try store.commit { transaction in
        try Self.change(transaction, &random, next: &next, store.origin)
        left.append(try remains())
      }
      next += 1
      left.append(try remains())
      for path in left {
        let found = try SQLiteRequestStore(path: path)
        found.close()
        #expect(try Self.kept(path) == Self.counted(path))
      }
    }
  }

  @Test("is written once a transaction, whatever it adds")
  func once() throws {
    let store = try SQLiteRequestStore(path: directory.get().file("requests.sqlite"))
    defer { store.close() }
    func changes(_ count: Int64, from first: Int64) throws -> Int {
      let before = try store.commit { ($0 as? SQLiteTransaction)?.database.totalChangesCount ?? 0 }
      try store.commit { transaction in
        for number in first..<first + count { try transaction.savepoint { try transaction.insert(.sample(number, origin: store.origin)) } }
      }
      return try store.commit { ($0 as? SQLiteTransaction)?.database.totalChangesCount ?? 0 } - before
    }
    _ = try changes(1, from: 1)
    #expect(try changes(1000, from: 10) == 1001)
    #expect(try store.counts() == [.pending: 1001])
  }

  @Test("is taken over from a file of an earlier version")
  func migrated() throws {
    let path = try directory.get().file("requests.sqlite")
    let pool = try DatabasePool(path: path)
    try Schema.migrator.migrate(pool, upTo: "2 standing, plugins, how runs were stopped")
    try pool.write { database in
      try database.execute(sql: "INSERT INTO identifiers (id, name) VALUES (1, 'a'), (2, 'b')")
      for (id, identifier, state) in [(1, 1, 20), (2, 1, 20), (3, 2, 20), (4, 1, 60), (5, 2, 10)] {
        try database.execute(
          sql: """
            INSERT INTO requests (id, identifier, state, due_ms, priority, submitted_ms, conditions, on_conflict, retry_attempts, retry_backoff,
              retry_initial_ms, retry_maximum_ms, attempts_spent, losses, ended_ms) VALUES (?, ?, ?, 0, 0, 0, 0, 0, 1, 10, 1, 1, 0, 0, 0)
            """, arguments: [id, identifier, state])
      }
    }
    try pool.close()
    let store = try SQLiteRequestStore(path: path)
    defer { store.close() }
    #expect(try store.counts() == [.pending: 3, .failed: 1, .blocked: 1])
    #expect(try store.commit { try $0.liveCount(of: .sample("a")) } == 2)
    #expect(try store.commit { try $0.liveCount(of: .sample("b")) } == 2)
    #expect(try Self.kept(path) == Self.counted(path))
  }
}
