import GRDB
import StoreTestSupport
import TaskModel

@testable import TaskStore

/// A store with a record of every kind, and with every field of a request and a run in use.
struct RichStore {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  var place: StorePlace { place("taskhost.sqlite") }

  func place(_ name: String) -> StorePlace {
    StorePlace(database: directory.file(name), marks: [directory.file(name + ".mark")])
  }

  /// Opens the store as a host does.
  func open(_ name: String = "taskhost.sqlite") throws -> SQLiteRequestStore {
    try SQLiteRequestStore(path: place(name).database, marks: place(name).marks, program: "0.1.0")
  }

  /// Writes everything, and closes the store as a host does.
  @discardableResult func fill() throws -> UInt64 {
    let store = try open()
    try fill(store)
    let origin = store.origin
    store.close()
    return origin
  }

  func fill(_ store: SQLiteRequestStore) throws {
    let origin = store.origin
    func id(_ sequence: Int64) -> RequestID { RequestID(sequence: sequence, origin: origin) }
    func run(_ sequence: Int64) -> RunID { RunID(sequence: sequence, origin: origin) }
    try store.commit { transaction in
      for record in Self.requests(origin) { try transaction.insert(record) }
      try transaction.insert(
        [
          DependencyRecord(predecessor: id(10), onFailure: .ignore),
          DependencyRecord(predecessor: id(15), onFailure: .fail, ended: .failed, output: [0, 10]),
        ], of: id(13))
      try transaction.setCheckpoint([], of: id(14))
      try transaction.setEventPayload(Array(#"{"a":1,"a":2}"#.utf8), of: id(12))
      for record in Self.runs(origin) { try transaction.append(record) }
      for (key, value) in [
        ("empty", []), ("json", Array(#"[1.50, {"x": "\u00e9"}]"#.utf8)), ("bytes", [0, 255]), ("blank", Array(" 1".utf8)),
      ] {
        try transaction.setState(key, to: value, of: .sample("b"))
      }
      var health = PluginHealth()
      (health.failures, health.heldUntil, health.lastTrouble) = (3, .ms(9000), "crashed\u{7}\n\"")
      try transaction.setHealth(health, of: .sample("a"))
      health.quarantinedSince = .ms(8)
      try transaction.setHealth(health, of: .sample("b"))
      try transaction.removePause(
        try transaction.addPause(PauseOrder(filter: "", by: "nobody"), since: .ms(1)).id)
      _ = try transaction.addPause(
        PauseOrder(filter: "identifier=a", by: "user 1000", user: 1000, reason: "moving", until: .ms(99_000)), since: .ms(5))
      try transaction.removePause(try transaction.addPause(PauseOrder(by: "nobody"), since: .ms(6)).id)
      try transaction.setObjective(.ms(7), of: .sample("a"))
      try transaction.setClockReference(ClockReference(boot: "b-1", offset: -12))
      try transaction.hold("k\u{e9}", identifier: .sample("a"), for: id(10), until: .distantFuture)
      let known = KnownSubmission(fingerprint: .max, request: id(10), disposition: .kept, submitted: .ms(3))
      try transaction.remember(known, key: "i", by: nil)
      try transaction.remember(known, key: "i", by: .sample("b"))
    }
    try store.pool.writeWithoutTransaction { database in
      // From before a plugin's keys were its own, and from before pruning.
      try database.execute(sql: "UPDATE origin SET highest = 1 << 40")
      try database.execute(
        sql: """
          INSERT INTO submissions (submitter, key, fingerprint, request, disposition, submitted_ms)
          VALUES (-1, 'old', 5, 10, 10, 1767225600000)
          """)
    }
  }

  private static func requests(_ origin: UInt64) -> [RequestRecord] {
    func id(_ sequence: Int64) -> RequestID { RequestID(sequence: sequence, origin: origin) }
    var cron = RequestRecord.sample(
      10, origin: origin, identifier: .sample("a"), due: .ms(5000), priority: -3, key: "k\u{e9}", payload: Array(#"{"a":[1,2]}"#.utf8),
      tags: ["x", "\u{1F600} \"y\""])
    cron.request.repetition = RepeatRule(
      .cron(CronRule("30 2 * * *", timeZone: "Europe/Berlin", daylight: DaylightPolicy(gap: .skip, repeated: .both))),
      missed: .all(limit: 7, spread: .seconds(3)))
    cron.request.gates = RunConstraints(
      conditions: [.network, .idle], onLostCondition: .finish, window: "night", concurrencyKey: "disk", resources: ["output": 2, "cpu": 1],
      flex: .seconds(5))
    cron.request.gates.tenant = "t"
    cron.request.gates.wakes = true
    (cron.request.gates.prefer, cron.request.gates.lastHost) = ("last_host", "h\u{f6}st")
    cron.request.jitter = .seconds(9)
    cron.request.uniqueWindow = .seconds(60)
    cron.request.idempotencyKey = "i"
    cron.request.traceparent = TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    cron.request.deadline = .ms(90_000)
    cron.request.earliestBegin = .ms(4000)
    (cron.occurrence, cron.attemptsSpent, cron.losses, cron.missedLeft) = (.ms(5000), 2, 1, 3)
    (cron.started, cron.ended, cron.lastOutcome, cron.lastMessage) = (.ms(10), .ms(20), .retried, "later\u{0}on")

    var every = RequestRecord.sample(11, origin: origin, identifier: .sample("b"), payload: [0, 1, 255], every: .seconds(900))
    every.request.clock = .boot
    every.isRelaxed = true
    every.paused = RequestPause(by: "plugin b", since: .ms(2), reason: "why", isPlugins: true)
    every.setAside = PauseID(2)

    var event = RequestRecord.sample(12, origin: origin, identifier: .sample("b"), due: .distantFuture, payload: Array(" {} ".utf8))
    event.request.event = EventTrigger("file:/srv/in", debounce: .seconds(2))
    event.request.repetition = RepeatRule(.event)
    (event.eventDue, event.eventSince) = (.ms(70), .ms(60))

    var blocked = RequestRecord.sample(
      13, origin: origin, identifier: .sample("a"), state: .blocked, payload: Array("[\n]".utf8), blockedBy: id(10))
    blocked.request.after = [Dependency(.request(id(10)), onFailure: .ignore), Dependency(.request(id(15)))]
    blocked.request.owner = .sample("b")
    blocked.request.isUntold = true

    var running = RequestRecord.sample(14, origin: origin, identifier: .sample("a"), state: .running)
    (running.run, running.started, running.stopRequested) = (RunID(sequence: 40, origin: origin), .ms(30), .cancelled)
    var failed = RequestRecord.sample(15, origin: origin, identifier: .sample("a"), state: .failed, key: "once")
    failed.request.retry = RetryPolicy(attempts: 1, backoff: .linear, initial: .seconds(1), maximum: .seconds(2))
    (failed.ended, failed.lastOutcome, failed.attemptsSpent) = (.ms(20), .failed, 1)
    var done = RequestRecord.sample(16, origin: origin, identifier: .sample("c"), state: .succeeded, payload: Array("7".utf8))
    done.ended = .ms(25)
    return [cron, every, event, blocked, running, failed, done]
  }

  private static func runs(_ origin: UInt64) -> [RunRecord] {
    func run(_ sequence: Int64, _ request: Int64, _ identifier: String, _ outcome: RunOutcome) -> RunRecord {
      RunRecord(
        id: RunID(sequence: sequence, origin: origin), request: RequestID(sequence: request, origin: origin),
        identifier: .sample(identifier), attempt: 1, started: .ms(sequence), ended: .ms(sequence + 5), outcome: outcome)
    }
    var rich = run(31, 15, "a", .failed)
    rich.report.stopReason = .budget
    rich.report.forced = true
    rich.report.stopStage = .killed
    rich.report.message = "no \u{2028} luck"
    rich.report.output = Array(#"{"k": "v"}"#.utf8)
    rich.report.progress = RunProgress(completed: 3, total: .max, unit: "files", message: "copying")
    rich.report.work = RunWork(itemsCompleted: .max, bytesIn: 5)
    rich.report.cpuTime = .nanoseconds(17)
    rich.report.handlerTime = .nanoseconds(5_000_001)
    rich.report.peakMemory = 4096
    rich.report.trouble = "hung\n#0 main"
    rich.report.log = [
      LogLine(time: .ms(1), level: .warning, message: "m"), LogLine(time: .ms(2), level: .info, message: "", stream: .stderr),
    ]
    return [run(30, 10, "a", .succeeded), rich, run(32, 11, "b", .crashed), run(33, 16, "c", .noop)]
  }
}
