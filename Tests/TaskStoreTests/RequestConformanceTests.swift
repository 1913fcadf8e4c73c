import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps requests") struct RequestConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  @Test("a request comes back as it went in, also after the store was opened anew", arguments: StoreUnderTest.allCases)
  func roundTrip(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    var record = RequestRecord.sample(
      10, origin: store.origin, due: .ms(5), priority: -10, key: "a\0b\u{1F600}'\"", payload: [0, 255, 1], tags: ["x", "ü\u{0}"],
      every: .seconds(900))
    record.request.earliestBegin = .ms(5)
    record.request.conditions = .all
    record.request.retry = RetryPolicy(attempts: 3, backoff: .linear, initial: .milliseconds(1500), maximum: .milliseconds(Int64.max))
    record.attemptsSpent = 2
    record.losses = 1
    record.lastOutcome = .crashed
    record.lastMessage = ""
    record.started = .ms(1)
    try store.add(record)
    #expect(try store.known(10) == record)
    store = try kind.reopen(store, in: directory.get())
    #expect(try store.known(10) == record)
    #expect(try store.commit { try $0.payload(of: record.id) } == [0, 255, 1])
    #expect(try store.commit { try $0.request(record.id)?.request.payload } == [])
  }

  @Test("every state, outcome, stop reason, policy and backoff can be kept", arguments: StoreUnderTest.allCases)
  func allCases(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    var sequence: Int64 = 0
    var records: [RequestRecord] = []
    func add(_ change: (inout RequestRecord) -> Void) {
      sequence += 1
      var record = RequestRecord.sample(sequence, origin: store.origin)
      change(&record)
      records.append(record)
    }
    for state in RequestState.allCases { add { $0.place(in: state) } }
    for outcome in RunOutcome.allCases { add { $0.lastOutcome = outcome } }
    for reason in StopReason.allCases { add { $0.stopRequested = reason } }
    for policy in ConflictPolicy.allCases { add { $0.request.onConflict = policy } }
    for backoff in RetryPolicy.Backoff.allCases { add { $0.request.retry = RetryPolicy(backoff: backoff) } }
    try store.commit { transaction in for record in records { try transaction.insert(record) } }
    for record in records { #expect(try store.request(record.id) == record) }
    #expect(try store.highestSequence() == sequence)
    #expect(try store.counts()[.pending] == records.filter { $0.state == .pending }.count)
  }

  @Test("a transaction that throws leaves nothing behind", arguments: StoreUnderTest.allCases)
  func rollback(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    #expect(throws: StoreError.limit("enough")) {
      try store.commit { transaction in
        try transaction.insert(.sample(1, origin: store.origin))
        throw StoreError.limit("enough")
      }
    }
    #expect(try store.request(store.id(1)) == nil)
    #expect(try store.counts().isEmpty)
    try store.add(.sample(1, origin: store.origin))
    #expect(try store.known(1).state == .pending)
  }

  private struct Change: Error {}

  @Test("a savepoint that throws undoes its own part only", arguments: StoreUnderTest.allCases)
  func savepoint(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.commit { transaction in
      try transaction.insert(.sample(1, origin: store.origin))
      #expect(throws: Change.self) {
        try transaction.savepoint {
          try transaction.insert(.sample(2, origin: store.origin))
          throw Change()
        }
      }
      #expect(
        try transaction.savepoint { () throws -> Int in
          try transaction.insert(.sample(3, origin: store.origin))
          return 7
        } == 7)
      #expect(try transaction.request(store.id(2)) == nil)
    }
    #expect(try store.requests(RequestQuery()).map(\.id.sequence) == [3, 1])
  }

  @Test("so does one before which nothing was changed, and what comes after it stays", arguments: StoreUnderTest.allCases)
  func firstSavepoint(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin))
    try store.commit { transaction in
      try? transaction.savepoint {
        try transaction.insert(.sample(2, origin: store.origin))
        throw Change()
      }
      #expect(try transaction.request(store.id(2)) == nil)
      try? transaction.savepoint {
        try transaction.insert(.sample(3, origin: store.origin))
        throw Change()
      }
      try transaction.savepoint { try transaction.insert(.sample(4, origin: store.origin)) }
    }
    #expect(try store.requests(RequestQuery()).map(\.id.sequence) == [4, 1])
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        try transaction.savepoint { try transaction.insert(.sample(5, origin: store.origin)) }
        throw Change()
      }
    }
    try store.commit { transaction in
      try? transaction.savepoint {
        try transaction.insert(.sample(6, origin: store.origin))
        throw Change()
      }
    }
    #expect(try store.requests(RequestQuery()).map(\.id.sequence) == [4, 1])
    #expect(try store.counts() == [.pending: 2])
  }

  @Test("an identifier first met in a savepoint that was undone is met anew", arguments: StoreUnderTest.allCases)
  func identifiersForgotten(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let (first, second) = (TaskIdentifier.sample("org.example.first"), TaskIdentifier.sample("org.example.second"))
    try store.commit { transaction in
      try? transaction.savepoint {
        try transaction.insert(.sample(1, origin: store.origin, identifier: first))
        throw Change()
      }
      try transaction.insert(.sample(2, origin: store.origin, identifier: second))
      try transaction.insert(.sample(3, origin: store.origin, identifier: first))
    }
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        try transaction.insert(.sample(4, origin: store.origin, identifier: .sample("org.example.third")))
        throw Change()
      }
    }
    try store.add(.sample(5, origin: store.origin, identifier: .sample("org.example.fourth")))
    #expect(try store.known(2).request.identifier == second)
    #expect(try store.known(3).request.identifier == first)
    #expect(try store.known(5).request.identifier == .sample("org.example.fourth"))
    #expect(try store.due(first, by: .ms(0)) == [3])
    #expect(try store.due(.sample("org.example.third"), by: .ms(0)) == [])
  }

  @Test("one live request holds a key of its identifier; an ended one gives it back", arguments: StoreUnderTest.allCases)
  func uniqueKeys(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(
      .sample(1, origin: store.origin, key: "k"), .sample(2, origin: store.origin, identifier: .sample("org.example.other"), key: "k"),
      .sample(3, origin: store.origin, state: .succeeded, key: "k"))
    for state in [RequestState.blocked, .pending, .claimed, .running] {
      #expect(throws: StoreError.self) { try store.add(.sample(4, origin: store.origin, state: state, key: "k")) }
    }
    #expect(try store.commit { try $0.holder(of: "k", identifier: .sample())?.id } == store.id(1))
    var first = try store.known(1)
    first.place(in: .cancelled)
    first.ended = .ms(1)
    try store.commit { try $0.update(first) }
    #expect(try store.commit { try $0.holder(of: "k", identifier: .sample()) } == nil)
    try store.add(.sample(4, origin: store.origin, state: .blocked, key: "k"))
    #expect(try store.commit { try $0.holder(of: "k", identifier: .sample())?.id } == store.id(4))
    let keys = ["config:a", "config:b%", "config", "Config:c", "k2"]
    try store.commit { transaction in
      for (index, key) in keys.enumerated() { try transaction.insert(.sample(Int64(10 + index), origin: store.origin, key: key)) }
    }
    #expect(
      try store.commit { try $0.holders(ofKeysBeginningWith: "config:").compactMap(\.request.uniqueKey).sorted() } == [
        "config:a", "config:b%",
      ])
  }

  @Test("an update of a request that is not there is an error", arguments: StoreUnderTest.allCases)
  func updateOfNothing(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    #expect(throws: StoreError.self) { try store.commit { try $0.update(.sample(1, origin: store.origin)) } }
  }

  @Test(
    "blocked requests are found by whom they wait for, and count as live like pending and running ones", arguments: StoreUnderTest.allCases)
  func blocked(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(
      .sample(1, origin: store.origin, state: .running), .sample(2, origin: store.origin, state: .blocked, blockedBy: store.id(1)),
      .sample(3, origin: store.origin, state: .blocked, blockedBy: store.id(9)), .sample(4, origin: store.origin),
      .sample(5, origin: store.origin, state: .failed), .sample(6, origin: store.origin, identifier: .sample("org.example.other")))
    try store.commit { transaction throws in
      try transaction.insert([DependencyRecord(predecessor: store.id(1), onFailure: .fail)], of: store.id(2))
      try transaction.insert([DependencyRecord(predecessor: store.id(9), onFailure: .ignore)], of: store.id(3))
      #expect(try transaction.awaitedPredecessors() == [store.id(1), store.id(9)])
      #expect(try transaction.settleEdges(from: store.id(1), ended: .succeeded, output: [7]) == [store.id(2)])
      #expect(try transaction.settleEdges(from: store.id(1), ended: .succeeded, output: []).isEmpty)
      #expect(
        try transaction.edges(of: store.id(2))
          == [DependencyRecord(predecessor: store.id(1), onFailure: .fail, ended: .succeeded, output: [7])])
      #expect(try transaction.liveCount(of: .sample()) == 4)
      #expect(try transaction.liveCount(of: .sample("org.example.unknown")) == 0)
      #expect(try transaction.running().map(\.id) == [store.id(1)])
      #expect(try Set(transaction.lanesWithPending()) == [Lane(.sample()), Lane(.sample("org.example.other"))])
    }
  }

  @Test("ids of another store are nobody's", arguments: StoreUnderTest.allCases)
  func foreignIDs(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin))
    let foreign = RequestID(sequence: 1, origin: store.origin ^ 1)
    #expect(try store.request(foreign) == nil)
    #expect(try store.commit { try $0.request(foreign) } == nil)
    #expect(try store.run(RunID(sequence: 1, origin: store.origin ^ 1)) == nil)
  }

  @Test("a listing shows the newest first, by identifier, state and tag, up to its limit", arguments: StoreUnderTest.allCases)
  func listing(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let other = TaskIdentifier.sample("org.example.other")
    try store.add(
      .sample(1, origin: store.origin, tags: ["a", "b"]), .sample(2, origin: store.origin, state: .failed, tags: ["ab"]),
      .sample(3, origin: store.origin, identifier: other, tags: ["b"]), .sample(4, origin: store.origin, state: .running))
    func list(_ change: (inout RequestQuery) -> Void) throws -> [Int64] {
      var query = RequestQuery()
      change(&query)
      return try store.requests(query).map(\.id.sequence)
    }
    #expect(try list { _ in } == [4, 3, 2, 1])
    #expect(try list { $0.limit = 2 } == [4, 3])
    #expect(try list { $0.limit = 0 } == [4])
    #expect(try list { $0.identifier = other } == [3])
    #expect(try list { $0.identifier = .sample("org.example.unknown") } == [])
    #expect(try list { $0.states = [.failed, .running] } == [4, 2])
    #expect(try list { $0.tag = "b" } == [3, 1])
    #expect(try list { $0.tag = "\"b\"" } == [])
    #expect(try list { ($0.tag, $0.states, $0.identifier) = ("a", [.pending], .sample()) } == [1])
  }
}
