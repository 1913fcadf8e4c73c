import StoreTestSupport
import TaskModel
import Testing

@Suite("A store changes states as the transition function says") struct TransitionConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  private static let events: [RequestEvent] =
    [.unblocked, .predecessorFailed, .unreadable, .claimed, .released, .started, .cancelled, .retried, .discarded, .redriven]
    + RunOutcome.allCases.map { .ended($0) }

  private static let guards = [true, false].flatMap { attempts in
    [true, false].map { RequestGuards(attemptsLeft: attempts, lossesLeft: attempts, repeating: $0) }
  }

  /// A request in a state, with counts that show what becomes of them.
  private static func record(_ sequence: Int64, _ state: RequestState, _ store: any RequestStore) -> RequestRecord {
    var record = RequestRecord.sample(sequence, origin: store.origin, state: state)
    (record.attemptsSpent, record.losses, record.started) = (2, 3, .ms(5))
    if state == .claimed || state == .running { record.run = store.runID(1000 + sequence) }
    if state == .blocked { record.blockedBy = store.id(1) }
    if state.isFinal { record.ended = .ms(6) }
    return record
  }

  private static func count(_ change: RequestTransition.Count, of value: Int) -> Int {
    switch change {
    case .keep: value
    case .add: value + 1
    case .reset: 0
    }
  }

  /// Makes changes in one commit, those that are refused taken back.
  private static func make<Change>(
    _ changes: [Change], in store: any RequestStore, _ body: (any StoreTransaction, Change) throws -> Void
  ) throws -> [Result<Void, any Error>] {
    try store.commit { transaction in
      changes.map { change in Result { try transaction.savepoint { try body(transaction, change) } } }
    }
  }

  @Test("every event leads every state where the function says, or nowhere", arguments: StoreUnderTest.allCases)
  func update(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    var pairs: [(before: RequestRecord, event: RequestEvent, guards: RequestGuards)] = []
    for state in RequestState.allCases {
      for event in Self.events {
        for guards in Self.guards { pairs.append((Self.record(Int64(pairs.count + 1), state, store), event, guards)) }
      }
    }
    try store.commit { transaction in for pair in pairs { try transaction.insert(pair.before) } }
    let results = try Self.make(pairs, in: store) { transaction, pair in
      guard var record = try transaction.request(pair.before.id) else { throw StoreError.fenced }
      try record.apply(pair.event, guards: pair.guards)
      try transaction.update(record)
    }
    for ((before, event, guards), result) in zip(pairs, results) {
      let after = try #require(try store.request(before.id))
      guard let expected = try? before.state.transition(on: event, guards: guards) else {
        #expect(throws: IllegalTransition(state: before.state, event: event)) { try result.get() }
        #expect(after == before, "\(before.state) \(event)")
        continue
      }
      try result.get()
      #expect(after.state == expected.state, "\(before.state) \(event)")
      #expect(after.attemptsSpent == Self.count(expected.attempts, of: 2), "\(before.state) \(event)")
      #expect(after.losses == Self.count(expected.losses, of: 3), "\(before.state) \(event)")
      #expect(after.run == (after.state == .running ? before.run : nil), "\(before.state) \(event)")
      #expect(after.blockedBy == nil, "\(before.state) \(event)")
    }
    try expectCounts(store)
  }

  /// The changes of the dispatch path that the function allows, with the events that each stands for.
  private static func changes(_ run: RunID) throws -> [(RequestChange, [RequestEvent])] {
    var changes: [(RequestChange, [RequestEvent])] = [(try .claimed(by: run), [.claimed])]
    for state in RequestState.allCases {
      if let change = try? RequestChange.started(run, from: state, at: .ms(7)) { changes.append((change, [.started])) }
    }
    for outcome in RunOutcome.allCases {
      for began in [nil, WallTime.ms(8)] {
        guard let change = try? RequestChange.ended(run, outcome, message: "m", began: began, at: .ms(9)) else { continue }
        changes.append((change, began == nil ? [.ended(outcome)] : [.started, .ended(outcome)]))
      }
    }
    return changes
  }

  @Test(
    "a change that reads no row is made in the state it starts from alone, by its run alone, and makes what the events make",
    arguments: StoreUnderTest.allCases)
  func apply(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    var tries: [(before: RequestRecord, run: RunID, change: RequestChange, events: [RequestEvent])] = []
    for state in RequestState.allCases {
      for position in try Self.changes(store.runID(1)).indices {
        for isItsRun in [true, false] {
          let before = Self.record(Int64(tries.count + 1), state, store)
          let run = isItsRun ? before.run ?? store.runID(6) : store.runID(5)
          let (change, events) = try Self.changes(run)[position]
          tries.append((before, run, change, events))
        }
      }
    }
    try store.commit { transaction in
      for each in tries {
        try transaction.insert(each.before)
        try transaction.setCheckpoint([1], of: each.before.id)
      }
    }
    let results = try Self.make(tries, in: store) { transaction, each in try transaction.apply(each.change, to: each.before.id) }
    var made = 0
    for ((before, run, change, events), result) in zip(tries, results) {
      let after = try #require(try store.request(before.id))
      guard change.from == before.state, change.expectedRun == nil || before.run == run else {
        #expect(throws: StoreError.fenced, "\(before.state) \(events)") { try result.get() }
        #expect(after == before, "\(before.state) \(events)")
        continue
      }
      try result.get()
      made += 1
      var expected = before
      for event in events { try expected.apply(event) }
      if !expected.state.isFinal { expected.run = run }
      if events.contains(.started) { expected.started = change.started }
      if change.ended != nil { (expected.ended, expected.lastOutcome, expected.lastMessage) = (.ms(9), change.outcome, "m") }
      #expect(after == expected, "\(before.state) \(events)")
      #expect(try store.checkpoint(of: before.id) == (after.state.isFinal ? nil : [1]))
    }
    // Claimed and started from pending, by any run; started from claimed, and four outcomes that end it for good from running and from
    // claimed, by its run.
    #expect(made == 2 * 2 + 1 + 4 * 2)
    #expect(throws: StoreError.fenced) { try store.commit { try $0.apply(.claimed(by: store.runID(1)), to: store.id(999_999)) } }
    try expectCounts(store)
  }

  /// What is counted while states change is what there is.
  private func expectCounts(_ store: any RequestStore) throws {
    var query = RequestQuery()
    query.limit = 100_000
    let there = Dictionary(grouping: try store.requests(query), by: \.state).mapValues(\.count)
    #expect(try store.counts() == there)
    let live = there.filter { !$0.key.isFinal }.values.reduce(0, +)
    #expect(try store.commit { try $0.liveCount(of: .sample()) } == live)
  }
}
