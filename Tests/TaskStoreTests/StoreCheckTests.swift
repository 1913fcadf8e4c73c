import Foundation
import Glibc
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("A store is looked through for damage", .timeLimit(.minutes(5))) struct StoreCheckTests {
  private let directory = Result { try TemporaryDirectory() }
  private var path: String { get throws { try directory.get().file("requests.sqlite") } }

  /// A store with requests and their payloads, in some checkpoints, closed in order.
  private func fill(_ requests: ClosedRange<Int64> = 1...200) throws {
    let store = try SQLiteRequestStore(path: try path)
    for number in requests {
      try store.add(
        .sample(number, origin: store.origin, key: "k\(number)", payload: [UInt8](repeating: UInt8(number % 251), count: 6000), tags: ["t"])
      )
    }
    store.close()
  }

  private func result() async throws -> StoreCheck.Result {
    let store = try SQLiteRequestStore(path: try path)
    let (results, told) = AsyncStream<StoreCheck.Result>.makeStream()
    store.beginCheck { told.yield($0) }
    var iterator = results.makeAsyncIterator()
    let result = try #require(await iterator.next())
    store.close()
    return result
  }

  /// All pages that are there before the launch are looked at; what a launch writes comes with the checkpoint at its end.
  private func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let before = try pages()
    let found = try await result()
    #expect(found == .whole(pages: before), sourceLocation: sourceLocation)
  }

  private func pages() throws -> Int { try Data(contentsOf: URL(filePath: try path)).count / 4096 }

  private func flip(_ place: Int, _ bit: Int) throws {
    var bytes = try Data(contentsOf: URL(filePath: try path))
    bytes[place] ^= 1 << bit
    // In place: the file stays the same one.
    let descriptor = open(try path, O_WRONLY)
    defer { Glibc.close(descriptor) }
    #expect(pwrite(descriptor, [bytes[place]], 1, off_t(place)) == 1)
  }

  @Test("one that was closed in order, or killed, is whole, launch after launch")
  func whole() async throws {
    try fill()
    try await expectWhole()
    // What a host that is killed leaves: a log, and a database that it has not reached.
    let live = try SQLiteRequestStore(path: try path)
    for number in 300...400 as ClosedRange<Int64> {
      try live.add(.sample(number, origin: live.origin, payload: [UInt8](repeating: 7, count: 5000)))
    }
    let copy = try TemporaryDirectory()
    for suffix in ["", "-wal", ".sums"] {
      try FileManager.default.copyItem(atPath: try path + suffix, toPath: copy.file("requests.sqlite") + suffix)
    }
    live.close()
    let killed = try SQLiteRequestStore(path: copy.file("requests.sqlite"))
    #expect(try killed.counts() == [.pending: 301])
    killed.close()
    let later = try SQLiteRequestStore(path: copy.file("requests.sqlite"))
    let (results, told) = AsyncStream<StoreCheck.Result>.makeStream()
    later.beginCheck { told.yield($0) }
    var iterator = results.makeAsyncIterator()
    guard case .whole = try #require(await iterator.next()) else {
      Issue.record("a store that was killed is taken for damaged")
      return
    }
    later.close()
    try await expectWhole()
  }

  @Test("a single bit that flipped is found in any page and at any place of it", arguments: 0..<12)
  func flipped(_ number: Int) async throws {
    try fill()
    let page = 1 + number * (try pages() - 2) / 11
    let place = page * 4096 + [0, 9, 100, 511, 1024, 1777, 2048, 3000, 3500, 4000, 4090, 4095][number]
    try flip(place, number % 8)
    let found: StoreCheck.Result
    do { found = try await result() } catch {
      // One that SQLite itself finds at once is refused.
      guard case .corrupt = error as? StoreError else { throw error }
      return
    }
    #expect(found == .damaged(pages: [UInt32(page + 1)], count: 1), "byte \(place)")
  }

  @Test("checkpoints while it is looked through, and commits beside them, are no damage")
  func busy() async throws {
    let store = try SQLiteRequestStore(path: try path)
    let (results, told) = AsyncStream<StoreCheck.Result>.makeStream()
    for number in 1...400 as ClosedRange<Int64> {
      try store.add(.sample(number, origin: store.origin, payload: [UInt8](repeating: 1, count: 20_000)))
      if number == 200 { store.beginCheck { told.yield($0) } }
    }
    var iterator = results.makeAsyncIterator()
    guard case .whole = try #require(await iterator.next()) else {
      Issue.record("a store that is written to is taken for damaged")
      return
    }
    store.close()
    try await expectWhole()
  }

  @Test("what is in the log is read from there, frame by frame, and no further than its generation")
  func log() throws {
    let store = try SQLiteRequestStore(path: try path)
    try store.add(.sample(1, origin: store.origin))
    let few = try #require(WALPages(try path + "-wal"))
    #expect(!few.numbers.isEmpty)
    try store.add(.sample(2, origin: store.origin, payload: [UInt8](repeating: 1, count: 100_000)))
    let all = try #require(WALPages(try path + "-wal"))
    #expect(all.numbers.count > few.numbers.count + 20)
    #expect(try #require(WALPages(try path + "-wal", since: few)).numbers == all.numbers)
    store.close()
    #expect(try #require(WALPages(try path + "-wal")).numbers == [])
    try Data(repeating: 1, count: 100).write(to: URL(filePath: try path + "-wal"))
    #expect(WALPages(try path + "-wal") == nil)
  }
}
