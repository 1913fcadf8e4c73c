import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps runs") struct RunConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  private func run(
    _ sequence: Int64, of request: Int64, _ store: any RequestStore, ended: WallTime = .ms(20), identifier: TaskIdentifier = .sample()
  ) -> RunRecord {
    RunRecord(
      id: store.runID(sequence), request: store.id(request), identifier: identifier, attempt: 1, started: ended + .milliseconds(-10),
      ended: ended,
      outcome: .succeeded)
  }

  @Test("a pending request starts once", arguments: StoreUnderTest.allCases)
  func start(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin))
    try store.commit { try $0.start(store.id(1), run: store.runID(2), at: .ms(7)) }
    let record = try store.known(1)
    #expect(record.state == .running && record.run == store.runID(2) && record.started == .ms(7))
    #expect(throws: StoreError.self) { try store.commit { try $0.start(store.id(1), run: store.runID(3), at: .ms(8)) } }
    #expect(try store.due(by: .ms(100)) == [])
    #expect(try store.highestSequence() == 2)
  }

  @Test(
    "what is handed out ahead is not due, not running, waits, and begins or succeeds by its run alone", arguments: StoreUnderTest.allCases)
  func claim(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin), .sample(2, origin: store.origin))
    try store.commit { transaction in
      try transaction.claim(store.id(1), run: store.runID(11))
      try transaction.claim(store.id(2), run: store.runID(12))
    }
    let record = try store.known(1)
    #expect(record.state == .claimed && record.run == store.runID(11) && record.started == nil)
    #expect(try store.counts() == [.claimed: 2])
    #expect(try store.due(by: .ms(100)) == [])
    #expect(try store.highestSequence() == 12)
    #expect(try store.commit { try $0.claimed().map(\.id) } == [store.id(1), store.id(2)])
    #expect(try store.commit { try $0.running().isEmpty })
    #expect(try store.commit { try $0.waiting(of: .sample()).map(\.id) } == [store.id(1), store.id(2)])
    #expect(try store.pendingRequests(of: [.sample()], after: nil).requests.map(\.id) == [store.id(1), store.id(2)])
    // It is not its present run's alone while it is claimed.
    #expect(throws: StoreError.fenced) { try store.commit { try $0.requestRunning(as: store.runID(11), of: store.id(1)) } }
    #expect(throws: StoreError.fenced) { try store.commit { try $0.start(store.id(1), run: store.runID(13), at: .ms(7)) } }
    #expect(throws: StoreError.self) { try store.commit { try $0.claim(store.id(1), run: store.runID(13)) } }
    #expect(throws: StoreError.fenced) {
      try store.commit {
        try $0.succeed(store.id(1), run: store.runID(11), began: nil, outcome: .noop, message: nil, at: .ms(9))
      }
    }
    try store.commit { transaction in
      try transaction.start(store.id(1), run: store.runID(11), at: .ms(7))
      try transaction.succeed(store.id(2), run: store.runID(12), began: .ms(8), outcome: .succeeded, message: nil, at: .ms(9))
    }
    let (first, second) = (try store.known(1), try store.known(2))
    #expect(first.state == .running && first.started == .ms(7))
    #expect(second.state == .succeeded && second.started == .ms(8))
    #expect(try store.counts() == [.running: 1, .succeeded: 1])
  }

  @Test("one that is taken back waits in its lane again", arguments: StoreUnderTest.allCases)
  func release(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin))
    try store.commit { try $0.claim(store.id(1), run: store.runID(11)) }
    var record = try store.known(1)
    record.place(in: .pending)
    record.run = nil
    try store.commit { try $0.update(record) }
    #expect(try store.due(by: .ms(100)) == [1])
    #expect(try store.counts() == [.pending: 1])
  }

  @Test("only the present run of a request is taken at its word", arguments: StoreUnderTest.allCases)
  func fencing(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin), .sample(5, origin: store.origin))
    try store.commit { try $0.start(store.id(1), run: store.runID(2), at: .ms(7)) }
    for (request, run) in [(1, 3), (5, 2), (9, 2)] as [(Int64, Int64)] {
      #expect(throws: StoreError.fenced) { try store.commit { try $0.requestRunning(as: store.runID(run), of: store.id(request)) } }
      #expect(throws: StoreError.fenced) {
        try store.commit {
          try $0.succeed(store.id(request), run: store.runID(run), began: nil, outcome: .succeeded, message: nil, at: .ms(9))
        }
      }
    }
    #expect(try store.commit { try $0.requestRunning(as: store.runID(2), of: store.id(1)).id } == store.id(1))
    try store.commit { try $0.succeed(store.id(1), run: store.runID(2), began: nil, outcome: .noop, message: "m", at: .ms(9)) }
    #expect(throws: StoreError.fenced) {
      try store.commit { try $0.succeed(store.id(1), run: store.runID(2), began: nil, outcome: .succeeded, message: nil, at: .ms(9)) }
    }
    let record = try store.known(1)
    #expect(
      record.state == .succeeded && record.run == nil && record.ended == .ms(9) && record.lastOutcome == .noop && record.lastMessage == "m")
  }

  @Test("a run comes back as it went in", arguments: StoreUnderTest.allCases)
  func roundTrip(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin))
    var full = run(2, of: 1, store)
    full.outcome = .expired
    full.attempt = 4
    full.report.stopReason = .budget
    full.report.forced = true
    full.report.message = "line\nwith \"quotes\" and a zero \0."
    full.report.output = [1, 0, 255]
    full.report.progress = RunProgress(completed: UInt64.max - 1, total: .max, unit: "bytes", message: "a \"quoted\" file")
    full.report.work = RunWork(itemsAttempted: .max, itemsCompleted: 1, itemsFailed: 2, bytesIn: .max, bytesOut: 3)
    full.report.cpuTime = .nanoseconds(123_456_789)
    full.report.handlerTime = .nanoseconds(987_654_321)
    full.report.log = LogLine.Level.allCases.map { LogLine(time: .ms(1), level: $0, message: "é \($0)") }
    full.report.log += LogLine.Stream.allCases.map { LogLine(time: .ms(2), level: .info, message: "printed", stream: $0) }
    let plain = run(3, of: 1, store)
    try store.commit { transaction in
      try transaction.append(full)
      try transaction.append(plain)
    }
    #expect(try store.run(full.id) == full)
    #expect(try store.run(plain.id) == plain)
    var listed = full
    (listed.report.output, listed.report.log) = ([], [])
    #expect(try store.runs(RunQuery()) == [plain, listed])
  }

  @Test("a listing of runs shows the newest first, by identifier and request", arguments: StoreUnderTest.allCases)
  func listing(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let other = TaskIdentifier.sample("org.example.other")
    try store.add(.sample(1, origin: store.origin), .sample(2, origin: store.origin, identifier: other))
    try store.commit { transaction in
      for (sequence, request) in [(3, 1), (4, 2), (5, 1)] as [(Int64, Int64)] {
        try transaction.append(run(sequence, of: request, store, identifier: request == 2 ? other : .sample()))
      }
    }
    func list(_ change: (inout RunQuery) -> Void) throws -> [Int64] {
      var query = RunQuery()
      change(&query)
      return try store.runs(query).map(\.id.sequence)
    }
    #expect(try list { _ in } == [5, 4, 3])
    #expect(try list { $0.limit = 1 } == [5])
    #expect(try list { $0.request = store.id(1) } == [5, 3])
    #expect(try list { $0.identifier = other } == [4])
    #expect(try list { $0.identifier = .sample("org.example.unknown") } == [])
    #expect(try list { $0.after = store.runID(5) } == [4, 3])
    #expect(try list { ($0.after, $0.limit) = (store.runID(5), 1) } == [4])
    #expect(try list { $0.outcomes = [.failed] } == [])
    #expect(try list { $0.outcomes = [.failed, .succeeded] } == [5, 4, 3])
    #expect(try list { $0.since = .ms(11) } == [])
    #expect(try list { ($0.since, $0.until) = (.ms(10), .ms(11)) } == [5, 4, 3])
    #expect(try list { $0.until = .ms(10) } == [])
  }

  @Test("old runs go, and requests whose time has come with them; live and younger ones stay", arguments: StoreUnderTest.allCases)
  func pruneByAge(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    func ended(_ sequence: Int64, _ at: WallTime) -> RequestRecord {
      var record = RequestRecord.sample(sequence, origin: store.origin, state: .cancelled, payload: [1])
      record.ended = at
      return record
    }
    // 3 was cancelled before it ever ran, before the first run that is left began, and just at the horizon.
    try store.add(ended(1, .ms(100)), ended(2, .ms(1100)), ended(3, .ms(1000)), .sample(4, origin: store.origin))
    try store.commit { transaction in
      try transaction.append(run(11, of: 1, store, ended: .ms(100)))
      try transaction.append(run(12, of: 2, store, ended: .ms(1100)))
    }
    #expect(try store.commit { try $0.prune(before: .ms(1000), keeping: 100, limit: 10) } == false)
    #expect(try store.requests(RequestQuery()).map(\.id.sequence) == [4, 3, 2])
    #expect(try store.runs(RunQuery()).map(\.id.sequence) == [12])
    #expect(try store.highestSequence() == 12, "an id is not used again")
    #expect(try store.commit { try $0.payload(of: store.id(1)) } == [])
    #expect(try store.commit { try $0.payload(of: store.id(2)) } == [1])
  }

  @Test("runs beyond the count go, the oldest first, a few at a time", arguments: StoreUnderTest.allCases)
  func pruneByCount(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.commit { transaction in
      for sequence in 1...50 as ClosedRange<Int64> {
        var record = RequestRecord.sample(sequence, origin: store.origin, state: .succeeded)
        record.ended = .ms(sequence * 100)
        try transaction.insert(record)
        try transaction.append(run(100 + sequence, of: sequence, store, ended: .ms(sequence * 100)))
      }
    }
    var rounds = 0
    while try store.commit({ try $0.prune(before: .ms(0), keeping: 20, limit: 8) }) { rounds += 1 }
    #expect(rounds >= 3)
    #expect(try store.runs(RunQuery()).map(\.id.sequence) == Array((131...150).reversed()))
    #expect(try store.requests(RequestQuery()).map(\.id.sequence) == Array((31...50).reversed()))
    _ = try store.commit { try $0.prune(before: .ms(1_000_000), keeping: 20, limit: 100) }
    #expect(try store.runs(RunQuery()).map(\.id.sequence) == [150], "the last one is never pruned")
    #expect(try store.requests(RequestQuery()).isEmpty)
  }
}
