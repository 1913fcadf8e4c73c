import StoreTestSupport
import TaskModel
import Testing

@Suite("A store changes requests") struct RewriteConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  /// A request with everything that a request may have.
  private static func full(_ sequence: Int64, _ store: any RequestStore) -> RequestRecord {
    var record = RequestRecord.sample(
      sequence, origin: store.origin, due: .ms(50), priority: 7, key: "key \(sequence)", payload: [1, 2], tags: ["a", "ü"])
    record.request.gates = RunConstraints(
      conditions: .all, onLostCondition: .finish, window: "night", concurrencyKey: "k", resources: ["gpu": 2], flex: .seconds(60))
    record.request.gates.wakes = true
    (record.request.gates.prefer, record.request.gates.lastHost) = ("last_host", "a")
    record.request.earliestBegin = .ms(1)
    record.request.deadline = .ms(99)
    record.request.clock = .boot
    record.request.event = EventTrigger("file:/tmp/x", debounce: .seconds(2))
    record.request.repetition = RepeatRule(
      .cron(CronRule("@daily", timeZone: "Australia/Lord_Howe", daylight: DaylightPolicy(gap: .skip, repeated: .both))),
      missed: .all(limit: 3, spread: .seconds(5)))
    record.request.after = [
      Dependency(.request(store.id(900)), onFailure: .ignore), Dependency(.request(store.id(901)), onFailure: .fail),
    ]
    record.request.idempotencyKey = "idem\0"
    record.request.uniqueWindow = .seconds(3600)
    record.request.jitter = .seconds(600)
    record.request.owner = .transfers
    record.request.isUntold = true
    record.occurrence = .ms(50)
    record.eventDue = .ms(4)
    record.eventSince = .ms(5)
    record.missedLeft = 2
    record.isRelaxed = true
    record.paused = RequestPause(by: "user ü", since: .ms(6), reason: "why", isPlugins: true)
    return record
  }

  @Test("everything that a request may have comes back, also after the store was opened anew", arguments: StoreUnderTest.allCases)
  func everything(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    let schedules: [RepeatRule?] = [
      Self.full(1, store).request.repetition, RepeatRule(.event, missed: .skip), RepeatRule(every: .milliseconds(1)),
      RepeatRule(.every(.milliseconds(Int64.max)), missed: .all(limit: 1, spread: .zero)), nil,
      RepeatRule(.cron(CronRule("* * * * *", timeZone: "UTC", daylight: DaylightPolicy(gap: .shift, repeated: .last)))),
    ]
    let records = schedules.enumerated().map { index, rule in
      var record = Self.full(Int64(index + 1), store)
      record.request.repetition = rule
      return record
    }
    try store.commit { transaction in for record in records { try transaction.insert(record) } }
    for record in records { #expect(try store.known(record.id.sequence) == record) }
    store = try kind.reopen(store, in: directory.get())
    for record in records { #expect(try store.known(record.id.sequence) == record) }
  }

  @Test("a position of the same submission is no edge that is kept", arguments: StoreUnderTest.allCases)
  func positions(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    var record = RequestRecord.sample(1, origin: store.origin)
    record.request.after = [Dependency(.position(0)), Dependency(.request(store.id(9)))]
    try store.add(record)
    #expect(try store.known(1).request.after == [Dependency(.request(store.id(9)))])
  }

  @Test("a rewritten request has all of what was submitted anew, in its new lane, with its new payload", arguments: StoreUnderTest.allCases)
  func rewrite(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    let plain = RequestRecord.sample(1, origin: store.origin, payload: [9], tags: ["old"], every: .seconds(900))
    try store.add(plain)
    let full = Self.full(1, store)
    try store.commit { try $0.rewrite(full) }
    #expect(try store.known(1) == full)
    #expect(try store.due(.sample(), full.request.gates, by: .ms(50)) == [])
    #expect(try store.due(.sample(), full.gates, by: .ms(50)) == [1])
    #expect(try store.due(by: .ms(50)) == [])
    #expect(try store.commit { try $0.holder(of: "key 1", identifier: .sample())?.id } == full.id)
    #expect(try store.commit { try $0.awaitedEvents() } == ["file:/tmp/x"])
    store = try kind.reopen(store, in: directory.get())
    #expect(try store.known(1) == full)
    try store.commit { try $0.rewrite(plain) }
    #expect(try store.known(1) == plain)
    #expect(try store.commit { try $0.awaitedEvents() } == [])
    #expect(try store.due(by: .ms(50)) == [1])
    #expect(throws: StoreError.self) { try store.commit { try $0.rewrite(Self.full(2, store)) } }
  }

  @Test("an update leaves what was submitted as it is, but for priority, key and interval", arguments: StoreUnderTest.allCases)
  func update(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin, payload: [9], tags: ["a"], every: .seconds(900)))
    var changed = try store.known(1)
    (changed.request.tags, changed.request.payload, changed.request.earliestBegin) = (["b"], [1], .ms(3))
    (changed.request.priority, changed.request.uniqueKey, changed.request.repetition) = (4, "k", RepeatRule(every: .seconds(60)))
    try store.commit { try $0.update(changed) }
    (changed.request.tags, changed.request.payload, changed.request.earliestBegin) = (["a"], [9], nil)
    #expect(try store.known(1) == changed)
  }

  @Test("an update in which a key would have two holders changes nothing", arguments: StoreUnderTest.allCases)
  func updateToHeldKey(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin, key: "k"), .sample(2, origin: store.origin))
    var second = try store.known(2)
    second.request.uniqueKey = "k"
    #expect(throws: StoreError.self) { try store.commit { try $0.update(second) } }
    #expect(try store.known(2).request.uniqueKey == nil)
    // The same letter in another spelling is another key.
    for (index, key) in ["\u{e9}", "e\u{301}"].enumerated() { try store.add(.sample(Int64(10 + index), origin: store.origin, key: key)) }
    #expect(try store.commit { try $0.holder(of: "\u{e9}", identifier: .sample())?.id } == store.id(10))
    #expect(try store.commit { try $0.holder(of: "e\u{301}", identifier: .sample())?.id } == store.id(11))
  }
}
