import Dispatch
import Foundation
import GRDB
import Glibc
import StoreTestSupport
import Synchronization
import TaskModel
import Testing

@testable import TaskStore

@Suite("Checkpoints that fail", .timeLimit(.minutes(2))) struct CheckpointFailureTests {
  /// More pages than are written between two checkpoints, 100 in a commit.
  private static func fill(_ database: DatabaseQueue) throws {
    for _ in 0..<12 {
      try database.write { database in
        for _ in 0..<10 { try database.execute(sql: "INSERT INTO filling VALUES (zeroblob(40000))") }
      }
    }
  }

  @Test("the store's owner is told when they begin to fail, and when one succeeds again")
  func told() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("requests.sqlite")
    let log = path + "-wal"
    let database = try DatabaseQueue(path: path)
    try await database.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE filling (content BLOB)")
    }
    // The log is gone during the first checkpoint, which therefore reads too little, and is back before anything else is written.
    let filled = DispatchSemaphore(value: 0)
    let taken = Mutex<Data?>(nil)
    let (results, told) = AsyncStream<StoreError?>.makeStream()
    let checkpointer = try WALCheckpointer(
      path: path, sums: nil,
      mayBegin: {
        guard taken.withLock({ $0 == nil }) else { return true }
        filled.wait()
        taken.withLock { $0 = FileManager.default.contents(atPath: log) }
        return truncate(log, 0) == 0
      },
      changed: { failure in
        if failure != nil { try? taken.withLock { $0 }?.write(to: URL(filePath: log)) }
        told.yield(failure)
      }, done: {})
    try await database.writeWithoutTransaction { checkpointer.observe($0.sqliteConnection) }
    var iterator = results.makeAsyncIterator()
    try Self.fill(database)
    filled.signal()
    let failure = try #require(await iterator.next())
    #expect(failure != nil)
    try Self.fill(database)
    let recovery = try #require(await iterator.next())
    #expect(recovery == nil)
    let whole = try await database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
    #expect(whole == "ok")
    try database.close()
    checkpointer.stop()
  }
}

@Suite("Checkpoints beside a writer", .timeLimit(.minutes(2))) struct CheckpointTests {
  /// How often the log has begun again: the third number of its header.
  private static func generation(_ log: String) throws -> UInt32 {
    let file = try FileHandle(forReadingFrom: URL(filePath: log))
    defer { try? file.close() }
    let header = try file.read(upToCount: 16) ?? Data()
    return header.dropFirst(12).reduce(0) { $0 << 8 | UInt32($1) }
  }

  @Test("a log begins again although its writer never pauses")
  func restart() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("requests.sqlite")
    let store = try SQLiteRequestStore(path: path)
    defer { store.close() }
    let begun = try Self.generation(path + "-wal")
    // About four pages each, and writers wait from 32,768 on.
    let most: Int64 = 6000
    var number: Int64 = 0
    while number < most, try Self.generation(path + "-wal") == begun {
      number += 1
      try store.commit { try $0.insert(.sample(number, origin: store.origin, due: .distantFuture)) }
    }
    #expect(number < most)
  }
}
