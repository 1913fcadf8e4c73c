import Foundation
import GRDB
import Glibc
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("A store that is exported and imported", .timeLimit(.minutes(5))) struct StoreArchiveTests {
  private let rich = Result { try RichStore() }

  private func export(_ place: StorePlace) throws -> String {
    var bytes: [UInt8] = []
    _ = try StoreExport.run(place, program: "0.1.0", to: { (part) throws(StoreCareError) in bytes += part })
    return String(decoding: bytes, as: UTF8.self)
  }

  @discardableResult
  private func load(_ text: String, _ place: StorePlace, isTrial: Bool = false) throws -> StoreImport.Result {
    let file = try rich.get().directory.file("archive-\(UInt64.random(in: 0 ... .max))")
    try Data(text.utf8).write(to: URL(filePath: file))
    let descriptor = open(file, O_RDONLY)
    defer { close(descriptor) }
    return try StoreImport.run(from: descriptor, named: "archive", into: place, isTrial: isTrial, program: "0.1.0")
  }

  @Test("has the same lines again, whatever is in it, and a host finds the same records")
  func roundTrip() throws {
    let rich = try rich.get()
    try rich.fill()
    let first = try export(rich.place)
    let result = try load(first, rich.place("new"))
    #expect((result.requests, result.runs, result.skipped) == (7, 4, 0))
    #expect(result.findings == [] && result.replaced == nil)
    #expect(try export(rich.place("new")) == first)
    let (old, new) = (try rich.open(), try rich.open("new"))
    defer {
      old.close()
      new.close()
    }
    #expect(old.origin == new.origin && new.lossNotes == [] && new.checksumLoss == nil)
    for sequence in 10...16 as ClosedRange<Int64> {
      #expect(try new.request(new.id(sequence)) == old.request(old.id(sequence)))
      #expect(try new.edges(of: new.id(sequence)) == old.edges(of: old.id(sequence)))
    }
    for sequence in 30...33 as ClosedRange<Int64> { #expect(try new.run(new.runID(sequence)) == old.run(old.runID(sequence))) }
    #expect(try new.schedules(limit: 100, onlyFailing: false) == old.schedules(limit: 100, onlyFailing: false))
    #expect(try new.counts() == old.counts())
    #expect(try new.highestSequence() == old.highestSequence())
    for (key, value) in [("empty", []), ("bytes", [0, 255]), ("blank", Array(" 1".utf8))] {
      #expect(try new.stateValue(key, of: .sample("b")) == value)
    }
    // A number of a pause is never given again.
    #expect(try new.commit { try $0.addPause(PauseOrder(by: "me"), since: .ms(1)) }.id == PauseID(4))
    #expect(try new.commit { try $0.live(tagged: "x", identifier: nil, after: nil, limit: 9) } == [new.id(10)])
    #expect(
      try new.commit { try $0.due(in: old.request(old.id(11))?.lane ?? Lane(.sample("b")), by: .ms(9_000), limit: 9) }.map(\.id) == [
        new.id(11)
      ])
  }

  /// What a host derives or examines again, and numbers that another store gives anew.
  private static let own: Set<String> = [
    "grdb_migrations", "lanes", "plugin_files", "plugin_verdicts", "identifiers.id", "schedules.id",
    // The lines are plain.
    "sealing", "seal_keys", "payloads.sealed", "event_payloads.sealed", "checkpoints.sealed", "edges.sealed", "requests.sealed",
    "requests.sealed_pause", "runs.sealed", "runs.sealed_report", "state.sealed", "standing.sealed", "pauses.sealed",
    "submissions.sealed",
  ]
  /// JSON, whose members have no order. The records above have their content.
  private static let unordered: Set<String> = ["requests.options", "requests.paused", "runs.log", "runs.details"]

  @Test("has every column of every table in its lines, also those that later migrations add")
  func everyColumn() throws {
    let rich = try rich.get()
    try rich.fill()
    try load(try export(rich.place), rich.place("new"))
    let stores = try [rich.place, rich.place("new")].map { try DatabaseQueue(path: $0.database) }
    let tables = try stores[0].read { database in
      try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    }
    #expect(tables.count >= 20)
    for table in tables where !Self.own.contains(table) {
      for column in try stores[0].read({ try $0.columns(in: table).map(\.name) }) where !Self.own.contains("\(table).\(column)") {
        let sql = "SELECT \"\(column)\" IS NOT NULL FROM \(table) ORDER BY 1 DESC LIMIT 1"
        #expect(try stores[0].read { try Bool.fetchOne($0, sql: sql) } == true, "\(table).\(column) is not in use: fill it in RichStore")
        // These refer to rows by numbers.
        if ["identifier", "submitter", "lane", "schedule"].contains(column) || Self.unordered.contains("\(table).\(column)") { continue }
        let values = try stores.map { store in
          try store.read { try String.fetchAll($0, sql: "SELECT quote(\"\(column)\") FROM \(table) ORDER BY 1") }
        }
        #expect(values[0] == values[1], "\(table).\(column)")
      }
    }
  }

  @Test("is not doubled by a second import: what is there stays, and runs keep what their schedules need")
  func again() throws {
    let rich = try rich.get()
    try rich.fill()
    let first = try export(rich.place)
    try load(first, rich.place("new"))
    let second = try load(first, rich.place("new"))
    #expect((second.requests, second.runs, second.others) == (0, 0, 0))
    #expect(second.skipped == first.split(separator: "\n").count - 2)
    let kept = try #require(second.replaced)
    #expect(kept.contains("new.replaced-") && FileManager.default.fileExists(atPath: kept))
    #expect(try export(rich.place("new")) == first)
    let store = try rich.open("new")
    defer { store.close() }
    // Nothing but the last runs and successes is left after pruning.
    _ = try store.commit { try $0.prune(before: .ms(90_000_000), keeping: 0, limit: 100) }
    #expect(try store.runs(RunQuery()).map(\.id.sequence) == [33, 32, 31, 30])
  }

  @Test("takes in what an empty store lacks, and refuses to mix two stores")
  func stores() throws {
    let rich = try rich.get()
    try rich.fill()
    let text = try export(rich.place)
    try rich.open("fresh").close()
    #expect(try load(text, rich.place("fresh")).requests == 7)
    let other = try rich.open("other")
    try other.add(.sample(1, origin: other.origin))
    other.close()
    let before = try Data(contentsOf: URL(filePath: rich.place("other").database))
    let error = #expect(throws: StoreCareError.self) { try load(text, rich.place("other")) }
    #expect(error?.description.contains("ids of two stores cannot be in one") == true)
    #expect(try Data(contentsOf: URL(filePath: rich.place("other").database)) == before)
  }

  @Test("has requests that have given their unique key to a newer one")
  func keyless() throws {
    let rich = try rich.get()
    let store = try rich.open("keyless")
    var record = RequestRecord.sample(1, origin: store.origin)
    (record.request.uniqueKey, record.request.onConflict) = ("k", .replace)
    try store.add(record)
    record.request.uniqueKey = nil
    try record.apply(.cancelled)
    record.ended = .ms(5)
    try store.commit { [record] in try $0.update(record) }
    store.close()
    let text = try export(rich.place("keyless"))
    #expect(try load(text, rich.place("keyless again")).requests == 1)
    #expect(try export(rich.place("keyless again")) == text)
  }

  @Test("is read and checked by a trial, which changes nothing")
  func trial() throws {
    let rich = try rich.get()
    try rich.fill()
    #expect(try load(try export(rich.place), rich.place("new"), isTrial: true).requests == 7)
    #expect(!FileManager.default.fileExists(atPath: rich.place("new").database))
    #expect(try FileManager.default.contentsOfDirectory(atPath: rich.directory.path).allSatisfy { !$0.contains(".taskhost-new") })
  }

  /// Changes of the lines of a good archive, and what the error says. Line 2 is the request 10, line 9 the run 30.
  private static let flaws: [(said: String, change: @Sendable (inout [String]) -> Void)] = [
    ("line 1: this is no export of a store", { $0[0] = "{}" }),
    (
      "line 1: it is in version 2 of the format, and this taskhost reads version 1: install taskhost 0.1.0",
      { $0[0] = $0[0].replacing("\"version\":1", with: "\"version\":2") }
    ),
    ("line 1: colour is unknown here", { $0[0] = $0[0].replacing("\"version\":1", with: "\"version\":1,\"colour\":1") }),
    (
      "line 2: prioritty is unknown here; did you mean \"priority\"?",
      { $0[1] = $0[1].replacing("\"priority\":-3", with: "\"priority\":-3,\"prioritty\":1") }
    ),
    ("line 2: priority is missing", { $0[1] = $0[1].replacing("\"priority\":-3,", with: "") }),
    ("line 2: priority: 11 is outside of -10 to 10", { $0[1] = $0[1].replacing("\"priority\":-3", with: "\"priority\":11") }),
    (
      "line 2: retry.backoff must not be \"lineal\"; did you mean \"linear\"?",
      { $0[1] = $0[1].replacing("\"exponential\"", with: "\"lineal\"") }
    ),
    ("line 2: retry.attempts", { $0[1] = $0[1].replacing(/"attempts":\d+/, with: "\"attempts\":1001") }),
    ("line 2: state must not be", { $0[1] = $0[1].replacing("\"pending\"", with: "\"waiting\"") }),
    (
      "line 2: id is an id of another store",
      {
        $0[1] = $0[1].replacing("-7000-", with: "-7000-").replacing(
          "\"id\":\"", with: "\"id\":\"00000000-0001-7001-8000-000000000001\",\"x\":\"")
      }
    ),
    ("line 2: column ", { $0[1] += "}" }),
    ("line 2: the line must be an object", { $0[1] = "7" }),
    ("line 3: column 1: the text ends where a value is expected", { $0.insert("", at: 2) }),
    ("line 3: payload_base64 is not base64", { $0[2] = $0[2].replacing("\"AAH/\"", with: "\"AAH\"") }),
    ("line 9: outcome is missing", { $0[8] = $0[8].replacing("\"outcome\":\"succeeded\"", with: "\"forced\":true") }),
    (
      "offset_ms is more than lies between two times",
      { lines in lines = lines.map { $0.replacing(/"offset_ms":-?\d+/, with: "\"offset_ms\":9223372036854775807") } }
    ),
    ("without an end line, so a part is missing", { $0.removeLast() }),
    ("lines says otherwise than the", { $0.remove(at: 4) }),
    ("there are more lines after the end line", { $0.append($0[1]) }),
    (
      "line 2: due_unix_ms lies after the year 9999",
      { $0[1] = $0[1].replacing("\"due_unix_ms\":1767225605000", with: "\"due_unix_ms\":1767225605000000") }
    ),
    ("line 2: identifier is wrong", { $0[1] = $0[1].replacing("\"identifier\":\"a\"", with: "\"identifier\":\"\"") }),
    (
      "line 2: kind must not be \"reqest\"; did you mean \"request\"?",
      { $0[1] = $0[1].replacing("\"kind\":\"request\"", with: "\"kind\":\"reqest\"") }
    ),
  ]

  @Test("says which line is wrong and why, and leaves the store as it was", arguments: 0..<22)
  func wrong(_ index: Int) throws {
    let rich = try rich.get()
    try rich.fill()
    let store = try rich.open("kept")
    store.close()
    let before = try Data(contentsOf: URL(filePath: rich.place("kept").database))
    var lines = try export(rich.place).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines.removeLast()
    let flaw = Self.flaws[index]
    let good = lines
    flaw.change(&lines)
    try #require(lines != good)
    let error = #expect(throws: StoreCareError.self) { try load(lines.joined(separator: "\n") + "\n", rich.place("kept")) }
    #expect(error?.description.contains(flaw.said) == true, "\(error?.description ?? "no error")")
    #expect(try Data(contentsOf: URL(filePath: rich.place("kept").database)) == before)
  }

  @Test("is refused where its live request would hold a key that another one holds")
  func keys() throws {
    let rich = try rich.get()
    try rich.fill()
    let text = try export(rich.place)
    let store = try rich.open()
    var holder = try store.known(10)
    holder.place(in: .cancelled)
    try store.commit { try $0.update(holder) }
    try store.add(.sample(20, origin: store.origin, identifier: .sample("a"), key: "k\u{e9}"))
    store.close()
    try load(text, rich.place)
    let lines = text.split(separator: "\n")
    let other = lines[1].replacing("700a-", with: "70ff-")
    let error = #expect(throws: StoreCareError.self) {
      try load(([lines[0], lines[1][...], other[...]]).joined(separator: "\n") + "\n{\"kind\":\"end\",\"lines\":3}\n", rich.place("y"))
    }
    #expect(error?.description.contains("line 3: its unique_key is held by another live request") == true, "\(error?.description ?? "")")
  }

  @Test("is one moment of a store that a host writes meanwhile")
  func beside() throws {
    let rich = try rich.get()
    let store = try rich.open()
    defer { store.close() }
    try rich.fill(store)
    var text = ""
    _ = try StoreExport.run(
      rich.place, program: nil,
      to: { (bytes) throws(StoreCareError) in
        text += String(decoding: bytes, as: UTF8.self)
      },
      { _ in try? store.add(.sample(Int64.random(in: 1000...2000), origin: store.origin)) })
    #expect(text.split(separator: "\n").count { $0.hasPrefix("{\"kind\":\"request\"") } == 7)
  }
}
