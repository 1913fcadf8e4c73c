import Foundation
import GRDB
import Glibc
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("A store that has lost something") struct StoreLossTests {
  private let directory = Result { try TemporaryDirectory() }

  private var path: String { get throws { try directory.get().file("requests.sqlite") } }
  private var mark: String { get throws { try directory.get().file("store.mark") } }

  private func open(acceptsLoss: Bool = false) throws -> SQLiteRequestStore {
    try SQLiteRequestStore(path: try path, marks: [try mark], acceptsLoss: acceptsLoss)
  }

  /// The files of a store whose host was killed after it had acknowledged `requests`, the first half of them in the database.
  private func kill(after requests: ClosedRange<Int64> = 1...20) throws {
    let live = try directory.get().file("live")
    try FileManager.default.createDirectory(atPath: live, withIntermediateDirectories: true)
    let store = try SQLiteRequestStore(path: live + "/requests.sqlite", marks: [live + "/store.mark"])
    for number in requests {
      try store.add(.sample(number, origin: store.origin))
      if number == requests.upperBound / 2 {
        try store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
      }
    }
    // What a killed process leaves is what is in its files now.
    for name in ["requests.sqlite", "requests.sqlite-wal", "store.mark"] {
      try FileManager.default.copyItem(atPath: live + "/" + name, toPath: try directory.get().file(name))
    }
    store.close()
  }

  private func loss() throws -> String {
    do {
      try open().close()
      return ""
    } catch let error as StoreError {
      guard case .lost(let detail) = error else { throw error }
      return detail
    }
  }

  @Test("one that was killed has everything, and opens without a word")
  func killed() throws {
    try kill()
    let store = try open()
    #expect(try store.counts() == [.pending: 20])
    #expect(store.lossNotes == [])
    store.close()
    #expect(try StoreMark.read(try mark) == StoreMark.Content(origin: store.origin, sequence: 20, isOpen: false))
  }

  @Test("a log that is gone, or empty, is noticed", arguments: [true, false])
  func log(_ isDeleted: Bool) throws {
    try kill()
    if isDeleted { unlink(try path + "-wal") } else { truncate(try path + "-wal", 0) }
    #expect(try loss().contains("lacks records"))
    let store = try open(acceptsLoss: true)
    #expect(store.lossNotes.contains { $0.contains("the loss was accepted") })
    store.close()
    #expect(try loss() == "", "it is accepted once and for all")
  }

  @Test("a database that is gone, or empty, is noticed; what is left of it is moved away when that is accepted", arguments: [true, false])
  func database(_ isDeleted: Bool) throws {
    try kill()
    if isDeleted { unlink(try path) } else { truncate(try path, 0) }
    #expect(try loss().contains("missing or empty"))
    let log = try Data(contentsOf: URL(filePath: try path + "-wal"))
    let store = try open(acceptsLoss: true)
    #expect(try store.counts() == [:])
    store.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: try directory.get().path)
    let kept = try #require(names.first { $0.hasPrefix("requests.sqlite-wal.lost-") })
    #expect(try Data(contentsOf: URL(filePath: try directory.get().file(kept))) == log)
    #expect(try loss() == "")
  }

  @Test("a store that is refused stays as it was, also one of an earlier schema") func untouched() throws {
    try kill()
    try open().close()
    let pool = try DatabaseQueue(path: try path)
    try pool.write { database in
      try database.execute(sql: "UPDATE origin SET bits = bits + 1; DELETE FROM grdb_migrations WHERE identifier LIKE '13 %'")
    }
    let applied = try pool.read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations ORDER BY identifier") }
    try pool.close()
    #expect(try loss().contains("another store"))
    let after = try DatabaseQueue(path: try path)
    #expect(try after.read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations ORDER BY identifier") } == applied)
    try after.close()
  }

  @Test("an older copy and another store are noticed")
  func copies() throws {
    try kill()
    try open().close()
    let copy = try directory.get().file("copy.sqlite")
    try FileManager.default.copyItem(atPath: try path, toPath: copy)
    var store = try open()
    try store.add(.sample(30, origin: store.origin))
    store.close()
    try Data(contentsOf: URL(filePath: copy)).write(to: URL(filePath: try path))
    #expect(try loss().contains("lacks records"))
    try FileManager.default.removeItem(atPath: try path)
    store = try SQLiteRequestStore(path: try path)
    try store.add(.sample(99, origin: store.origin))
    store.close()
    #expect(try loss().contains("another store"))
  }

  @Test("a store that was deleted with its mark is noticed by what is left beside it", arguments: [true, false])
  func markToo(_ hasSums: Bool) throws {
    let trace = try directory.get().file("trace")
    func reopen(acceptsLoss: Bool = false) throws {
      let store = try SQLiteRequestStore(path: try path, marks: [try mark], traces: [trace], acceptsLoss: acceptsLoss)
      #expect(try store.counts() == [:])
      store.close()
    }
    try kill()
    try open().close()
    for name in [try path, try path + "-wal", try path + "-shm", try mark] { unlink(name) }
    if !hasSums {
      unlink(try path + ".sums")
      try Data().write(to: URL(filePath: trace))
    }
    do {
      try reopen()
      Issue.record("a store that is gone is opened as a new one")
    } catch let error as StoreError {
      guard case .lost(let detail) = error else { throw error }
      #expect(detail.contains(hasSums ? ".sums belongs to an earlier store" : "trace belongs to an earlier store"))
    }
    try reopen(acceptsLoss: true)
    try reopen()
  }

  @Test("changes of the last moments may be lost with a log: that is said, and nothing refused")
  func changesOnly() throws {
    try kill()
    try open().close()
    // A host that had it open and wrote nothing since.
    let content = try #require(try StoreMark.read(try mark))
    _ = try StoreMark(path: try mark, StoreMark.Content(origin: content.origin, sequence: content.sequence, isOpen: true))
    let store = try open()
    defer { store.close() }
    #expect(store.lossNotes.contains { $0.contains("its log") })
  }

  @Test("what was pruned is no loss")
  func pruned() throws {
    let store = try open()
    var record = RequestRecord.sample(50, origin: store.origin, state: .cancelled)
    record.ended = .ms(0)
    try store.add(.sample(1, origin: store.origin), record)
    _ = try store.commit { try $0.prune(before: .ms(1_000_000), keeping: 1, limit: 10) }
    #expect(try store.counts() == [.pending: 1])
    store.close()
    #expect(try loss() == "")
  }

  @Test("what was taken back was never there")
  func takenBack() throws {
    struct Change: Error {}
    let store = try open()
    try store.commit { transaction in
      try transaction.insert(.sample(1, origin: store.origin))
      try? transaction.savepoint {
        try transaction.insert(.sample(70, origin: store.origin))
        throw Change()
      }
    }
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        try transaction.insert(.sample(80, origin: store.origin))
        throw Change()
      }
    }
    store.close()
    #expect(try StoreMark.read(try mark)?.sequence == 1)
  }

  @Test("what a host that was killed left of a new mark is not an obstacle; what is somebody else's stays", arguments: [0, 10, 64])
  func halfMade(_ count: Int) throws {
    try kill()
    let mark = try mark
    let whole = try Data(contentsOf: URL(filePath: mark))
    for bytes in [whole.prefix(count), Data(repeating: 0, count: count)] {
      try bytes.write(to: URL(filePath: mark + ".new"))
      try open().close()
      #expect(access(mark + ".new", F_OK) != 0)
    }
    let foreign = Data("precious".utf8)
    try foreign.write(to: URL(filePath: mark + ".new"))
    #expect(SQLiteRequestStore.foreign(atMark: mark) != nil)
    #expect(throws: StoreError.self) { try open() }
    #expect(try Data(contentsOf: URL(filePath: mark + ".new")) == foreign)
  }

  @Test("a mark that is damaged is said and written anew; no mark is no reason for anything", arguments: [10, 41, 30, 64])
  func damagedMark(_ place: Int) throws {
    try kill()
    var bytes = try Data(contentsOf: URL(filePath: try mark))
    if place < bytes.count { bytes[place] ^= 0x80 } else { bytes.append(1) }
    try bytes.write(to: URL(filePath: try mark))
    let store = try open()
    store.close()
    #expect(store.lossNotes.contains { $0.contains("store.mark is damaged") })
    #expect(try StoreMark.read(try mark)?.sequence == 20)
    unlink(try mark)
    #expect(try loss() == "")
  }
}

@Suite("The files of an open store") struct StoreFilesTests {
  @Test(
    "a file that is deleted or replaced refuses commits and reads at once, and not any more when it is back",
    arguments: ["", "-wal"], [true, false])
  func gone(_ suffix: String, _ isReplaced: Bool) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("requests.sqlite")
    let store = try SQLiteRequestStore(path: path)
    try store.add(.sample(1, origin: store.origin))
    #expect(store.files.check() == nil)
    let away = directory.file("away")
    #expect(rename(path + suffix, away) == 0)
    if isReplaced { try Data(contentsOf: URL(filePath: away)).write(to: URL(filePath: path + suffix)) }
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) { try store.add(.sample(2, origin: store.origin)) }
      guard case .replaced = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(throws: StoreError.self) { try store.counts() }
    }
    #expect(rename(away, path + suffix) == 0)
    try store.add(.sample(3, origin: store.origin))
    #expect(try store.counts() == [.pending: 2])
    store.close()
  }

  private func expectCut(_ store: SQLiteRequestStore, sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try store.add(.sample(2, origin: store.origin)) }
      guard case .cut = error else {
        Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
        return
      }
      #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try store.counts() }
    }
  }

  @Test(
    "a file that is cut short refuses commits and reads from then on, also when it is as long as before", arguments: ["", "-wal"], [0, 0.5])
  func cut(_ suffix: String, _ part: Double) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("requests.sqlite")
    let store = try SQLiteRequestStore(path: path)
    for number in 10...40 as ClosedRange<Int64> { try store.add(.sample(number, origin: store.origin)) }
    let size = try Data(contentsOf: URL(filePath: path + suffix)).count
    #expect(truncate(path + suffix, off_t(Double(size) * part)) == 0)
    expectCut(store)
    #expect(truncate(path + suffix, off_t(size)) == 0)
    expectCut(store)
    store.close()
  }

  @Test("a log that is cut short while a commit is on its way to it refuses that commit and all that follow", arguments: [0, 0.5])
  func cutMeanwhile(_ part: Double) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("requests.sqlite")
    let mark = directory.file("store.mark")
    let store = try SQLiteRequestStore(path: path, marks: [mark])
    for number in 10...40 as ClosedRange<Int64> { try store.add(.sample(number, origin: store.origin)) }
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        try transaction.insert(.sample(50, origin: store.origin))
        let size = try Data(contentsOf: URL(filePath: path + "-wal")).count
        truncate(path + "-wal", off_t(Double(size) * part))
      }
    }
    #expect(try StoreMark.read(mark)?.sequence == 40)
    expectCut(store)
    store.close()
  }

  @Test("the host's own checkpoints, and a log that is begun anew, cut nothing short")
  func checkpoints() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    for number in 1...20 as ClosedRange<Int64> {
      try store.add(.sample(number, origin: store.origin, payload: [UInt8](repeating: 1, count: 50_000)))
      try store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(RESTART)") }
      #expect(store.files.check() == nil)
    }
    #expect(try store.counts() == [.pending: 20])
    store.close()
  }

  @Test("closing one that was replaced leaves the other's files alone")
  func close() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("requests.sqlite")
    let store = try SQLiteRequestStore(path: path)
    try store.add(.sample(1, origin: store.origin))
    for suffix in ["", "-wal", "-shm"] { #expect(rename(path + suffix, directory.file("away" + suffix)) == 0) }
    let other = try SQLiteRequestStore(path: path)
    try other.add(.sample(2, origin: other.origin))
    store.close()
    try other.add(.sample(3, origin: other.origin))
    #expect(try other.counts() == [.pending: 2])
    other.close()
    #expect(try SQLiteRequestStore(path: path).counts() == [.pending: 2])
  }
}
