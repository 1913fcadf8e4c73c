import StoreTestSupport
import TaskModel
import Testing

@Suite("A store remembers schedules") struct ScheduleConformanceTests {
  private let directory = Result { try TemporaryDirectory() }
  private static let nightly = TaskIdentifier.sample("org.example.nightly")

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  /// Adds a run that began at `at` and took no time.
  private static func run(
    _ sequence: Int64, of request: Int64, _ outcome: RunOutcome, at: Int64, _ store: any RequestStore,
    _ identifier: TaskIdentifier = .sample()
  ) throws {
    try store.commit { transaction in
      try transaction.append(
        RunRecord(
          id: store.runID(sequence), request: store.id(request), identifier: identifier, attempt: 1, started: .ms(at), ended: .ms(at),
          outcome: outcome))
    }
  }

  private static func ended(_ sequence: Int64, _ state: RequestState, key: String? = nil, _ store: any RequestStore) -> RequestRecord {
    var record = RequestRecord.sample(sequence, origin: store.origin, state: state, key: key)
    record.ended = .ms(0)
    return record
  }

  @Test("failures are counted since the last success, per key, per repeating request and for the rest", arguments: StoreUnderTest.allCases)
  func failures(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    defer { store.close() }
    try store.add(
      .sample(1, origin: store.origin, key: "k"), .sample(2, origin: store.origin, identifier: Self.nightly, every: .seconds(60)),
      .sample(3, origin: store.origin), .sample(4, origin: store.origin, identifier: Self.nightly, key: "e", every: .seconds(60)))
    try Self.run(11, of: 1, .succeeded, at: 10, store)
    try Self.run(12, of: 1, .failed, at: 20, store)
    // What says nothing of the handler's work neither counts nor ends the row.
    for (number, outcome) in [RunOutcome.snoozed, .cancelled, .stopped, .lost].enumerated() {
      try Self.run(13 + Int64(number), of: 1, outcome, at: 30, store)
    }
    for (number, outcome) in [RunOutcome.retried, .expired, .crashed].enumerated() {
      try Self.run(20 + Int64(number), of: 1, outcome, at: 40, store)
    }
    try Self.run(30, of: 2, .failed, at: 50, store, Self.nightly)
    try Self.run(31, of: 3, .failed, at: 60, store)
    try Self.run(32, of: 3, .noop, at: 70, store)
    let schedules = try store.schedules(limit: 100, onlyFailing: false)
    #expect(schedules.map(\.identifier) == [Self.nightly, Self.nightly, .sample(), .sample()])
    #expect(schedules.map(\.key) == ["e", nil, "k", nil])
    #expect(schedules.map(\.request?.id.sequence) == [4, 2, 1, nil])
    #expect(schedules.map(\.failures) == [0, 1, 4, 0])
    #expect(schedules.map(\.failingSince) == [nil, .ms(50), .ms(20), nil])
    #expect(schedules.map(\.lastSuccess) == [nil, nil, .ms(10), .ms(70)])
    #expect(schedules.map(\.lastRun?.id.sequence) == [nil, 30, 22, 32])
    #expect(try store.schedules(limit: 2, onlyFailing: false).contains { $0.failures == 4 }, "those that fail first")
    #expect(schedules.map(\.isFailing) == [false, true, true, false])
  }

  @Test("the last run and the last success of each outlive the history, and go when they are neither", arguments: StoreUnderTest.allCases)
  func neverPruned(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    defer { store.close() }
    try store.add(Self.ended(1, .succeeded, key: "k", store), Self.ended(2, .succeeded, store))
    try Self.run(11, of: 1, .succeeded, at: 1, store)
    try Self.run(12, of: 1, .failed, at: 2, store)
    try Self.run(13, of: 1, .failed, at: 3, store)
    for number in 20..<60 as Range<Int64> { try Self.run(number, of: 2, .succeeded, at: 1000 + number, store) }
    func prune(_ horizon: Int64, keeping count: Int) throws {
      while try store.commit({ try $0.prune(before: .ms(horizon), keeping: count, limit: 7) }) {}
    }
    func runs() throws -> [Int64] { try store.runs(RunQuery()).map(\.id.sequence) }
    try prune(0, keeping: 3)
    #expect(try runs() == [59, 58, 57, 13, 11])
    try prune(1_000_000, keeping: 3)
    #expect(try runs() == [59, 13, 11])
    store = try kind.reopen(store, in: directory.get())
    try prune(1_000_000, keeping: 3)
    #expect(try runs() == [59, 13, 11])
    // Its request is gone by now, and is submitted again under its key.
    try store.add(.sample(70, origin: store.origin, key: "k"))
    try Self.run(71, of: 70, .failed, at: 2_000_000, store)
    #expect(try runs() == [71, 59, 11], "13 is not the last one any more")
    try Self.run(72, of: 70, .succeeded, at: 2_000_001, store)
    #expect(try runs() == [72, 71, 59])
    let known = try #require(try store.schedules(limit: 10, onlyFailing: false).first { $0.key == "k" })
    #expect((known.failures, known.lastSuccess, known.lastRun?.id.sequence) == (0, .ms(2_000_001), 72))
    #expect(try store.lastRuns().mapValues(\.id.sequence) == [.sample(): 72])
  }

  @Test("of the unique keys that no request has any more, a thousand are remembered", arguments: StoreUnderTest.allCases)
  func spareKeys(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    defer { store.close() }
    let many = Int64(ScheduleRecord.keysKept) + 10
    let (live, letter, first) = (many + 1, many + 2, many + 100)
    try store.commit { transaction in
      for number in 1...many { try transaction.insert(Self.ended(number, .succeeded, key: "order \(number)", store)) }
      // The keys of the first two are in use: one has a live request, the other a dead letter that ran last.
      try transaction.insert(.sample(live, origin: store.origin, key: "order 1"))
      try transaction.insert(Self.ended(letter, .failed, key: "order 2", store))
      for number in 1...many {
        try transaction.append(
          RunRecord(
            id: store.runID(first + number), request: store.id(number), identifier: .sample(), attempt: 1, started: .ms(number),
            ended: .ms(number), outcome: .succeeded))
      }
      try transaction.append(
        RunRecord(
          id: store.runID(first + many + 1), request: store.id(letter), identifier: .sample(), attempt: 1, started: .ms(many),
          ended: .ms(many), outcome: .failed))
    }
    while try store.commit({ try $0.prune(before: .ms(1_000_000), keeping: 0, limit: 300) }) {}
    let keys = Set(try store.schedules(limit: 5000, onlyFailing: false).compactMap(\.key))
    #expect(keys.count == ScheduleRecord.keysKept)
    #expect(keys.isSuperset(of: ["order 1", "order 2", "order \(many)"]) && !keys.contains("order 3"))
    var history = RunQuery()
    history.limit = 5000
    // 1,000 keys with a success each, and the failure of the dead letter.
    #expect(try store.runs(history).count == ScheduleRecord.keysKept + 1)
  }

  @Test("a dead letter stays until it is none any more, whatever the limits are", arguments: StoreUnderTest.allCases)
  func deadLetters(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    defer { store.close() }
    try store.add(Self.ended(1, .failed, store), Self.ended(2, .cancelled, store), Self.ended(3, .failed, store))
    _ = try store.commit { try $0.prune(before: .ms(1_000_000), keeping: 1, limit: 100) }
    #expect(try store.requests(RequestQuery()).map(\.id.sequence) == [3, 1])
    #expect(try store.deadLetters() == [DeadLetters(identifier: .sample(), count: 2, oldest: .ms(0))])
    var discarded = try store.known(1)
    discarded.place(in: .cancelled)
    try store.commit { try $0.update(discarded) }
    _ = try store.commit { try $0.prune(before: .ms(1_000_000), keeping: 1, limit: 100) }
    #expect(try store.requests(RequestQuery()).map(\.id.sequence) == [3])
  }

  @Test("what has been due longest is found in each lane", arguments: StoreUnderTest.allCases)
  func overdue(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    defer { store.close() }
    try store.add(
      .sample(1, origin: store.origin, due: .ms(50)), .sample(2, origin: store.origin, due: .ms(40), priority: -3),
      .sample(3, origin: store.origin, identifier: Self.nightly, due: .ms(30)),
      .sample(4, origin: store.origin, identifier: Self.nightly, due: .ms(200)))
    #expect(try store.overdue(by: .ms(100)).map(\.id.sequence) == [3, 2])
    #expect(try store.overdue(by: .ms(29)).isEmpty)
  }

  @Test("listings go on behind a cursor, over every index", arguments: StoreUnderTest.allCases)
  func cursor(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    defer { store.close() }
    try store.commit { transaction in
      for number in 1...30 as ClosedRange<Int64> {
        let state: RequestState = number.isMultiple(of: 10) ? .failed : .pending
        try transaction.insert(.sample(number, origin: store.origin, state: state, tags: number.isMultiple(of: 2) ? ["t"] : []))
      }
    }
    func list(_ states: [RequestState], tag: String? = nil) throws -> [Int64] {
      var query = RequestQuery()
      (query.states, query.tag, query.limit) = (states, tag, 2)
      var all: [Int64] = []
      while true {
        let page = try store.requests(query)
        all += page.map(\.id.sequence)
        guard page.count == 2 else { return all }
        query.after = page.last?.id
      }
    }
    #expect(try list([]) == (1...30).reversed())
    #expect(try list([.failed]) == [30, 20, 10])
    #expect(try list([.pending], tag: "t") == (1...30).reversed().filter { $0.isMultiple(of: 2) && !$0.isMultiple(of: 10) })
  }
}
