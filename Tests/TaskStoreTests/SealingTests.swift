import Foundation
import GRDB
import HostThreads
import StoreTestSupport
import TaskModel
import Testing
import ValueSealing

@testable import TaskStore

private struct TestTrouble: Error {
  let last: SealingProgress
}

@Suite("A sealed store", .timeLimit(.minutes(5))) struct SealingTests {
  private let rich: RichStore
  private let keys: Keys

  init() throws {
    rich = try RichStore()
    keys = try Keys(in: rich.directory)
  }

  /// What is in every value that the tests write.
  private static let marker = "SECRET-7d1f"

  private func open(_ sealing: StoreSealing?) throws -> SQLiteRequestStore {
    try SQLiteRequestStore(path: rich.place.database, marks: rich.place.marks, program: "0.1.0", sealing: sealing)
  }

  /// Writes a value of every kind, with the marker in it.
  private func fill(_ store: SQLiteRequestStore) throws {
    let secret = Array(Self.marker.utf8)
    let origin = store.origin
    func request(_ sequence: Int64, _ state: RequestState = .pending) -> RequestRecord {
      var record = RequestRecord.sample(sequence, origin: origin, identifier: .sample("a"), state: state, payload: secret)
      record.lastMessage = Self.marker
      record.lastOutcome = .retried
      record.paused = RequestPause(by: "me", since: .ms(1), reason: Self.marker)
      return record
    }
    var blocked = request(12, .blocked)
    blocked.blockedBy = store.id(11)
    var run = RunRecord(
      id: store.runID(20), request: store.id(11), identifier: .sample("a"), attempt: 1, started: .ms(1), ended: .ms(2), outcome: .failed)
    run.report.message = Self.marker
    run.report.output = secret
    run.report.progress = RunProgress(completed: 1, total: 2, unit: "u", message: Self.marker)
    run.report.trouble = Self.marker
    run.report.log = [LogLine(time: .ms(1), level: .info, message: Self.marker)]
    try store.commit { transaction in
      for record in [request(10), request(11), blocked] { try transaction.insert(record) }
      try transaction.insert(
        [
          DependencyRecord(predecessor: store.id(10), onFailure: .fail, ended: .succeeded, output: secret),
          DependencyRecord(predecessor: store.id(11), onFailure: .fail),
        ], of: store.id(12))
      try transaction.setEventPayload(secret, of: store.id(11))
      try transaction.setCheckpoint(secret, of: store.id(11))
      try transaction.append(run)
      try transaction.setState("k", to: secret, of: .sample("a"))
      var health = PluginHealth()
      (health.failures, health.lastTrouble) = (1, Self.marker)
      try transaction.setHealth(health, of: .sample("a"))
      _ = try transaction.addPause(PauseOrder(filter: "payload.a:\(Self.marker)", by: "me", reason: Self.marker), since: .ms(1))
      try transaction.remember(
        KnownSubmission(fingerprint: 0x5345_4352_4554_2D37, request: store.id(10), disposition: .created, submitted: .ms(1)), key: "i",
        by: nil)
    }
  }

  /// What of `fill` reads back.
  private func check(_ store: SQLiteRequestStore) throws {
    let secret = Array(Self.marker.utf8)
    let record = try store.known(10)
    #expect(record.request.payload == secret && record.lastMessage == Self.marker && record.paused?.reason == Self.marker)
    let run = try #require(try store.run(store.runID(20)))
    #expect(run.report.message == Self.marker && run.report.output == secret && run.report.trouble == Self.marker)
    #expect(run.report.log.map(\.message) == [Self.marker] && run.report.progress?.message == Self.marker)
    #expect(try store.edges(of: store.id(12)).map(\.output) == [secret, []])
    #expect(try store.checkpoint(of: store.id(11)) == secret)
    #expect(try store.stateValue("k", of: .sample("a")) == secret)
    try store.commit { (transaction) throws in
      #expect(try transaction.input(of: store.id(11)).payload == secret)
      #expect(try transaction.output(of: store.id(11)) == secret)
      #expect(try transaction.pluginHealth()[.sample("a")]?.lastTrouble == Self.marker)
      #expect(try transaction.pauses().map(\.order.reason) == [Self.marker])
      #expect(try transaction.submission(withKey: "i", by: nil)?.fingerprint == 0x5345_4352_4554_2D37)
    }
  }

  /// The files of the store that have the marker in them, or the digest of a payload.
  private func plainFiles(_ extra: String...) throws -> [String] {
    let marker = Data(Self.marker.utf8)
    return try ([rich.place.database, rich.place.database + "-wal"] + extra).filter { path in
      guard FileManager.default.fileExists(atPath: path) else { return false }
      let data = try Data(contentsOf: URL(filePath: path))
      return data.range(of: marker) != nil || data.range(of: Data("SECRET-7".utf8)) != nil
    }
  }

  /// Lets the host's thread rewrite what has another form, and returns its last word.
  @discardableResult private func reseal(_ store: SQLiteRequestStore) throws -> SealingProgress {
    let steps = Guarded<[SealingProgress]>([])
    try store.beginResealing { step in
      steps.withLock { $0.append(step) }
    }
    return try await_(steps)
  }

  private func await_(_ steps: Guarded<[SealingProgress]>) throws -> SealingProgress {
    for _ in 0..<3000 {
      let last = steps.withLock { $0.last }
      switch last {
      case .whole?, .damaged?, .failing?: return try #require(last)
      default: usleep(10_000)
      }
    }
    throw StoreError.other("the values were not sealed in 30 s")
  }

  // MARK: Sealing

  @Test("has no plaintext in its files, gives every value back, and proves both")
  func sealed() throws {
    let store = try open(keys.sealing())
    try fill(store)
    try check(store)
    #expect(try plainFiles() == [])
    let beside = try StoreInspection.of(rich.place, keys.sealing())
    #expect(beside.findings == [] && beside.sealed?.isProved == true && beside.sealed?.plain == 0)
    #expect(beside.sealed.map { $0.sealed > 15 } == true)
    store.close()
    #expect(try plainFiles() == [])
    let again = try open(keys.sealing())
    try check(again)
    again.close()
  }

  @Test("needs its keys, whose names it tells")
  func withoutKeys() throws {
    try open(keys.sealing()).close()
    let id = try keys.sealing().keys.current.id
    for other in [nil, try Keys(in: rich.directory, "other.key").sealing()] {
      let error = #expect(throws: StoreError.self) { try open(other) }
      guard case .sealed(let sentence)? = error else { throw error ?? .fenced }
      #expect(sentence.contains("\(id)"))
      let care = #expect(throws: StoreCareError.self) { try StoreInspection.of(rich.place, other) }
      #expect(care?.description.contains("\(id)") == true && care?.remedy?.contains("key_file") == true)
      #expect(throws: StoreCareError.self) { try StoreVacuum.run(rich.place, other) }
    }
    #expect(throws: StoreCareError.self) { try StoreExport.run(rich.place, nil, program: nil, toFile: rich.directory.file("e")) }
  }

  @Test("is sealed while it is open, and has no plaintext once it is written anew")
  func turnedOn() throws {
    let plain = try open(nil)
    try fill(plain)
    plain.close()
    #expect(try plainFiles() == [rich.place.database])
    let store = try open(keys.sealing())
    let before = try StoreInspection.of(rich.place, keys.sealing())
    #expect(before.findings.map(\.kind) == [.plaintext] && before.sealed?.isProved == false)
    guard case .whole(let key?, isClean: false, done: let done) = try reseal(store) else { throw StoreError.fenced }
    #expect(try key == keys.sealing().keys.current.id && done > 15)
    try check(store)
    let after = try StoreInspection.of(rich.place, keys.sealing())
    #expect(after.findings.map(\.kind) == [.plaintext] && after.findings[0].remedy.contains("store vacuum"))
    #expect(after.sealed?.plain == 0 && after.sealed?.isProved == false)
    store.close()
    let vacuumed = try StoreVacuum.run(rich.place, keys.sealing())
    #expect(vacuumed.left == [])
    #expect(try plainFiles() == [])
    #expect(try StoreInspection.of(rich.place, keys.sealing()).sealed?.isProved == true)
    let last = try open(keys.sealing())
    try check(last)
    guard case .whole(_?, isClean: true, done: 0) = try reseal(last) else { throw StoreError.fenced }
    last.close()
  }

  @Test("is sealed at once by a vacuum, without a host")
  func vacuumSeals() throws {
    let plain = try open(nil)
    try fill(plain)
    plain.close()
    _ = try StoreVacuum.run(rich.place, keys.sealing())
    #expect(try plainFiles() == [])
    let found = try StoreInspection.of(rich.place, keys.sealing())
    #expect(found.findings == [] && found.sealed?.isProved == true)
    #expect(throws: StoreError.self) { try open(nil) }
    let store = try open(keys.sealing())
    try check(store)
    store.close()
  }

  @Test("gets another key while it is open, and then needs only that")
  func rotated() throws {
    let store = try open(keys.sealing())
    try fill(store)
    try reseal(store)
    let first = try keys.sealing().keys.current
    try keys.rotate()
    let sealing = try keys.sealing()
    let steps = Guarded<[SealingProgress]>([])
    try store.beginResealing { step in steps.withLock { $0.append(step) } }
    try store.adopt(sealing)
    try check(store)
    try store.add(.sample(40, origin: store.origin, payload: Array(Self.marker.utf8)))
    for _ in 0..<3000 {
      if steps.withLock({ $0.contains { if case .whole(sealing.target, _, _) = $0 { true } else { false } } }) { break }
      usleep(10_000)
    }
    try check(store)
    let found = try StoreInspection.of(rich.place, sealing)
    #expect(found.findings == [] && found.sealed?.sealedEarlier == 0 && found.sealed?.key == sealing.target)
    store.close()
    // The old key is not needed any more, and does not open it.
    let lines = try String(contentsOfFile: keys.path, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("\(first.id)") }
    try (lines.joined(separator: "\n") + "\n").write(toFile: keys.path, atomically: true, encoding: .utf8)
    chmod(keys.path, 0o600)
    let again = try open(keys.sealing())
    try check(again)
    again.close()
    #expect(try plainFiles() == [])
  }

  @Test("refuses keys that lack one that its values need, and keeps those in force")
  func refusedKeys() throws {
    let store = try open(keys.sealing())
    try fill(store)
    let other = try Keys(in: rich.directory, "other.key").sealing()
    #expect(throws: StoreError.self) { try store.adopt(other) }
    #expect(throws: StoreError.self) { try store.adopt(nil) }
    try check(store)
    store.close()
  }

  @Test("becomes plain again only if told so, and then needs no key")
  func turnedOff() throws {
    let store = try open(keys.sealing())
    try fill(store)
    store.close()
    let plain = try open(keys.sealing(seals: false))
    guard case .whole(nil, _, _) = try reseal(plain) else { throw StoreError.fenced }
    try check(plain)
    plain.close()
    let last = try open(nil)
    try check(last)
    last.close()
    // Sealed again, it does not count as clean.
    let again = try open(keys.sealing())
    guard case .whole(_?, isClean: false, _) = try reseal(again) else { throw StoreError.fenced }
    again.close()
  }

  // MARK: Damage

  @Test("does not open a value that was moved to another row, or changed, and goes on", arguments: ["moved", "flipped"])
  func damaged(_ kind: String) throws {
    let store = try open(keys.sealing())
    try fill(store)
    let told = Guarded<[String]>([])
    store.observeDamagedValues { sentence in told.withLock { $0.append(sentence) } }
    try store.pool.writeWithoutTransaction { database in
      try database.execute(
        sql: kind == "moved"
          ? "UPDATE payloads SET sealed = (SELECT sealed FROM payloads WHERE request = 10) WHERE request = 11"
          : "UPDATE payloads SET sealed = CAST(substr(sealed, 1, 40) || x'00' || substr(sealed, 42) AS BLOB) WHERE request = 11")
      try database.execute(sql: "UPDATE runs SET sealed = zeroblob(60), sealed_report = substr(sealed_report, 1, 50) WHERE id = 20")
      try database.execute(sql: "UPDATE requests SET sealed = x'', sealed_pause = x'01' WHERE id = 11")
      try database.execute(sql: "DELETE FROM event_payloads")
    }
    let error = #expect(throws: StoreError.self) { try store.known(11) }
    guard case .damagedValue(let sentence)? = error else { throw error ?? .fenced }
    #expect(sentence.hasPrefix("the payload of request \(store.id(11)) is damaged: "))
    try store.commit { (transaction) throws in
      #expect(try transaction.input(of: store.id(11)).damage == sentence)
      let refusal = #expect(throws: RequestRefusal.self) { try transaction.submittedPayload(of: store.id(11)) }
      #expect(refusal?.code == .conflict)
      #expect(try transaction.request(store.id(11))?.lastMessage == ValueSeals.illegible)
      #expect(try transaction.request(store.id(11))?.paused != nil)
    }
    #expect(try store.requests(RequestQuery()).count == 3)
    let run = try #require(try store.run(store.runID(20)))
    #expect(run.report.message == ValueSeals.illegible && run.report.output == [] && run.report.log.count == 1)
    #expect(told.withLock { $0.contains(sentence) })
    let found = try StoreInspection.of(rich.place, keys.sealing()).findings
    #expect(found.map(\.kind) == [.damaged] && found[0].observed.hasPrefix("5 sealed values do not open: "))
    #expect(throws: StoreCareError.self) { try StoreExport.run(rich.place, keys.sealing(), program: nil, toFile: rich.directory.file("e")) }
    // A rotation leaves them as they are, and says so.
    try keys.rotate()
    try store.adopt(keys.sealing())
    let last = try reseal(store)
    guard case .damaged(_, count: 5) = last else { throw TestTrouble(last: last) }
    #expect(try store.known(10).request.payload == Array(Self.marker.utf8))
    store.close()
  }

  @Test("opens a value only as what it is: another kind, another store")
  func otherPlaces() throws {
    let store = try open(keys.sealing())
    try fill(store)
    try store.pool.writeWithoutTransaction {
      try $0.execute(sql: "UPDATE checkpoints SET sealed = (SELECT sealed FROM payloads WHERE request = 11)")
    }
    #expect(throws: StoreError.self) { try store.checkpoint(of: store.id(11)) }
    try store.pool.writeWithoutTransaction { try $0.execute(sql: "UPDATE origin SET bits = bits + 1") }
    store.close()
    let other = try SQLiteRequestStore(path: rich.place.database, sealing: keys.sealing())
    #expect(throws: StoreError.self) { try other.known(10) }
    other.close()
  }

  @Test("takes no plain value for a sealed one, whatever it begins with")
  func lookalike() throws {
    let key = try keys.sealing().keys.current
    let sealed = try #require(SealedValue.seal([1, 2], with: key, associated: []))
    let plain = try open(nil)
    try plain.add(.sample(10, origin: plain.origin, payload: sealed))
    plain.close()
    let store = try open(keys.sealing())
    #expect(try store.known(10).request.payload == sealed)
    try reseal(store)
    #expect(try store.known(10).request.payload == sealed)
    store.close()
    #expect(try Data(contentsOf: URL(filePath: rich.place.database)).range(of: Data(sealed)) == nil)
  }

  // MARK: Copies

  @Test("is sealed in its backups, which their keys open and no others")
  func backup() throws {
    let store = try open(keys.sealing())
    try fill(store)
    let folder = try TemporaryDirectory()
    let copy = folder.file("copy")
    _ = try StoreBackup.make(of: rich.place, at: copy)
    store.close()
    #expect(try plainFiles(copy) == [])
    let place = StorePlace(database: folder.file("new.sqlite"), marks: [folder.file("mark")])
    for sealing in [nil, try Keys(in: rich.directory, "other.key").sealing()] {
      let error = #expect(throws: StoreCareError.self) { try StoreRestore.restore(copy, to: place, sealing) }
      #expect(error?.observed.contains("is sealed with the key") == true)
    }
    #expect(!FileManager.default.fileExists(atPath: place.database))
    let restored = try StoreRestore.restore(copy, to: place, keys.sealing())
    #expect(restored.inspection.sealed?.isProved == true)
    let again = try SQLiteRequestStore(path: place.database, marks: place.marks, sealing: keys.sealing())
    try check(again)
    again.close()
  }

  @Test("has plain exports, and seals what it imports")
  func archive() throws {
    let plain = try rich.open("plain.sqlite")
    try rich.fill(plain)
    plain.close()
    let expected = rich.directory.file("expected.jsonl")
    _ = try StoreExport.run(rich.place("plain.sqlite"), program: "0.1.0", toFile: expected)
    let input = Glibc.open(expected, O_RDONLY)
    defer { close(input) }
    let result = try StoreImport.run(from: input, named: expected, into: rich.place, keys.sealing(), isTrial: false, program: "0.1.0")
    #expect(result.findings == [])
    let found = try StoreInspection.of(rich.place, keys.sealing())
    #expect(found.findings == [] && found.sealed?.isProved == true)
    let exported = rich.directory.file("exported.jsonl")
    _ = try StoreExport.run(rich.place, keys.sealing(), program: "0.1.0", toFile: exported)
    #expect(try String(contentsOfFile: exported, encoding: .utf8) == String(contentsOfFile: expected, encoding: .utf8))
  }

  @Test("tells of stores that were replaced, which nobody seals")
  func replaced() throws {
    let store = try open(keys.sealing())
    store.close()
    try Data(Self.marker.utf8).write(to: URL(filePath: rich.place.database + ".replaced-2026-11-27T230500Z"))
    let found = try StoreInspection.of(rich.place, keys.sealing())
    #expect(found.findings.map(\.kind) == [.plaintext] && found.findings[0].remedy.contains("delete it"))
  }
}
