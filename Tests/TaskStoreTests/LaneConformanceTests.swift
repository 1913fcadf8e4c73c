import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps pending requests by what holds them") struct LaneConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  /// Gates that differ from each other in one thing each.
  private static let gates: [RunConstraints] = [
    .none, RunConstraints(conditions: .network), RunConstraints(conditions: [.network, .power]),
    RunConstraints(conditions: .network, onLostCondition: .finish), RunConstraints(window: "night"), RunConstraints(window: "day"),
    RunConstraints(concurrencyKey: "k"), RunConstraints(concurrencyKey: ""), RunConstraints(concurrencyKey: "a\"\\/\0ü"),
    RunConstraints(resources: ["gpu": 1]), RunConstraints(resources: ["gpu": 2]), RunConstraints(resources: ["gpu": 1, "licence": 1]),
    preferring("eu-west"), preferring("last_host"), preferring("last_host", last: "eu-west"),
    RunConstraints(flex: .milliseconds(1)), RunConstraints(flex: .seconds(900)),
    RunConstraints(
      conditions: .all, onLostCondition: .finish, window: "night", concurrencyKey: "k", resources: ["a": 1, "b": 2, "c": 3],
      flex: .seconds(1)),
  ]

  private static func preferring(_ hosts: String, last: String? = nil) -> RunConstraints {
    var gates = RunConstraints.none
    (gates.prefer, gates.lastHost) = (hosts, last)
    return gates
  }

  private static func record(_ sequence: Int64, _ store: any RequestStore, _ gates: RunConstraints, due: WallTime = .ms(0)) -> RequestRecord
  {
    var record = RequestRecord.sample(sequence, origin: store.origin, due: due)
    record.request.gates = gates
    return record
  }

  @Test("what is due in a lane is what has exactly its gates, also after the store was opened anew", arguments: StoreUnderTest.allCases)
  func apart(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    try store.commit { transaction in
      for (index, gates) in Self.gates.enumerated() {
        try transaction.insert(Self.record(Int64(index + 1), store, gates, due: .ms(Int64(index))))
      }
    }
    for _ in 0..<2 {
      for (index, gates) in Self.gates.enumerated() {
        #expect(try store.due(.sample(), gates, by: .ms(1000)) == [Int64(index + 1)])
        #expect(try store.due(.sample("org.example.other"), gates, by: .ms(1000)) == [])
        #expect(try store.commit { try $0.nextDue(in: Lane(.sample(), gates)) } == .ms(Int64(index)))
        #expect(try store.known(Int64(index + 1)).gates == gates)
      }
      #expect(try store.commit { try Set($0.lanesWithPending()) } == Set(Self.gates.map { Lane(.sample(), $0) }))
      store = try kind.reopen(store, in: directory.get())
    }
  }

  @Test("a request that is relaxed moves to the lane of what is left", arguments: StoreUnderTest.allCases)
  func relaxed(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let gates = RunConstraints(conditions: [.network, .idle], window: "night", concurrencyKey: "k", flex: .seconds(9))
    try store.add(Self.record(1, store, gates), Self.record(2, store, gates))
    var first = try store.known(1)
    first.isRelaxed = true
    try store.commit { try $0.update(first) }
    #expect(try store.due(.sample(), gates, by: .ms(0)) == [2])
    var left = RunConstraints(conditions: .network, concurrencyKey: "k")
    left.isPastDeadline = true
    #expect(try store.due(.sample(), left, by: .ms(0)) == [1])
    #expect(try store.known(1) == first)
    #expect(try store.known(1).request.gates == gates)
  }

  @Test("a lane is left with its last request and met again", arguments: StoreUnderTest.allCases)
  func emptied(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let lane = Lane(.sample(), RunConstraints(concurrencyKey: "k"))
    try store.add(Self.record(1, store, lane.gates))
    for round in 0..<3 as Range<Int64> {
      try store.commit { try $0.start(store.id(1), run: store.runID(10 + round), at: .ms(1)) }
      #expect(try store.commit { try $0.lanesWithPending() } == [])
      #expect(try store.commit { try $0.nextDue(in: lane) } == nil)
      var record = try store.known(1)
      record.place(in: .pending)
      record.run = nil
      try store.commit { try $0.update(record) }
      #expect(try store.commit { try $0.lanesWithPending() } == [lane])
    }
  }

  @Test("a lane first met in a savepoint or a transaction that was undone is met anew", arguments: StoreUnderTest.allCases)
  func undone(_ kind: StoreUnderTest) throws {
    struct Change: Error {}
    let store = try open(kind)
    let gates = (1...4).map { RunConstraints(concurrencyKey: "k\($0)") }
    try store.commit { transaction in
      try? transaction.savepoint {
        try transaction.insert(Self.record(1, store, gates[0]))
        throw Change()
      }
      try transaction.insert(Self.record(2, store, gates[1]))
      try transaction.insert(Self.record(3, store, gates[0]))
    }
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        try transaction.insert(Self.record(4, store, gates[2]))
        throw Change()
      }
    }
    try store.add(Self.record(5, store, gates[3]))
    #expect(try store.due(.sample(), gates[0], by: .ms(0)) == [3])
    #expect(try store.due(.sample(), gates[1], by: .ms(0)) == [2])
    #expect(try store.due(.sample(), gates[2], by: .ms(0)) == [])
    #expect(try store.due(.sample(), gates[3], by: .ms(0)) == [5])
  }

  @Test("what waits for an event is in its lane and never due", arguments: StoreUnderTest.allCases)
  func events(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin, due: .distantFuture), .sample(2, origin: store.origin, due: .distantFuture, priority: 5))
    #expect(try store.commit { try $0.lanesWithPending() } == [Lane(.sample())])
    #expect(try store.commit { try $0.nextDue(in: Lane(.sample())) } == nil)
    #expect(try store.due(by: .ms(1_000_000)) == [])
    #expect(try store.commit { try $0.firstPending(of: .sample()) } != nil)
    try store.add(.sample(3, origin: store.origin, due: .ms(4), priority: -3))
    #expect(try store.commit { try $0.nextDue(in: Lane(.sample())) } == .ms(4))
    #expect(try store.commit { try $0.firstPending(of: .sample())?.id } == store.id(3))
  }

  @Test("the first pending request of an identifier is found in whichever lane it waits", arguments: StoreUnderTest.allCases)
  func firstOfAll(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    for (index, gates) in Self.gates.enumerated() {
      try store.add(Self.record(Int64(index + 1), store, gates, due: .ms(Int64(100 - index))))
      #expect(try store.commit { try $0.firstPending(of: .sample())?.id } == store.id(Int64(index + 1)))
    }
  }
}
