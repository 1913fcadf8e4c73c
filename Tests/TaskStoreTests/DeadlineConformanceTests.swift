import StoreTestSupport
import TaskModel
import Testing

@Suite("A store knows deadlines and clocks") struct DeadlineConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  @Test("deadlines that count are those of pending requests that are not relaxed, the first one first", arguments: StoreUnderTest.allCases)
  func deadlines(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    func record(_ sequence: Int64, _ deadline: Int64?, state: RequestState = .pending, relaxed: Bool = false) -> RequestRecord {
      var record = RequestRecord.sample(sequence, origin: store.origin, state: state)
      record.request.deadline = deadline.map { .ms($0) }
      record.isRelaxed = relaxed
      return record
    }
    #expect(try store.commit { try $0.nextDeadline() } == nil)
    try store.add(
      record(1, 50), record(2, 10, relaxed: true), record(3, 30), record(4, nil), record(5, 20, state: .running),
      record(6, 5, state: .blocked), record(7, 40), record(8, 1, state: .failed))
    func past(_ time: Int64, _ limit: Int = 10) throws -> [Int64] {
      try store.commit { try $0.pastDeadline(by: .ms(time), limit: limit).map(\.id.sequence) }
    }
    #expect(try store.commit { try $0.nextDeadline() } == .ms(30))
    #expect(try past(29) == [])
    #expect(try past(30) == [3])
    #expect(try past(50) == [3, 7, 1])
    #expect(try past(50, 2) == [3, 7])
    var third = try store.known(3)
    third.isRelaxed = true
    try store.commit { try $0.update(third) }
    #expect(try store.commit { try $0.nextDeadline() } == .ms(40))
    try store.commit { try $0.start(store.id(7), run: store.runID(20), at: .ms(0)) }
    #expect(try past(50) == [1])
    // The blocked one counts from when it is pending.
    var sixth = try store.known(6)
    sixth.place(in: .pending)
    try store.commit { try $0.update(sixth) }
    #expect(try store.commit { try $0.nextDeadline() } == .ms(5))
  }

  @Test("what the clocks are to each other is kept, also after the store was opened anew", arguments: StoreUnderTest.allCases)
  func reference(_ kind: StoreUnderTest) throws {
    var store = try open(kind)
    #expect(try store.commit { try $0.clockReference() } == nil)
    for reference in [ClockReference(boot: "a", offset: .min), ClockReference(boot: "b", offset: 7)] {
      try store.commit { try $0.setClockReference(reference) }
      store = try kind.reopen(store, in: directory.get())
      #expect(try store.commit { try $0.clockReference() } == reference)
    }
  }

  @Test(
    "the times of live requests that follow the boot clock are moved, with their occurrences; never stays never",
    arguments: StoreUnderTest.allCases, [Duration.seconds(-3600), .milliseconds(1), .seconds(86_400 * 365)])
  func shift(_ kind: StoreUnderTest, _ distance: Duration) throws {
    let store = try open(kind)
    func record(_ sequence: Int64, _ clock: DueClock, state: RequestState = .pending, due: WallTime = .ms(100), every: Duration? = nil)
      -> RequestRecord
    {
      var record = RequestRecord.sample(sequence, origin: store.origin, state: state, due: due, every: every)
      record.request.clock = clock
      return record
    }
    let moved = [
      record(1, .boot), record(2, .boot, every: .seconds(900)), record(3, .boot, state: .running), record(4, .boot, state: .blocked),
    ]
    let still = [record(5, .wall), record(6, .boot, due: .distantFuture), record(7, .boot, state: .succeeded)]
    try store.commit { transaction in for record in moved + still { try transaction.insert(record) } }
    try store.commit { try $0.shiftBootTimes(by: distance) }
    for record in moved {
      let now = try store.known(record.id.sequence)
      #expect(now.due == record.due + distance)
      #expect(now.occurrence == record.occurrence.map { $0 + distance })
    }
    for record in still { #expect(try store.known(record.id.sequence) == record) }
    #expect(try store.commit { try $0.nextDue(in: Lane(.sample())) } == min(.ms(100), .ms(100) + distance))
    // An event has come to one that waited for it: its occurrence is not known yet.
    var woken = record(8, .boot, every: .seconds(900))
    woken.occurrence = .distantFuture
    try store.add(woken)
    try store.commit { try $0.shiftBootTimes(by: distance) }
    #expect(try store.known(8).due == .ms(100) + distance)
    #expect(try store.known(8).occurrence == .distantFuture)
  }

  @Test("what only waits is due as much later or earlier, what waits for its own time is not", arguments: StoreUnderTest.allCases)
  func waits(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    func record(_ sequence: Int64, due: Int64, begin: Int64? = nil, outcome: RunOutcome? = nil, state: RequestState = .pending)
      -> RequestRecord
    {
      var record = RequestRecord.sample(sequence, origin: store.origin, state: state, due: .ms(due))
      (record.request.earliestBegin, record.lastOutcome) = (begin.map { .ms($0) }, outcome)
      return record
    }
    var event = record(9, due: 5000)
    event.request.event = EventTrigger("push")
    try store.add(
      record(1, due: 5000), record(2, due: 5000, outcome: .retried, state: .blocked), record(3, due: 5000, begin: 5000),
      record(4, due: 5000, begin: 4500, outcome: .retried), record(5, due: 5000, begin: 4500), record(6, due: 5000, state: .succeeded),
      .sample(7, origin: store.origin, due: .ms(5000), every: .seconds(60)), record(8, due: 500), event)
    func dues() throws -> [WallTime] { try (1...9).map { try store.known($0).due } }
    try store.commit { try $0.shiftWaits(by: .milliseconds(-1000), passed: .ms(1000)) }
    #expect(try dues() == [4000, 4000, 5000, 4000, 5000, 5000, 5000, -500, 5000].map { .ms($0) })
    try store.commit { try $0.shiftWaits(by: .milliseconds(300), passed: .ms(0)) }
    #expect(try dues() == [4300, 4300, 5000, 4300, 5000, 5000, 5000, -500, 5000].map { .ms($0) })
  }

  @Test(
    "the requests that repeat by the calendar are those with a cron expression, or an interval from a time on",
    arguments: StoreUnderTest.allCases)
  func byCalendar(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let rule = RepeatRule(.cron(CronRule("0 8 * * *", timeZone: "Europe/Berlin")))
    var records = (1...3).map { RequestRecord.sample(Int64($0), origin: store.origin) }
    for index in records.indices { records[index].request.repetition = rule }
    records[1].place(in: .running)
    try store.commit { transaction in
      for record in records { try transaction.insert(record) }
      try transaction.insert(.sample(4, origin: store.origin, every: .seconds(900)))
      try transaction.insert(.sample(5, origin: store.origin))
      var delayed = RequestRecord.sample(6, origin: store.origin, every: .seconds(900))
      delayed.request.clock = .boot
      try transaction.insert(delayed)
      var byEvent = RequestRecord.sample(7, origin: store.origin)
      byEvent.request.repetition = RepeatRule(.event)
      try transaction.insert(byEvent)
      var ended = RequestRecord.sample(8, origin: store.origin, state: .succeeded)
      ended.request.repetition = rule
      try transaction.insert(ended)
    }
    #expect(try store.commit { try $0.repeatingByCalendar().map(\.id.sequence) } == [1, 2, 3, 4])
  }
}
