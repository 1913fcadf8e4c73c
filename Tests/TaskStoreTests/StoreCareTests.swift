import Foundation
import GRDB
import Glibc
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("A store that is looked after", .timeLimit(.minutes(5))) struct StoreCareTests {
  private let rich = Result { try RichStore() }

  /// A store that is filled and closed, and changed by `sql` behind the host's back.
  private func store(changedBy sql: String = "") throws -> RichStore {
    let rich = try rich.get()
    try rich.fill()
    if !sql.isEmpty {
      let queue = try DatabaseQueue(path: rich.place.database)
      try queue.write { try $0.execute(sql: sql) }
      try queue.close()
      unlink(PageSums.path(of: rich.place.database))
    }
    return rich
  }

  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  private func inspect(_ place: StorePlace) throws -> StoreInspection { try StoreInspection.of(place) }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  // MARK: Check

  @Test("is whole as a host leaves it, and while a host has it open")
  func whole() throws {
    let rich = try store()
    let found = try inspect(rich.place)
    #expect(found.findings == [] && found.notes == [])
    #expect((found.requests, found.runs, found.schema, found.program) == (7, 4, 13, "0.1.0"))
    let host = try rich.open()
    defer { host.close() }
    try host.add(.sample(50, origin: host.origin))
    let beside = try inspect(rich.place)
    #expect(beside.findings == [] && beside.requests == 8)
    #expect(beside.notes.count == 1 && beside.notes[0].contains("not compared"))
    #expect(try host.commit { try $0.request(host.id(50)) } != nil)
  }

  /// Changes behind the host's back, the kind of what is found, and a word of it.
  private static let changes: [(sql: String, kind: StoreInspection.Finding.Kind, word: String)] = [
    ("UPDATE request_counts SET requests = requests + 1 WHERE state = 20", .derived, "2 counts of requests"),
    ("DELETE FROM request_tags WHERE tag = 'x'", .derived, "listings by tag do not find"),
    ("INSERT INTO request_tags VALUES ('z', 10)", .derived, "does not have"),
    ("UPDATE requests SET lane = (SELECT max(id) FROM lanes) WHERE id = 10", .derived, "not in the lane"),
    ("UPDATE requests SET lane = 999 WHERE id = 10", .derived, "not in the lane"),
    ("INSERT INTO payloads (request, bytes) VALUES (99, x'00')", .derived, "a payload of a request that is gone"),
    ("UPDATE requests SET state = 21 WHERE id = 16", .unreadable, "21 is not a stored RequestState"),
    ("UPDATE requests SET options = '{' WHERE id = 10", .unreadable, "1 record cannot be read: request"),
    ("UPDATE runs SET log = 'x' WHERE id = 31", .unreadable, "1 record cannot be read: run"),
    ("UPDATE edges SET ended = 50 WHERE request = 13", .contradictory, "waits for nothing"),
    ("UPDATE edges SET predecessor = 98 WHERE predecessor = 10", .contradictory, "has ended or is gone"),
    ("UPDATE requests SET run = 31 WHERE id = 14", .contradictory, "has already ended"),
    (
      "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, 'due_ms)', 'submitted_ms)') WHERE name = 'requests_pending'",
      .damaged, "requests_pending"
    ),
    ("DROP TABLE standing", .damaged, "the table standing is missing"),
    ("DROP INDEX requests_key", .damaged, "the index requests_key is missing"),
    ("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM requests; END", .damaged, "the trigger t is not of a taskhost"),
    ("ALTER TABLE clock RENAME offset_ms TO kffset_ms", .damaged, "the table clock is not as a taskhost makes it"),
    ("DELETE FROM grdb_migrations", .damaged, "its list of migrations"),
  ]

  @Test("shows what is wrong with it, and what to do", arguments: 0..<18)
  func findings(_ index: Int) throws {
    let change = Self.changes[index]
    let found = try inspect(try store(changedBy: change.sql).place).findings
    let finding = try #require(found.first { $0.kind == change.kind }, "\(found)")
    #expect(finding.observed.contains(change.word), "\(found)")
    #expect(finding.remedy.contains("taskhost "))
  }

  @Test("shows a bit that flipped in a payload, which SQLite does not see")
  func flipped() throws {
    let rich = try store()
    var data = try bytes(rich.place.database)
    let place = try #require(data.range(of: Data(#"{"a":[1,2]}"#.utf8))?.lowerBound)
    data[place] ^= 1
    try data.write(to: URL(filePath: rich.place.database))
    let found = try inspect(rich.place).findings
    #expect(found.map(\.kind) == [.damaged] && found[0].observed == "page \(place / 4096 + 1) is not as written")
  }

  @Test("shows that records are missing, or that it is another one")
  func lost() throws {
    let rich = try store()
    let old = try bytes(rich.place.database)
    let host = try rich.open()
    try host.add(.sample(1 << 41, origin: host.origin))
    host.close()
    try old.write(to: URL(filePath: rich.place.database))
    unlink(PageSums.path(of: rich.place.database))
    #expect(try inspect(rich.place).findings.map(\.kind) == [.lost])
    try rich.open("other").close()
    try bytes(rich.place("other").database).write(to: URL(filePath: rich.place.database))
    #expect(try inspect(rich.place).findings.map(\.observed) == ["this is another store than the one that its mark records"])
    truncate(rich.place.database, 0)
    let error = #expect(throws: StoreCareError.self) { try inspect(rich.place) }
    #expect(error?.description.contains("gone or empty, and its mark records") == true)
  }

  @Test(
    "is an error where there is none, an empty file or something else", arguments: ["missing", "empty", "text", "other database", "folder"])
  func none(_ kind: String) throws {
    let rich = try rich.get()
    let path = rich.place.database
    switch kind {
    case "empty": try Data().write(to: URL(filePath: path))
    case "text": try Data(repeating: 0x41, count: 9000).write(to: URL(filePath: path))
    case "other database": try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t (a)") }
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default: break
    }
    let error = #expect(throws: StoreCareError.self) { try inspect(rich.place) }
    #expect(error?.description.hasPrefix(path) == true && error?.remedy != nil, "\(error?.description ?? "")")
    #expect(throws: StoreCareError.self) { try StoreVacuum.run(rich.place) }
    #expect(throws: StoreCareError.self) { try StoreExport.run(rich.place, program: nil, to: { _ in }) }
  }

  // MARK: Backup

  /// A folder for backups, outside of the state directory.
  private func backups() throws -> TemporaryDirectory { try TemporaryDirectory() }

  @Test("is copied as it was at one moment while a host writes, into one private file that opens by itself")
  func backup() throws {
    let rich = try rich.get()
    let host = try rich.open()
    defer { host.close() }
    try rich.fill(host)
    for number in 100...400 as ClosedRange<Int64> {
      try host.add(.sample(number, origin: host.origin, payload: [UInt8](repeating: 7, count: 20_000)))
    }
    let folder = try backups()
    let path = folder.file("copy.sqlite")
    var (steps, next) = (0, Int64(1000))
    let made = try StoreBackup.make(of: rich.place, at: path) { step in
      steps += 1
      next += 1
      try? host.add(.sample(next, origin: host.origin))
    }
    #expect(steps > 2 && made.requests == 308 && made.runs == 4)
    #expect(mode(path) == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy.sqlite"])
    let copy = try inspect(StorePlace(database: path, marks: []))
    #expect(copy.findings == [] && copy.requests == 308)
    #expect(try host.counts()[.pending, default: 0] > 304)
  }

  @Test("leaves the old backup where the new one cannot be made, and never takes another file's place")
  func refusals() throws {
    let rich = try store()
    let folder = try backups()
    let path = folder.file("copy.sqlite")
    _ = try StoreBackup.make(of: rich.place, at: path)
    let old = try bytes(path)
    // The copy of a damaged store is damaged.
    var data = try bytes(rich.place.database)
    for index in 4096 * 6..<4096 * 8 { data[index] = 0x5A }
    try data.write(to: URL(filePath: rich.place.database))
    #expect(throws: StoreCareError.self) { try StoreBackup.make(of: rich.place, at: path) }
    #expect(try bytes(path) == old)
    try Data("letter".utf8).write(to: URL(filePath: folder.file("letter.txt")))
    symlink(path, folder.file("link"))
    mkfifo(folder.file("fifo"), 0o600)
    for (name, word) in [
      (folder.file("letter.txt"), "is not a backup"), (folder.file("link"), "is not a file"), (folder.file("fifo"), "is not a file"),
      (folder.path, "is not a file"), (folder.path + "/", "not the name"), (folder.file("none/copy"), "cannot be opened"),
      (rich.directory.file("copy"), "state directory"), (rich.place.database, "state directory"), ("", "not the name of a file"),
    ] {
      let error = #expect(throws: StoreCareError.self) { try StoreBackup.make(of: rich.place, at: name) }
      #expect(error?.observed.contains(word) == true, "\(name): \(error?.description ?? "")")
    }
    #expect(try bytes(folder.file("letter.txt")) == Data("letter".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 4)
  }

  @Test("is copied over an earlier copy of itself only: not over another database, another store, or one in use")
  func strangers() throws {
    let rich = try store()
    let folder = try backups()
    let (other, foreign) = (folder.file("other.sqlite"), folder.file("app.sqlite"))
    try rich.open("other").close()
    _ = try StoreBackup.make(of: rich.place("other"), at: other)
    let queue = try DatabaseQueue(path: foreign)
    try queue.write { try $0.execute(sql: "CREATE TABLE photos (a)") }
    try queue.close()
    let copy = folder.file("copy.sqlite")
    _ = try StoreBackup.make(of: rich.place, at: copy)
    for (name, word) in [(other, "it is one of another store"), (foreign, "a database, but not a store of taskhost")] {
      let before = try bytes(name)
      let error = #expect(throws: StoreCareError.self) { try StoreBackup.make(of: rich.place, at: name) }
      #expect(error?.observed.contains(word) == true, "\(error?.description ?? "")")
      #expect(try bytes(name) == before)
    }
    try Data("x".utf8).write(to: URL(filePath: folder.file("store.mark")))
    let error = #expect(throws: StoreCareError.self) { try StoreBackup.make(of: rich.place, at: copy) }
    #expect(error?.observed.contains("a store that a host keeps") == true)
  }

  @Test("that has a page that is not as written is neither copied over a good backup, nor written anew as if it were whole")
  func launders() throws {
    let rich = try store()
    let folder = try backups()
    let path = folder.file("copy.sqlite")
    _ = try StoreBackup.make(of: rich.place, at: path)
    let good = try bytes(path)
    var data = try bytes(rich.place.database)
    let place = try #require(data.range(of: Data(#"{"a":[1,2]}"#.utf8))?.lowerBound)
    data[place] ^= 1
    try data.write(to: URL(filePath: rich.place.database))
    for command in [
      { _ = try StoreBackup.make(of: rich.place, at: path) }, { _ = try StoreVacuum.run(rich.place) },
    ] {
      let error = #expect(throws: StoreCareError.self) { try command() }
      #expect(error?.observed.contains("is not as written") == true, "\(error?.description ?? "")")
    }
    #expect(try bytes(path) == good && bytes(rich.place.database) == data)
  }

  @Test("replaces what a killed command left, but not another command's file or a stranger's")
  func leftovers() throws {
    let rich = try store()
    let folder = try backups()
    let path = folder.file("copy.sqlite")
    // The names that killed commands leave, and others that only resemble them.
    let (left, wal) = (path + ".taskhost-new-0123456789abcdef", path + ".taskhost-new-00000000000000ff-wal")
    let others = [".taskhost-new", ".taskhost-new-", ".taskhost-new-0123456789abcdeg", ".taskhost-new-0123456789abcdef.txt"].map {
      path + $0
    }
    for name in [left, wal] + others { try Data("half".utf8).write(to: URL(filePath: name)) }
    symlink("/etc/passwd", path + ".taskhost-new-1111111111111111")
    _ = try StoreBackup.make(of: rich.place, at: path)
    #expect(!FileManager.default.fileExists(atPath: left) && !FileManager.default.fileExists(atPath: wal))
    for name in others { #expect(try bytes(name) == Data("half".utf8), "\(name)") }
    var status = stat()
    #expect(lstat(path + ".taskhost-new-1111111111111111", &status) == 0)
    let first = try PendingFile(for: path)
    let error = #expect(throws: StoreCareError.self) { try StoreBackup.make(of: rich.place, at: path) }
    #expect(error?.observed == "another command is writing it")
    #expect(FileManager.default.fileExists(atPath: first.path))
    withExtendedLifetime(first) {}
  }

  // MARK: Restore

  @Test("is replaced by a backup, kept beside it, and opens as if nothing were missing")
  func restore() throws {
    let rich = try store()
    let folder = try backups()
    let path = folder.file("copy.sqlite")
    _ = try StoreBackup.make(of: rich.place, at: path)
    let host = try rich.open()
    try host.add(.sample(1 << 42, origin: host.origin))
    host.close()
    let restored = try StoreRestore.restore(path, to: rich.place)
    #expect(restored.inspection.findings == [] && restored.inspection.requests == 7)
    let replaced = try #require(restored.replaced)
    #expect(try inspect(StorePlace(database: replaced, marks: [])).requests == 8)
    #expect(mode(rich.place.database) == 0o600)
    #expect(try inspect(rich.place) == restored.inspection)
    let next = try rich.open()
    #expect(next.lossNotes == [] && next.checksumLoss == nil)
    #expect(try next.counts().values.reduce(0, +) == 7)
    next.close()
    // The way back.
    #expect(try StoreRestore.restore(replaced, to: rich.place).inspection.requests == 8)
    let last = try rich.open()
    #expect(last.lossNotes == [])
    last.close()
    // With all pages as their checksums say.
    #expect(try inspect(rich.place).findings == [] && inspect(rich.place).notes == [])
  }

  @Test("that a killed host left with a log is replaced and kept with what the log had")
  func restoreOverLog() throws {
    let rich = try rich.get()
    let host = try rich.open("live")
    try rich.fill(host)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: rich.place("live").database + suffix, toPath: rich.place.database + suffix)
    }
    try FileManager.default.copyItem(atPath: rich.place("live").marks[0], toPath: rich.place.marks[0])
    host.close()
    let folder = try backups()
    let path = folder.file("copy.sqlite")
    _ = try StoreBackup.make(of: rich.place, at: path)
    #expect(try inspect(rich.place).requests == 7)
    // The files of a store that was open are a backup too.
    #expect(try StoreRestore.restore(rich.place.database, to: rich.place("third")).inspection.requests == 7)
    let restored = try StoreRestore.restore(path, to: rich.place)
    #expect(try inspect(StorePlace(database: try #require(restored.replaced), marks: [])).requests == 7)
    #expect(StorePlace.size(rich.place.database + "-wal") == nil)
    let next = try rich.open()
    #expect(next.lossNotes == [] && next.checksumLoss == nil)
    next.close()
  }

  @Test(
    "stays as it is where the backup is damaged, cut off, of a newer taskhost or none",
    arguments: ["damaged", "cut", "newer", "text", "empty", "missing", "folder"])
  func wrongBackups(_ kind: String) throws {
    let rich = try store()
    let folder = try backups()
    let path = folder.file("copy.sqlite")
    _ = try StoreBackup.make(of: rich.place, at: path)
    var data = try bytes(path)
    switch kind {
    case "damaged":
      for index in 4096 * 6..<4096 * 8 { data[index] = 0x5A }
      try data.write(to: URL(filePath: path))
    case "cut": try data.prefix(data.count / 2).write(to: URL(filePath: path))
    case "newer":
      try DatabaseQueue(path: path).write { database in
        try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99 fleet'); UPDATE origin SET program = '9.0'")
      }
    case "text": try Data(repeating: 0x41, count: 9000).write(to: URL(filePath: path))
    case "empty": try Data().write(to: URL(filePath: path))
    case "folder":
      unlink(path)
      mkdir(path, 0o700)
    default: unlink(path)
    }
    let before = try bytes(rich.place.database)
    let error = #expect(throws: StoreCareError.self) { try StoreRestore.restore(path, to: rich.place) }
    #expect(error?.description.contains(path) == true, "\(error?.description ?? "")")
    if kind == "newer" { #expect(error?.description.contains("99 fleet; taskhost 9.0 wrote it): install that version") == true) }
    #expect(try bytes(rich.place.database) == before)
    #expect(try inspect(rich.place).findings == [])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: rich.directory.path).allSatisfy {
        !$0.contains("new") && !$0.contains("replaced")
      })
  }

  // MARK: Vacuum

  @Test("becomes smaller, and is the same store for its host")
  func vacuum() throws {
    let rich = try rich.get()
    let host = try rich.open()
    try rich.fill(host)
    for number in 100...300 as ClosedRange<Int64> {
      try host.add(.sample(number, origin: host.origin, payload: [UInt8](repeating: 7, count: 20_000)))
    }
    host.close()
    let queue = try DatabaseQueue(path: rich.place.database)
    try queue.write { try $0.execute(sql: "DELETE FROM payloads WHERE request >= 100") }
    try queue.close()
    unlink(PageSums.path(of: rich.place.database))
    let done = try StoreVacuum.run(rich.place)
    #expect(done.after < done.before / 4 && done.mended == [] && done.left == [])
    let next = try rich.open()
    #expect(next.lossNotes == [] && next.checksumLoss == nil)
    #expect(try next.known(10).request.tags == ["x", "\u{1F600} \"y\""])
    next.close()
    #expect(try inspect(rich.place).findings == [] && inspect(rich.place).notes == [])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: rich.directory.path).allSatisfy {
        !$0.contains("new") && !$0.contains("replaced")
      })
  }

  @Test("gets its counts, tags, lanes and rows back from its requests", arguments: 0..<6)
  func mended(_ index: Int) throws {
    let rich = try store(changedBy: Self.changes[index].sql)
    let done = try StoreVacuum.run(rich.place)
    #expect(done.mended.map(\.kind).contains(.derived) && done.left == [], "\(done)")
    #expect(try inspect(rich.place).findings == [])
  }

  @Test("is not written anew where it is damaged, newer or older")
  func notVacuumed() throws {
    let rich = try store(changedBy: Self.changes[6].sql)
    let before = try bytes(rich.place.database)
    #expect(throws: StoreCareError.self) { try StoreVacuum.run(rich.place) }
    #expect(try bytes(rich.place.database) == before)
  }
}
