import GRDB
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
    let schedules = try store.schedules(limit: 10)
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
