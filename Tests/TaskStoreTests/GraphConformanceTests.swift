import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps graphs, keys and events") struct GraphConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  @Test("edges come back in their order, settled one predecessor at a time, with its output", arguments: StoreUnderTest.allCases)
  func edges(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    for sequence in 1...5 as ClosedRange<Int64> { try store.add(.sample(sequence, origin: store.origin, state: .blocked)) }
    func edge(_ predecessor: Int64, _ policy: Dependency.FailurePolicy = .fail) -> DependencyRecord {
      DependencyRecord(predecessor: store.id(predecessor), onFailure: policy)
    }
    try store.commit { transaction in
      try transaction.insert([edge(3), edge(1, .ignore)], of: store.id(4))
      try transaction.insert([edge(2)], of: store.id(4))
      try transaction.insert([edge(1)], of: store.id(5))
    }
    store = try kind.reopen(store, in: directory.get())
    #expect(try store.commit { try $0.edges(of: store.id(4)) } == [edge(3), edge(1, .ignore), edge(2)])
    #expect(try store.commit { try $0.edges(of: store.id(1)) } == [])
    #expect(try store.commit { try $0.awaitedPredecessors() } == [store.id(1), store.id(2), store.id(3)])
    #expect(
      try store.commit { try $0.settleEdges(from: store.id(1), ended: .failed, output: [0, 255]) } == [store.id(4), store.id(5)])
    #expect(try store.commit { try $0.failedDependants(of: store.id(1)) } == [store.id(4), store.id(5)])
    #expect(try store.commit { try $0.failedDependants(of: store.id(2)) } == [])
    #expect(try store.commit { try $0.settleEdges(from: store.id(1), ended: .succeeded, output: []) } == [])
    #expect(try store.commit { try $0.awaitedPredecessors() } == [store.id(2), store.id(3)])
    var settled = edge(1, .ignore)
    (settled.ended, settled.output) = (.failed, [0, 255])
    #expect(try store.commit { try $0.edges(of: store.id(4)) } == [edge(3), settled, edge(2)])
    // Added again, open, they are waited for again, in their order.
    try store.commit { try $0.insert([edge(3), edge(1, .ignore), edge(2)], of: store.id(4)) }
    #expect(try store.commit { try $0.edges(of: store.id(4)) } == [edge(3), edge(1, .ignore), edge(2)])
    #expect(try store.commit { try $0.failedDependants(of: store.id(1)) } == [store.id(5)])
    #expect(try store.commit { try $0.awaitedPredecessors() } == [store.id(1), store.id(2), store.id(3)])
  }

  @Test("of two edges to the same predecessor the last one stays", arguments: StoreUnderTest.allCases)
  func doubleEdge(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let (first, second) = (
      DependencyRecord(predecessor: store.id(1), onFailure: .fail), DependencyRecord(predecessor: store.id(1), onFailure: .ignore)
    )
    try store.commit { transaction in
      try transaction.insert([first], of: store.id(2))
      try transaction.insert([second], of: store.id(2))
    }
    #expect(try store.commit { try $0.edges(of: store.id(2)) } == [second])
  }

  @Test(
    "the answer to a submission is known by its idempotency key, and pruned with the records of its time",
    arguments: StoreUnderTest.allCases)
  func idempotency(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    let origin = store.origin
    func answer(_ sequence: Int64, _ disposition: Disposition, _ at: Int64) -> KnownSubmission {
      KnownSubmission(
        fingerprint: .max - UInt64(sequence), request: RequestID(sequence: sequence, origin: origin), disposition: disposition,
        submitted: .ms(at))
    }
    for (index, disposition) in Disposition.allCases.enumerated() {
      let sequence = Int64(index)
      try store.commit { try $0.remember(answer(sequence, disposition, sequence * 100), key: "key \(index)", by: nil) }
    }
    store = try kind.reopen(store, in: directory.get())
    for (index, disposition) in Disposition.allCases.enumerated() {
      #expect(
        try store.commit { try $0.submission(withKey: "key \(index)", by: nil) } == answer(Int64(index), disposition, Int64(index) * 100))
    }
    #expect(try store.commit { try $0.submission(withKey: "KEY 0", by: nil) } == nil)
    try store.commit { try $0.remember(answer(9, .kept, 900), key: "key 0", by: nil) }
    #expect(try store.commit { try $0.submission(withKey: "key 0", by: nil) } == answer(9, .kept, 900))
    _ = try store.commit { try $0.prune(before: .ms(250), keeping: 10, limit: 10) }
    #expect(try store.commit { try $0.submission(withKey: "key 0", by: nil) } != nil)
    #expect(try store.commit { try $0.submission(withKey: "key 1", by: nil) } == nil)
    #expect(try store.commit { try $0.submission(withKey: "key 2", by: nil) } == nil)
    #expect(try store.commit { try $0.submission(withKey: "key 3", by: nil) } != nil)
    // One whose request is still there is known, however long ago it was.
    try store.add(.sample(3, origin: origin))
    _ = try store.commit { try $0.prune(before: .ms(100_000), keeping: 10, limit: 10) }
    #expect(try store.commit { try $0.submission(withKey: "key 3", by: nil) } != nil)
    #expect(try store.commit { try $0.submission(withKey: "key 0", by: nil) } == nil)
  }

  @Test(
    "each plugin has idempotency keys of its own, and so have the clients together; those of a plugin are counted",
    arguments: StoreUnderTest.allCases)
  func submitters(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    let submitters: [TaskIdentifier?] = [nil, .sample("a"), .sample("b")]
    for (index, submitter) in submitters.enumerated() {
      let known = KnownSubmission(fingerprint: 1, request: store.id(Int64(index)), disposition: .created, submitted: .ms(1))
      try store.commit { transaction in
        for key in ["k", "l"] where !(index == 2 && key == "l") { try transaction.remember(known, key: key, by: submitter) }
      }
    }
    store = try kind.reopen(store, in: directory.get())
    try store.commit { transaction in
      #expect(try submitters.map { try transaction.submission(withKey: "k", by: $0)?.request.sequence } == [0, 1, 2])
      #expect(try submitters.map { try transaction.submission(withKey: "l", by: $0)?.request.sequence } == [0, 1, nil])
      #expect(try ["a", "b", "c"].map { try transaction.submissionCount(by: .sample($0)) } == [2, 1, 0])
      _ = try transaction.prune(before: .ms(2), keeping: 10, limit: 3)
    }
    #expect(try store.commit { try $0.submissionCount(by: .sample("a")) + $0.submissionCount(by: .sample("b")) } < 3)
  }

  @Test("the unique windows of an identifier are counted, and those that are over forgotten", arguments: StoreUnderTest.allCases)
  func windowCounts(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.commit { transaction in
      for number in 1...5 {
        try transaction.hold("\(number)", identifier: .sample("a"), for: store.id(Int64(number)), until: .ms(Int64(number) * 10))
      }
      try transaction.hold("1", identifier: .sample("b"), for: store.id(6), until: .ms(10))
      #expect(try transaction.windowCount(of: .sample("a"), now: .ms(0)) == 5)
      #expect(try transaction.windowCount(of: .sample("a"), now: .ms(20)) == 3)
      #expect(try transaction.windowHolder(of: "2", identifier: .sample("a"), now: .ms(0)) == nil)
      #expect(try transaction.windowHolder(of: "3", identifier: .sample("a"), now: .ms(0)) == store.id(3))
      #expect(try transaction.windowCount(of: .sample("b"), now: .ms(0)) == 1)
      #expect(try transaction.windowCount(of: .sample("c"), now: .ms(0)) == 0)
    }
  }

  @Test("who waits for a request, and what its last run gave out, is found", arguments: StoreUnderTest.allCases)
  func outputs(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(
      .sample(1, origin: store.origin), .sample(2, origin: store.origin, state: .blocked), .sample(3, origin: store.origin, state: .blocked)
    )
    func run(_ sequence: Int64, of request: Int64, output: [UInt8]) -> RunRecord {
      var run = RunRecord(
        id: store.runID(sequence), request: store.id(request), identifier: .sample(), attempt: 1, started: .ms(1), ended: .ms(2),
        outcome: .succeeded)
      run.report.output = output
      return run
    }
    try store.commit { transaction throws in
      let edge = DependencyRecord(predecessor: store.id(1), onFailure: .fail)
      try transaction.insert([edge], of: store.id(3))
      try transaction.insert([edge, DependencyRecord(predecessor: store.id(9), onFailure: .ignore)], of: store.id(2))
      #expect(try transaction.dependants(of: store.id(1)) == [store.id(2), store.id(3)])
      #expect(try transaction.dependants(of: store.id(2)) == [])
      #expect(try transaction.output(of: store.id(1)) == nil)
      for (sequence, output) in [(10, [1, 2]), (12, [0]), (11, [])] as [(Int64, [UInt8])] {
        try transaction.append(run(sequence, of: 1, output: output))
      }
      try transaction.append(run(13, of: 2, output: []))
      #expect(try transaction.output(of: store.id(1)) == [0])
      #expect(try transaction.output(of: store.id(2)) == [])
      #expect(try transaction.output(of: store.id(3)) == nil)
      _ = try transaction.settleEdges(from: store.id(1), ended: .succeeded, output: [])
      #expect(try transaction.dependants(of: store.id(1)) == [])
    }
    #expect(try store.edges(of: store.id(2)).map(\.ended) == [.succeeded, nil])
    #expect(try store.edges(of: store.id(1)) == [])
  }

  @Test("live requests are found by their tag, a few at a time, and dead letters by their identifier", arguments: StoreUnderTest.allCases)
  func tags(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let other = TaskIdentifier.sample("org.example.other")
    try store.add(
      .sample(1, origin: store.origin, tags: ["a", "b"]), .sample(2, origin: store.origin, state: .failed, tags: ["a"]),
      .sample(3, origin: store.origin, identifier: other, state: .running, tags: ["a"]),
      .sample(4, origin: store.origin, state: .blocked, tags: ["a"]), .sample(5, origin: store.origin, tags: ["A", "\u{e9}"]),
      .sample(6, origin: store.origin, identifier: other, state: .failed))
    func live(_ tag: String, _ identifier: TaskIdentifier? = nil, after: Int64? = nil, limit: Int = 10) throws -> [Int64] {
      try store.commit { transaction in
        try transaction.live(tagged: tag, identifier: identifier, after: after.map { store.id($0) }, limit: limit).map(\.sequence)
      }
    }
    #expect(try live("a") == [1, 3, 4])
    #expect(try live("a", .sample()) == [1, 4])
    #expect(try live("a", .sample("org.example.unknown")) == [])
    #expect(try live("a", limit: 2) == [1, 3])
    #expect(try live("a", after: 3) == [4])
    #expect(try live("e\u{301}") == [])
    var first = try store.known(1)
    first.place(in: .failed)
    first.ended = .ms(1)
    try store.commit { try $0.update(first) }
    #expect(try live("a") == [3, 4])
    var fifth = try store.known(5)
    fifth.request.tags = ["a"]
    try store.commit { try $0.rewrite(fifth) }
    #expect(try live("a") == [3, 4, 5])
    #expect(try live("A") == [])
    #expect(try store.commit { try $0.failed(of: nil).map(\.sequence) } == [1, 2, 6])
    #expect(try store.commit { try $0.failed(of: other).map(\.sequence) } == [6])
    #expect(try store.commit { try $0.failed(of: .sample("org.example.unknown")) } == [])
  }

  @Test("the last run of each identifier is known", arguments: StoreUnderTest.allCases)
  func lastRuns(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let other = TaskIdentifier.sample("org.example.other")
    try store.commit { transaction in
      for (sequence, identifier) in [(7, .sample()), (9, other), (8, .sample())] as [(Int64, TaskIdentifier)] {
        var run = RunRecord(
          id: store.runID(sequence), request: store.id(1), identifier: identifier, attempt: 1, started: .ms(1), ended: .ms(2),
          outcome: .noop)
        run.report.output = [1]
        try transaction.append(run)
      }
    }
    #expect(try store.lastRuns().mapValues(\.id.sequence) == [.sample(): 8, other: 9])
    #expect(try store.lastRuns()[other]?.report.output == [])
  }

  @Test("a unique key is held for a request until its time", arguments: StoreUnderTest.allCases)
  func windows(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    func holder(_ key: String, _ identifier: TaskIdentifier = .sample(), at time: Int64) throws -> RequestID? {
      try store.commit { try $0.windowHolder(of: key, identifier: identifier, now: .ms(time)) }
    }
    try store.commit { try $0.hold("k", identifier: .sample(), for: store.id(1), until: .ms(100)) }
    #expect(try holder("k", at: 99) == store.id(1))
    #expect(try holder("k", at: 100) == nil)
    #expect(try holder("K", at: 0) == nil)
    #expect(try holder("k", .sample("org.example.other"), at: 0) == nil)
    try store.commit { try $0.hold("k", identifier: .sample(), for: store.id(2), until: .ms(200)) }
    #expect(try holder("k", at: 100) == store.id(2))
    _ = try store.commit { try $0.prune(before: .ms(200), keeping: 10, limit: 10) }
    #expect(try holder("k", at: 100) == store.id(2))
    _ = try store.commit { try $0.prune(before: .ms(201), keeping: 10, limit: 10) }
    #expect(try holder("k", at: 100) == nil)
  }

  @Test("live requests are found by the event they wait for", arguments: StoreUnderTest.allCases)
  func events(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    func record(_ sequence: Int64, _ event: String?, state: RequestState = .pending) -> RequestRecord {
      var record = RequestRecord.sample(sequence, origin: store.origin, state: state, due: .distantFuture)
      record.request.event = event.map { EventTrigger($0, debounce: .milliseconds(sequence)) }
      record.request.repetition = event.map { _ in RepeatRule(.event) }
      return record
    }
    try store.add(
      record(1, "b"), record(2, "a"), record(3, "b", state: .running), record(4, "b", state: .blocked), record(5, "c", state: .cancelled),
      record(6, nil), record(7, "file:/a\u{301}"))
    #expect(try store.commit { try $0.awaitedEvents() } == ["a", "b", "file:/a\u{301}"])
    #expect(try store.commit { try $0.waiting(forEvent: "b").map(\.id.sequence) } == [1, 3, 4])
    #expect(try store.commit { try $0.waiting(forEvent: "c") } == [])
    #expect(try store.commit { try $0.waiting(forEvent: "B") } == [])
    // Names are bytes: the same letter in another spelling is another file.
    #expect(try store.commit { try $0.waiting(forEvent: "file:/\u{e1}") } == [])
    #expect(try store.known(1) == record(1, "b"))
    var first = try store.known(1)
    (first.eventDue, first.eventSince, first.due) = (.ms(1), .ms(2), .ms(3))
    try store.commit { try $0.update(first) }
    #expect(try store.known(1) == first)
    first.place(in: .cancelled)
    first.ended = .ms(5)
    try store.commit { try $0.update(first) }
    #expect(try store.commit { try $0.waiting(forEvent: "b").map(\.id.sequence) } == [3, 4])
  }

  @Test("the payload of an event goes before what was submitted, until it is taken away", arguments: StoreUnderTest.allCases)
  func eventPayload(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin, payload: [1]), .sample(2, origin: store.origin))
    try store.commit { transaction in
      try transaction.setEventPayload([2, 3], of: store.id(1))
      try transaction.setEventPayload([], of: store.id(2))
    }
    #expect(try store.commit { try $0.payload(of: store.id(1)) } == [2, 3])
    #expect(try store.commit { try $0.payload(of: store.id(2)) } == [])
    #expect(try store.known(1).request.payload == [1])
    #expect(try store.commit { try $0.submittedPayload(of: store.id(1)) } == [1])
    #expect(try store.commit { try $0.submittedPayload(of: store.id(2)) } == [])
    try store.commit { try $0.setEventPayload([4], of: store.id(1)) }
    #expect(try store.commit { try $0.payload(of: store.id(1)) } == [4])
    try store.commit { try $0.setEventPayload(nil, of: store.id(1)) }
    #expect(try store.commit { try $0.payload(of: store.id(1)) } == [1])
  }
}
