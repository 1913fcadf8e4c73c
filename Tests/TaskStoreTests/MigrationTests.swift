import GRDB
import Glibc
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("A file of an earlier version") struct MigrationTests {
  private let directory = Result { try TemporaryDirectory() }

  private static let version1 = """
    INSERT INTO origin (bits) VALUES (77);
    INSERT INTO identifiers (id, name) VALUES (1, 'org.example.task'), (2, 'org.example.other');
    INSERT INTO requests VALUES
      (10, 1, 20, 1767225605000, 3, 1767225600000, 1767225605000, 0, 'k', 10, '["x"]', 5, 20, 30000, 18000000, 900000, 1767225605000, 2,
        1, NULL, NULL, NULL, 1767225600500, NULL, 40, 'later'),
      (11, 1, 40, 1767225600000, 0, 1767225600000, NULL, 0, NULL, 0, NULL, 5, 20, 30000, 18000000, NULL, NULL, 0,
        0, 20, NULL, 21, 1767225600500, NULL, NULL, NULL),
      (12, 2, 60, 1767225600000, 0, 1767225600000, NULL, 0, NULL, 0, NULL, 1, 10, 1000, 2000, NULL, NULL, 1,
        0, NULL, NULL, NULL, 1767225600500, 1767225601000, 60, 'too late');
    INSERT INTO payloads VALUES (10, X'0001FF');
    INSERT INTO checkpoints VALUES (11, X'07');
    INSERT INTO runs VALUES
      (20, 12, 2, 1, 1767225600500, 1767225601000, 60, 10, 1, 'too late', X'01', 3, 4, 5000000, '[{"time":1,"level":"info","message":"m"}]');
    INSERT INTO state VALUES (1, 'key', X'0A0B');
    """

  /// A file as the first version left it.
  private func oldFile() throws -> String {
    let path = try directory.get().file("requests.sqlite")
    let pool = try DatabasePool(path: path)
    try Schema.migrator.migrate(pool, upTo: "1 requests, runs, state")
    try pool.write { database in
      #expect(try database.columns(in: "runs").count == 15)
      try database.execute(sql: Self.version1)
    }
    try pool.close()
    return path
  }

  @Test("is taken over with everything in it")
  func everything() throws {
    let store = try SQLiteRequestStore(path: try oldFile())
    #expect(store.origin == 77)
    let repeating = try store.known(10)
    #expect(repeating.request.payload == [0, 1, 255])
    #expect(repeating.request.uniqueKey == "k")
    #expect(repeating.request.tags == ["x"])
    #expect(repeating.request.repetition == RepeatRule(every: .seconds(900)))
    #expect((repeating.attemptsSpent, repeating.losses, repeating.lastOutcome) == (2, 1, .retried))
    let running = try store.known(11)
    #expect((running.state, running.run, running.stopRequested) == (.running, store.runID(21), .cancelled))
    #expect(try store.checkpoint(of: store.id(11)) == [7])
    #expect(try store.known(12).lastMessage == "too late")
    let run = try #require(try store.run(store.runID(20)))
    #expect((run.outcome, run.report.stopReason, run.report.forced, run.report.output) == (.expired, .budget, true, [1]))
    #expect(run.report.progress == RunProgress(completed: 3, total: 4) && run.report.work == nil)
    #expect(run.report.cpuTime == .milliseconds(5))
    #expect(run.report.log.map(\.message) == ["m"])
    #expect((run.report.stopStage, run.report.peakMemory, run.report.trouble) == (nil, nil, nil))
    #expect(try store.stateValue("key", of: .sample()) == [10, 11])
    #expect(try store.commit { try $0.pluginHealth() } == [:])
    #expect(try store.knownFiles() == [])
    #expect(try store.verdicts() == [])
    #expect(try store.counts() == [.pending: 1, .running: 1, .failed: 1])
    let schedules = try store.schedules(limit: 10, onlyFailing: false)
    #expect(schedules.map(\.key) == [nil, "k"])
    #expect(schedules.map(\.failures) == [1, 0])
    #expect(schedules.first?.lastRun?.id == store.runID(20) && schedules.first?.failingSince == .ms(1000))
    #expect(schedules.last?.request?.id == store.id(10))
  }

  @Test("goes on like a new one: runs are added, standings kept, and it opens again")
  func goesOn() throws {
    let path = try oldFile()
    var health = PluginHealth()
    health.failures = 2
    health.heldUntil = .ms(60_000)
    var run = RunRecord(
      id: RunID(sequence: 21, origin: 77), request: RequestID(sequence: 11, origin: 77), identifier: .sample(), attempt: 1,
      started: .ms(500), ended: .ms(900), outcome: .expired)
    run.report.stopStage = .killed
    run.report.peakMemory = 4096
    run.report.trouble = "hung"
    run.report.work = RunWork(itemsCompleted: 4)
    do {
      let store = try SQLiteRequestStore(path: path)
      try store.commit { transaction in
        try transaction.append(run)
        try transaction.setHealth(health, of: .sample())
      }
      store.close()
    }
    let store = try SQLiteRequestStore(path: path)
    #expect(try store.run(run.id) == run)
    #expect(try store.commit { try $0.pluginHealth() } == [.sample(): health])
    #expect(try store.runs(RunQuery()).map(\.id.sequence) == [21, 20])
  }

  /// What a host of the version that brought a migration could have written into its tables.
  private static let additions: [Int: String] = [
    2: """
    INSERT INTO standing VALUES (1, 2, 1, 1767225600000, NULL, 'crashed');
    INSERT INTO plugin_files VALUES ('/p.so', 1, 2, 3, 4, 5, X'00');
    UPDATE runs SET stop_stage = 30, peak_memory_bytes = 9, trouble = 'hung';
    """,
    3: #"""
    INSERT INTO lanes (id, identifier, gates) VALUES (9, 2, '{"window":"night"}');
    INSERT INTO requests (id, identifier, state, due_ms, priority, submitted_ms, conditions, on_conflict, tags, retry_attempts,
      retry_backoff, retry_initial_ms, retry_maximum_ms, attempts_spent, losses, lane, options)
      VALUES (13, 2, 20, 1767225600000, 0, 1767225600000, 0, 0, '["y"]', 5, 20, 30000, 18000000, 0, 0, 9,
        '{"gates":"{\"window\":\"night\"}"}');
    INSERT INTO requests (id, identifier, state, due_ms, priority, submitted_ms, conditions, on_conflict, retry_attempts,
      retry_backoff, retry_initial_ms, retry_maximum_ms, attempts_spent, losses, blocked_by)
      VALUES (14, 1, 10, 1767225600000, 0, 1767225600000, 0, 0, 5, 20, 30000, 18000000, 0, 0, 10);
    INSERT INTO request_tags VALUES ('y', 13);
    INSERT INTO request_counts VALUES (2, 20, 1), (1, 10, 1);
    INSERT INTO edges (request, predecessor, on_failure) VALUES (14, 10, 10);
    INSERT INTO event_payloads VALUES (10, X'33');
    INSERT INTO unique_windows VALUES (1, 'w', 10, 1767225700000);
    INSERT INTO submissions VALUES ('s', 5, 10, 10, 1767225600000);
    INSERT INTO clock VALUES (1, 'boot', 7);
    """#,
    4: "UPDATE origin SET highest = 15",
    5: "UPDATE runs SET handler_ns = 8",
    7: "UPDATE runs SET details = '{\"unit\":\"files\"}'",
    8: "UPDATE requests SET paused = '{\"by\":\"me\",\"since\":1767225600000}' WHERE id = 12",
    9: "INSERT INTO submissions VALUES (2, 't', 6, 13, 10, 1767225600000)",
    10: "INSERT INTO pauses (filter, by, since_ms) VALUES ('', 'me', 1767225600000)",
    11: "INSERT INTO objectives VALUES (1, 1767225600000)",
  ]

  /// A file as the version with that many migrations left it.
  private func file(ofSchema last: Int) throws -> String {
    let path = try oldFile()
    let pool = try DatabasePool(path: path)
    for migration in Schema.migrator.migrations {
      guard let number = Schema.number(migration), number > 1, number <= last else { continue }
      try Schema.migrator.migrate(pool, upTo: migration)
      if let addition = Self.additions[number] { try pool.write { try $0.execute(sql: addition) } }
    }
    try pool.close()
    return path
  }

  @Test("of any schema there ever was is taken over whole, and keeps what its version could write", arguments: 1...13)
  func everySchema(_ last: Int) throws {
    let path = try file(ofSchema: last)
    let place = StorePlace(database: path, marks: [])
    let old = try StoreInspection.of(place)
    #expect(old.schema == last && old.findings == [])
    #expect(old.notes.contains { $0.contains("an older taskhost") } == (last < 13))
    let store = try SQLiteRequestStore(path: path, program: "0.1.0")
    #expect(try store.counts()[.pending] == (last < 3 ? 1 : 2))
    #expect(try store.known(10).request.payload == [0, 1, 255])
    #expect(try store.checkpoint(of: store.id(11)) == [7])
    let run = try #require(try store.run(store.runID(20)))
    #expect((run.report.trouble, run.report.handlerTime) == (last < 2 ? nil : "hung", last < 5 ? nil : .nanoseconds(8)))
    #expect(run.report.progress?.unit == (last < 7 ? nil : "files"))
    let night = Lane(.sample("org.example.other"), RunConstraints(window: "night"))
    let (health, due) = try store.commit { try ($0.pluginHealth(), $0.due(in: night, by: .ms(0), limit: 9)) }
    #expect(health[.sample()]?.failures == (last < 2 ? nil : 2) && due.count == (last < 3 ? 0 : 1))
    let (dependants, submission, clock) = try store.commit {
      try ($0.dependants(of: store.id(10)), $0.submission(withKey: "s", by: .sample()), $0.clockReference())
    }
    #expect(dependants == (last < 3 ? [] : [store.id(14)]))
    #expect(submission?.fingerprint == (last < 3 ? nil : 5) && clock?.offset == (last < 3 ? nil : 7))
    let (pauses, objectives) = try store.commit { try ($0.pauses(), $0.objectives()) }
    #expect(pauses.count == (last < 10 ? 0 : 1) && objectives.count == (last < 11 ? 0 : 1))
    #expect(try store.known(12).paused?.by == (last < 8 ? nil : "me"))
    store.close()
    let now = try StoreInspection.of(place)
    #expect(now.findings == [] && now.schema == Schema.current && now.program == "0.1.0")
    // And it can be moved to another machine.
    let export = try directory.get().file("export")
    _ = try StoreExport.run(place, program: nil, toFile: export)
    let descriptor = open(export, O_RDONLY)
    defer { close(descriptor) }
    let moved = StorePlace(database: try directory.get().file("moved"), marks: [])
    let result = try StoreImport.run(from: descriptor, named: export, into: moved, isTrial: false, program: nil)
    #expect(result.findings == [] && result.requests == now.requests && result.runs == 1)
  }

  @Test("of every schema can be backed up and restored before a launch takes it over", arguments: 1...13)
  func restored(_ last: Int) throws {
    let path = try file(ofSchema: last)
    let backups = try TemporaryDirectory()
    _ = try StoreBackup.make(of: StorePlace(database: path, marks: []), at: backups.file("b"))
    let place = StorePlace(database: backups.file("new"), marks: [backups.file("mark")])
    #expect(try StoreRestore.restore(backups.file("b"), to: place).inspection.schema == last)
    let store = try SQLiteRequestStore(path: place.database, marks: place.marks)
    #expect(store.lossNotes == [] && store.origin == 77)
    store.close()
  }

  @Test("is left alone by the program that wrote it, once it has been taken over")
  func noWayBack() throws {
    let path = try oldFile()
    try SQLiteRequestStore(path: path).close()
    let queue = try DatabaseQueue(path: path)
    var old = DatabaseMigrator()
    old.registerMigration("1 requests, runs, state") { _ in }
    #expect(try queue.read { try old.hasBeenSuperseded($0) })
  }
}
