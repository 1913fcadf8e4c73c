import Foundation
import GRDB
import Glibc
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("A database in trouble (fault 79)") struct SQLiteFaultTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("requests.sqlite")
  }

  /// A store with one request, closed again.
  private func prepare() throws {
    let store = try SQLiteRequestStore(path: path)
    try store.add(.sample(1, origin: store.origin))
  }

  /// Another program's connection, which may keep a transaction open.
  private func stranger() throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    configuration.busyMode = .timeout(10)
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// The error of opening the store.
  private func refusal(_ path: String? = nil) -> StoreError? {
    do { _ = try SQLiteRequestStore(path: path ?? self.path) } catch { return error }
    return nil
  }

  @Test("a full database refuses to grow and goes on when there is room, with what it had")
  func full() throws {
    let store = try SQLiteRequestStore(path: path)
    try store.add(.sample(1, origin: store.origin))
    try store.commit { transaction in
      let database = (transaction as? SQLiteTransaction)?.database
      let pages = try database.flatMap { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
      try database?.execute(sql: "PRAGMA max_page_count = \(pages + 20)")
    }
    let big = [UInt8](repeating: 1, count: Limits.payloadBytes)
    var refused: StoreError?
    for sequence in 2...10 as ClosedRange<Int64> where refused == nil {
      do { try store.add(.sample(sequence, origin: store.origin, payload: big)) } catch { refused = error }
    }
    guard case .full = refused else {
      Issue.record("expected full, got \(String(describing: refused))")
      return
    }
    #expect(try store.known(1).state == .pending)
    // In a savepoint, too: the reason is the full disk, not the savepoint that went with the transaction.
    let nested = #expect(throws: StoreError.self) {
      try store.commit { transaction in
        for sequence in 20...40 as ClosedRange<Int64> {
          try transaction.savepoint { try transaction.insert(.sample(sequence, origin: store.origin, payload: big)) }
        }
      }
    }
    guard case .full = nested else {
      Issue.record("expected full, got \(String(describing: nested))")
      return
    }
    #expect(try store.request(store.id(20)) == nil)
    try store.commit { transaction in try (transaction as? SQLiteTransaction)?.database.execute(sql: "PRAGMA max_page_count = 100000") }
    try store.add(.sample(50, origin: store.origin, payload: big))
    #expect(try store.known(50).request.payload == big)
  }

  @Test(
    "a full disk is full, and takes requests again when there is room", .enabled(if: geteuid() == 0, "needs root, for a disk of its own"))
  func fullDisk() throws {
    let disk = directory.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    // Without the right to mount (in a container) the test above stands for this one.
    guard mount("tmpfs", disk, "tmpfs", 0, "size=1m") == 0 else { return }
    defer { umount2(disk, Int32(MNT_DETACH)) }
    do {
      let store = try SQLiteRequestStore(path: disk + "/requests.sqlite")
      let big = [UInt8](repeating: 1, count: Limits.payloadBytes)
      var sequence: Int64 = 0
      var refused: StoreError?
      while refused == nil, sequence < 100 {
        sequence += 1
        do { try store.add(.sample(sequence, origin: store.origin, payload: big)) } catch { refused = error }
      }
      guard case .full = refused else {
        Issue.record("expected full, got \(String(describing: refused))")
        return
      }
      #expect(try store.requests(RequestQuery()).count == Int(sequence) - 1)
      try #require(mount("tmpfs", disk, "tmpfs", UInt(MS_REMOUNT), "size=16m") == 0)
      try store.add(.sample(sequence, origin: store.origin, payload: big))
    }
  }

  @Test("a disk that is full from the start refuses the store", .enabled(if: geteuid() == 0, "needs root, for a disk of its own"))
  func fullFromTheStart() throws {
    let disk = directory.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    guard mount("tmpfs", disk, "tmpfs", 0, "size=16k") == 0 else { return }
    defer { umount2(disk, Int32(MNT_DETACH)) }
    let error = refusal(disk + "/requests.sqlite")
    // SQLite calls what it has no room to begin with an I/O error, and the store passes that on as `other`.
    withKnownIssue("the refusal does not say that the disk is full") {
      guard case .full = error else {
        Issue.record("expected full, got \(String(describing: error))")
        return
      }
    }
    #expect(error != nil)
  }

  @Test("a directory that cannot be written, and one that is missing, are said to be so")
  func readOnly() throws {
    try prepare()
    guard case .readOnly = refusal(directory.file("missing/requests.sqlite")) else {
      Issue.record("a missing directory: \(String(describing: refusal(directory.file("missing/requests.sqlite"))))")
      return
    }
    // Root may write anywhere but on a disk that is mounted read-only.
    let disk = directory.file("disk")
    let isRoot = geteuid() == 0
    if isRoot {
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
      guard mount("tmpfs", disk, "tmpfs", 0, "size=1m") == 0 else { return }
      try FileManager.default.copyItem(atPath: path, toPath: disk + "/requests.sqlite")
      try #require(mount("tmpfs", disk, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
    } else {
      try #require(chmod(path, 0o444) == 0 && chmod(directory.path, 0o555) == 0)
    }
    let error = refusal(isRoot ? disk + "/requests.sqlite" : path)
    if isRoot { umount2(disk, Int32(MNT_DETACH)) } else { chmod(directory.path, 0o700) }
    guard case .readOnly = error else {
      Issue.record("expected readOnly, got \(String(describing: error))")
      return
    }
  }

  @Test("a file that is no database, and one with a damaged page, are said to be damaged")
  func corrupt() throws {
    let other = directory.file("other")
    try Data(repeating: 0x55, count: 8192).write(to: URL(fileURLWithPath: other))
    guard case .corrupt = refusal(other) else {
      Issue.record("no database: \(String(describing: refusal(other)))")
      return
    }
    try prepare()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for index in 100..<4096 { bytes[index] = 0xA5 }
    try bytes.write(to: URL(fileURLWithPath: path))
    guard case .corrupt = refusal() else {
      Issue.record("damaged page: \(String(describing: refusal()))")
      return
    }
  }

  @Test("a number that stands for nothing is an error that names it, not a crash")
  func unknownValue() throws {
    try prepare()
    try DatabaseQueue(path: path).write { try $0.execute(sql: "UPDATE requests SET state = 21") }
    let store = try SQLiteRequestStore(path: path)
    let error = #expect(throws: StoreError.self) { try store.requests(RequestQuery()) }
    #expect(error?.description.contains("21 is not a stored RequestState") == true)
  }

  @Test("a store that a newer taskhost wrote is refused, and nothing of it is changed")
  func futureSchema() throws {
    try prepare()
    let queue = try stranger()
    try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99 fleet')") }
    #expect(refusal() == .futureSchema(found: "99 fleet"))
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM grdb_migrations") } == 14)
  }

  @Test("a store of a newer taskhost names the version that wrote it, so that the operator knows what to install")
  func futureProgram() throws {
    try SQLiteRequestStore(path: path, program: "0.1.0").close()
    try stranger().write { database in
      try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('100 fleet'), ('99 labels')")
      try database.execute(sql: "UPDATE origin SET program = '0.3.0'")
    }
    #expect(refusal() == .futureSchema(found: "100 fleet; taskhost 0.3.0 wrote it"))
  }

  @Test("a database that somebody else holds is locked, and can be written when it is given back")
  func locked() throws {
    let store = try SQLiteRequestStore(path: path)
    let other = try stranger()
    try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
    let error = #expect(throws: StoreError.self) { try store.add(.sample(1, origin: store.origin)) }
    guard case .locked = error else {
      Issue.record("expected locked, got \(String(describing: error))")
      return
    }
    try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
    try store.add(.sample(1, origin: store.origin))
  }

  @Test("a second opening in rollback mode that is locked is refused as locked")
  func lockedWhenOpened() throws {
    let other = try stranger()
    try other.inDatabase { database in
      try database.execute(sql: "CREATE TABLE t (x)")
      try database.execute(sql: "BEGIN EXCLUSIVE")
    }
    let error = refusal()
    guard case .locked = error else {
      Issue.record("expected locked, got \(String(describing: error))")
      return
    }
  }

  @Test("every error says what to do")
  func sentences() {
    let errors: [StoreError] = [
      .full("d"), .readOnly("d"), .locked("d"), .corrupt("d"), .futureSchema(found: "d"), .replaced("d"), .cut("d"), .lost("d"), .fenced,
      .limit("d"), .other("d"),
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    #expect(errors.allSatisfy { !$0.description.isEmpty })
  }
}
