import Foundation
import GRDB
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

  private func result(of path: String? = nil) async throws -> StoreCheck.Result {
    let store = try SQLiteRequestStore(path: try path ?? self.path)
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

  /// What becomes of the log in which a damaged page is written anew.
  enum Rewriting: CaseIterable, Sendable {
    case closed, letGo, killed
  }

  @Test("a page that is written anew before it is looked at is damaged all the same, launch after launch", arguments: Rewriting.allCases)
  func rewritten(_ rewriting: Rewriting) async throws {
    try fill()
    let bytes = try Data(contentsOf: URL(filePath: try path))
    let place = try #require(bytes.range(of: Data(repeating: 100, count: 2000))).lowerBound + 1000
    let page = UInt32(place / 4096 + 1)
    try flip(place, 3)
    let copy = try TemporaryDirectory()
    do {
      let store = try SQLiteRequestStore(path: try path)
      try await store.pool.writeWithoutTransaction { try $0.execute(sql: "UPDATE payloads SET bytes = randomblob(length(bytes))") }
      #expect(try #require(WALPages(try path + "-wal")).numbers.contains(page))
      switch rewriting {
      case .closed: store.close()
      case .letGo: break
      case .killed:
        for suffix in ["", "-wal", ".sums"] {
          try FileManager.default.copyItem(atPath: try path + suffix, toPath: copy.file("requests.sqlite") + suffix)
        }
        store.close()
      }
    }
    let later = rewriting == .killed ? copy.file("requests.sqlite") : try path
    for _ in 0..<2 {
      let found = try await result(of: later)
      #expect(found == .damaged(pages: [page], count: 1))
    }
    // A store that was mended by hand.
    unlink(later + ".sums")
    guard case .whole = try await result(of: later) else {
      Issue.record("without checksums nothing is damaged")
      return
    }
  }

  @Test("damage that a checkpoint finds is told at once")
  func told() async throws {
    try fill()
    let bytes = try Data(contentsOf: URL(filePath: try path))
    let place = try #require(bytes.range(of: Data(repeating: 100, count: 2000))).lowerBound + 1000
    let store = try SQLiteRequestStore(path: try path)
    let (results, told) = AsyncStream<StoreCheck.Result>.makeStream()
    store.beginCheck { told.yield($0) }
    var iterator = results.makeAsyncIterator()
    guard case .whole = try #require(await iterator.next()) else {
      Issue.record("a whole store is taken for damaged")
      return
    }
    // It has been looked at: nobody but a checkpoint meets it.
    try flip(place, 5)
    try await store.pool.writeWithoutTransaction { try $0.execute(sql: "UPDATE payloads SET bytes = randomblob(length(bytes))") }
    store.close()
    let found = await iterator.next()
    #expect(found == .damaged(pages: [UInt32(place / 4096 + 1)], count: 1))
  }

  @Test("a store that is let go of without being closed is whole")
  func letGo() async throws {
    try fill()
    do {
      let store = try SQLiteRequestStore(path: try path)
      for number in 300...340 as ClosedRange<Int64> {
        try store.add(.sample(number, origin: store.origin, payload: [UInt8](repeating: 7, count: 5000)))
      }
      let log = try path + "-wal"
      let pages = withExtendedLifetime(store) { WALPages(log) }
      #expect(pages?.numbers.isEmpty == false)
    }
    guard case .whole = try await result() else {
      Issue.record("what SQLite moved into the database is taken for damage")
      return
    }
    try await expectWhole()
  }

  @Test("checksums that are gone, emptied or no checksums are said once", arguments: ["missing", "empty", "not what a host wrote"])
  func lostSums(_ word: String) throws {
    let mark = try path + ".mark"
    func open() throws -> SQLiteRequestStore { try SQLiteRequestStore(path: try path, marks: [mark]) }
    let first = try open()
    #expect(first.checksumLoss == nil, "a new store has none to lose")
    try first.add(.sample(1, origin: first.origin))
    first.close()
    let sums = try path + ".sums"
    switch word {
    case "missing": unlink(sums)
    case "empty": truncate(sums, 0)
    default:
      var bytes = try Data(contentsOf: URL(filePath: sums))
      bytes[3] ^= 1
      try bytes.write(to: URL(filePath: sums))
    }
    let second = try open()
    #expect(try #require(second.checksumLoss).contains(word))
    second.close()
    let third = try open()
    #expect(third.checksumLoss == nil)
    third.close()
  }

  @Test("pages that were cut off are damaged, whether a log makes the database as long as before or not", arguments: [true, false])
  func cutOff(_ isMadeAnew: Bool) throws {
    let path = try self.path
    try Data(repeating: 7, count: 4 * 4096).write(to: URL(filePath: path))
    let before = try PageSums(path: path, origin: 1, pageSize: 4096, isExpected: false)
    before.willChange([1, 2, 3, 4])
    before.haveChanged([1, 2, 3, 4], isComplete: true)
    truncate(path, 2 * 4096)
    let sums = try PageSums(path: path, origin: 1, pageSize: 4096, isExpected: true)
    if isMadeAnew { sums.willChange([3, 4]) }
    let isThere = [sums.look(at: 1), sums.look(at: 2), sums.look(at: 3)]
    #expect(isThere == [true, true, false])
    sums.end(before: 3)
    #expect(sums.damage.count == 2)
    #expect(sums.damage.pages.sorted() == [3, 4])
  }

  @Test("the checksum of a page that a power cut may take back is not kept yet")
  func unsynced() throws {
    let path = try self.path
    try Data(repeating: 7, count: 3 * 4096).write(to: URL(filePath: path))
    let sums = try PageSums(path: path, origin: 1, pageSize: 4096, isExpected: false)
    func kept() throws -> [Bool] {
      let bytes = try [UInt8](Data(contentsOf: URL(filePath: path + ".sums")))
      return (0..<3).map { page in bytes.dropFirst(32 + 8 * page).prefix(8).contains { $0 != 0 } }
    }
    sums.willChange([1, 2])
    sums.haveChanged([1, 2], isComplete: false)
    #expect(try kept() == [false, false, false])
    sums.willChange([2])
    sums.haveChanged([2], isComplete: true)
    #expect(try kept() == [true, true, false])
    let (isThere, isBehind) = (sums.look(at: 3), sums.look(at: 4))
    #expect(isThere && !isBehind)
    #expect(try kept() == [true, true, false])
    sums.settle()
    #expect(try kept() == [true, true, true])
  }

  @Test("a launch that is refused leaves no damage behind")
  func refused() async throws {
    try fill()
    let folder = try path + ".mark"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    #expect(throws: StoreError.self) { try SQLiteRequestStore(path: try path, marks: [folder]) }
    guard case .whole = try await result() else {
      Issue.record("what SQLite moved into the database is taken for damage")
      return
    }
  }

  @Test("a store without a place for checksums is not checked, and what to do is said")
  func noPlace() async throws {
    try fill()
    unlink(try path + ".sums")
    try FileManager.default.createDirectory(atPath: try path + ".sums", withIntermediateDirectories: false)
    guard case .impossible(let reason, let remedy) = try await result() else {
      Issue.record("a directory is taken for checksums")
      return
    }
    #expect(reason.contains("Is a directory"))
    #expect(remedy.contains("move it away"))
  }

  @Test("a launch that fails once the store is open leaves a store that is whole")
  func failedLaunch() async throws {
    try fill()
    try await expectWhole()
    let mark = try directory.get().file("store.mark")
    try Data("somebody's".utf8).write(to: URL(filePath: mark + ".new"))
    for _ in 0..<2 {
      #expect(throws: StoreError.self) { try SQLiteRequestStore(path: try path, marks: [mark]) }
      try await expectWhole()
    }
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

  @Test("what an undone transaction has written to the log is read again when the next commit overwrites it")
  func undone() throws {
    let log = try path + "-wal"
    let database = try DatabaseQueue(path: try path)
    defer { try? database.close() }
    func execute(_ sql: String) throws { try database.writeWithoutTransaction { try $0.execute(sql: sql) } }
    try execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE a (content BLOB); CREATE TABLE b (content BLOB)")
    let before = try #require(WALPages(log))
    var spilled = before
    try database.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA cache_size = 5; BEGIN")
      for _ in 0..<100 { try database.execute(sql: "INSERT INTO a VALUES (zeroblob(4000))") }
      spilled = try #require(WALPages(log, since: before))
      try database.execute(sql: "ROLLBACK")
    }
    #expect(spilled.numbers.count > before.numbers.count + 20 && spilled.frames == before.frames)
    spilled.moved(spilled.frames, of: spilled.frames)
    #expect(spilled.numbers.isEmpty)
    try execute("INSERT INTO b VALUES (1)")
    let root = try database.read { try Int64.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'b'") }
    #expect(try #require(WALPages(log, since: spilled)).numbers.contains(UInt32(try #require(root))))
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
