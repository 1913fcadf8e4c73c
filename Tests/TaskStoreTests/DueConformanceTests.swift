import StoreTestSupport
import TaskModel
import Testing

@Suite("A store knows what is due") struct DueConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  @Test("requests of one priority are due oldest first, and not before their time", arguments: StoreUnderTest.allCases)
  func oldestFirst(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(
      .sample(1, origin: store.origin, due: .ms(30)), .sample(2, origin: store.origin, due: .ms(10)),
      .sample(3, origin: store.origin, due: .ms(20)),
      .sample(4, origin: store.origin, due: .ms(10)), .sample(5, origin: store.origin, state: .running, due: .ms(1)),
      .sample(6, origin: store.origin, state: .blocked, due: .ms(1)),
      .sample(7, origin: store.origin, identifier: .sample("org.example.other")))
    #expect(try store.due(by: .ms(9)) == [])
    #expect(try store.due(by: .ms(10)) == [2, 4])
    #expect(try store.due(by: .ms(29)) == [2, 4, 3])
    #expect(try store.due(by: .ms(30), limit: 3) == [2, 4, 3])
    #expect(try store.commit { try $0.nextDue(in: Lane(.sample())) } == .ms(10))
    #expect(try store.commit { try $0.firstPending(of: .sample())?.id } == store.id(2))
    #expect(try store.commit { try $0.nextDue(in: Lane(.sample("org.example.unknown"))) } == nil)
  }

  @Test("a step of priority is a head start of five minutes", arguments: StoreUnderTest.allCases)
  func ageing(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let step: Int64 = 300_000
    try store.add(
      .sample(1, origin: store.origin, due: .ms(0), priority: 0), .sample(2, origin: store.origin, due: .ms(step - 1), priority: 1),
      .sample(3, origin: store.origin, due: .ms(step + 1), priority: 1),
      .sample(4, origin: store.origin, due: .ms(20 * step), priority: 10),
      .sample(5, origin: store.origin, due: .ms(-11 * step), priority: -10))
    // By rank: 4 is due latest of all and has the longest start of them; 5 has waited longer than its place behind.
    #expect(try store.due(by: .ms(20 * step)) == [5, 2, 1, 3, 4].sorted { rank($0, step) < rank($1, step) })
    #expect(try store.due(by: .ms(20 * step), limit: 1).count == 1)
    #expect(try store.commit { try $0.nextDue(in: Lane(.sample())) } == .ms(-11 * step))
    #expect(try store.commit { try $0.firstPending(of: .sample())?.id } == store.id(5))
  }

  /// Due time less priority steps, of the requests above.
  private func rank(_ sequence: Int64, _ step: Int64) -> Int64 {
    switch sequence {
    case 1: 0
    case 2: -1
    case 3: 1
    case 4: 10 * step
    default: -step
    }
  }

  @Test("what is due agrees with sorting everything by rank", arguments: StoreUnderTest.allCases, 1...3 as ClosedRange<UInt64>)
  func againstSorting(_ kind: StoreUnderTest, _ seed: UInt64) throws {
    let store = try open(kind)
    var generator = SeededGenerator(seed: seed)
    let records = (1...400).map { sequence in
      RequestRecord.sample(
        Int64(sequence), origin: store.origin, due: .ms(Int64.random(in: 0...4_000_000, using: &generator)),
        priority: Int.random(in: -10...10, using: &generator))
    }
    try store.commit { transaction in for record in records { try transaction.insert(record) } }
    for _ in 0..<30 {
      let now = WallTime.ms(Int64.random(in: 0...4_200_000, using: &generator))
      let limit = Int.random(in: 1...40, using: &generator)
      let expected = records.filter { $0.due <= now }
        .map { DueRequest(id: $0.id, due: $0.due, priority: $0.request.priority, attemptsSpent: 0, isRepeating: false) }
        .sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }.prefix(limit)
      #expect(try store.due(by: now, limit: limit) == expected.map(\.id.sequence), "seed \(seed)")
    }
    #expect(try store.commit { try $0.nextDue(in: Lane(.sample())) } == records.map(\.due).min())
  }

  @Test("an offer says how many attempts are spent and whether it repeats", arguments: StoreUnderTest.allCases)
  func offer(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    var record = RequestRecord.sample(1, origin: store.origin, priority: 3, every: .seconds(900))
    record.attemptsSpent = 2
    try store.add(record)
    let offers = try store.commit { try $0.due(in: Lane(.sample()), by: .ms(0), limit: 5) }
    #expect(offers == [DueRequest(id: store.id(1), due: .ms(0), priority: 3, attemptsSpent: 2, isRepeating: true)])
  }
}
