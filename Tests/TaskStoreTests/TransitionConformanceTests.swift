import StoreTestSupport
import TaskModel
import Testing

@Suite("A store changes states as the transition function says") struct TransitionConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  private static let events: [RequestEvent] =
    [.unblocked, .predecessorFailed, .claimed, .released, .started, .cancelled, .retried, .discarded, .redriven]
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

  @Test("every event leads every state where the function says, or nowhere", arguments: StoreUnderTest.allCases)
  func update(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    var sequence: Int64 = 0
    for state in RequestState.allCases {
      for event in Self.events {
        for guards in Self.guards {
          sequence += 1
          let id = store.id(sequence)
          let before = Self.record(sequence, state, store)
          try store.add(before)
          let expected = try? state.transition(on: event, guards: guards)
          let result = Result {
            try store.commit { transaction in
              guard var record = try transaction.request(id) else { throw StoreError.fenced }
              try record.apply(event, guards: guards)
              try transaction.update(record)
            }
          }
          let after = try #require(try store.request(id))
          guard let expected else {
            #expect(throws: StoreError.self) { try result.get() }
            #expect(after == before, "\(state) \(event)")
            continue
          }
          try result.get()
          #expect(after.state == expected.state, "\(state) \(event)")
          #expect(after.attemptsSpent == Self.count(expected.attempts, of: 2), "\(state) \(event)")
          #expect(after.losses == Self.count(expected.losses, of: 3), "\(state) \(event)")
          #expect((after.run != nil) == (after.state == .running && before.run != nil), "\(state) \(event)")
          #expect(after.blockedBy == nil, "\(state) \(event)")
        }
      }
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
    var sequence: Int64 = 0
    var made = 0
    for state in RequestState.allCases {
      // Of a claimed or running request, the run is `1000 + sequence`.
      for position in try Self.changes(store.runID(1)).indices {
        for isItsRun in [true, false] {
          sequence += 1
          let id = store.id(sequence)
          let before = Self.record(sequence, state, store)
          try store.add(before)
          try store.commit { try $0.setCheckpoint([1], of: id) }
          let run = store.runID(isItsRun ? 1000 + sequence : 5)
          let (change, events) = try Self.changes(run)[position]
          let fits = change.from == state && (isItsRun || change.expectedRun == nil)
          let result = Result { try store.commit { try $0.apply(change, to: id) } }
          let after = try #require(try store.request(id))
          guard fits else {
            #expect(throws: StoreError.fenced, "\(state) \(events)") { try result.get() }
            #expect(after == before, "\(state) \(events)")
            continue
          }
          try result.get()
          made += 1
          var expected = before
          for event in events { try expected.apply(event) }
          if !expected.state.isFinal { expected.run = run }
          if events.contains(.started) { expected.started = change.started }
          if let end = change.end { (expected.ended, expected.lastOutcome, expected.lastMessage) = (end.time, end.outcome, "m") }
          #expect(after == expected, "\(state) \(events)")
          #expect(try store.checkpoint(of: id) == (after.state.isFinal ? nil : [1]))
        }
      }
    }
    // Claimed and started from pending by any run; started from claimed, and four outcomes that are final from running and claimed, by theirs.
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
