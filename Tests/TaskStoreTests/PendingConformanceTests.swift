import StoreTestSupport
import TaskModel
import Testing

@Suite("A store shows what is pending") struct PendingConformanceTests {
  private let directory = Result { try TemporaryDirectory() }
  private static let first = TaskIdentifier.sample("org.example.first")
  private static let second = TaskIdentifier.sample("org.example.second")

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  /// The ids' sequences of all pages.
  private func pages(_ store: any RequestStore, _ identifiers: TaskIdentifier...) throws -> [[Int64]] {
    var pages: [[Int64]] = []
    var next: RequestID?
    repeat {
      let page = try store.pendingRequests(of: identifiers, after: next)
      pages.append(page.requests.map(\.id.sequence))
      next = page.next
    } while next != nil
    return pages
  }

  @Test("what waits for its run is shown, the oldest first whatever it is for, when and how urgent", arguments: StoreUnderTest.allCases)
  func waiting(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(
      .sample(4, origin: store.origin, identifier: Self.second, due: .ms(1)),
      .sample(1, origin: store.origin, identifier: Self.first, due: .ms(9000)),
      .sample(3, origin: store.origin, identifier: Self.first, due: .ms(5), priority: 10),
      .sample(2, origin: store.origin, identifier: Self.second, state: .blocked, blockedBy: store.id(1)),
      .sample(5, origin: store.origin, identifier: .sample("org.example.other")))
    for (number, state) in RequestState.allCases.enumerated() where ![.pending, .blocked, .claimed].contains(state) {
      try store.add(.sample(Int64(100 + number), origin: store.origin, identifier: Self.first, state: state))
    }
    #expect(try pages(store, Self.first, Self.second) == [[1, 2, 3, 4]])
    #expect(try pages(store, Self.second) == [[2, 4]])
    #expect(try pages(store, .sample("org.example.unknown")) == [[]])
    #expect(try store.pendingRequests(of: [], after: nil) == PendingPage())
    #expect(try store.commit { try $0.waiting(of: Self.first).map(\.id.sequence) } == [1, 3])
    #expect(try store.commit { try $0.waiting(of: Self.second).map(\.state) } == [.blocked, .pending])
    #expect(try store.commit { try $0.waiting(of: .sample("org.example.unknown")) } == [])
  }

  @Test("each is shown with its payload, its times and its attempt", arguments: StoreUnderTest.allCases)
  func fields(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    var record = RequestRecord.sample(7, origin: store.origin, due: .ms(5000), payload: [0, 255, 1])
    record.request.earliestBegin = .ms(1000)
    record.request.conditions = [.network, .power]
    record.attemptsSpent = 2
    try store.add(record, .sample(8, origin: store.origin, due: .ms(1)))
    let shown = try store.pendingRequests(of: [.sample()], after: nil).requests
    #expect(
      shown == [
        PendingRequest(
          id: store.id(7), identifier: .sample(), conditions: [.network, .power], earliestBegin: .ms(1000), nextStart: .ms(5000),
          attempt: 3, payload: [0, 255, 1]),
        PendingRequest(id: store.id(8), identifier: .sample(), nextStart: .ms(1)),
      ])
  }

  @Test("many come a page at a time, none twice and none left out", arguments: StoreUnderTest.allCases)
  func many(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let count = Int64(2 * PendingPage.requestLimit)
    try store.commit { transaction in
      for number in 1...count {
        try transaction.insert(.sample(number, origin: store.origin, identifier: number.isMultiple(of: 3) ? Self.first : Self.second))
      }
    }
    let pages = try pages(store, Self.first, Self.second)
    #expect(pages.map(\.count) == [PendingPage.requestLimit, PendingPage.requestLimit, 0])
    #expect(pages.flatMap { $0 } == Array(1...count))
  }

  @Test("a page is full when its payloads are", arguments: StoreUnderTest.allCases)
  func bytes(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let payload = [UInt8](repeating: 7, count: Limits.payloadBytes)
    try store.commit { transaction in
      for number in 1...10 { try transaction.insert(.sample(Int64(number), origin: store.origin, payload: payload)) }
    }
    #expect(try pages(store, .sample()) == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]])
  }

  @Test("the request that a schedule stands for is not shown, one with a key like its is", arguments: StoreUnderTest.allCases)
  func schedule(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let prefix = TaskRequest.scheduleKeyPrefix
    try store.add(
      .sample(1, origin: store.origin, identifier: Self.first, key: prefix + Self.first.rawValue, every: .seconds(900)),
      .sample(2, origin: store.origin, identifier: Self.first, key: prefix + Self.second.rawValue),
      .sample(3, origin: store.origin, identifier: Self.first, key: "daily", every: .seconds(900)))
    #expect(try pages(store, Self.first) == [[2, 3]])
  }

  @Test("a page of which nothing is shown leads to the next", arguments: StoreUnderTest.allCases)
  func hiddenPage(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    // Only one request of an identifier holds its schedule's key: as many identifiers as fill a page.
    let identifiers = (1...PendingPage.requestLimit).map { TaskIdentifier.sample("org.example.n\($0)") }
    try store.commit { transaction in
      for (number, identifier) in identifiers.enumerated() {
        let key = TaskRequest.scheduleKeyPrefix + identifier.rawValue
        try transaction.insert(.sample(Int64(number + 1), origin: store.origin, identifier: identifier, key: key))
      }
      try transaction.insert(.sample(9999, origin: store.origin, identifier: identifiers[0]))
    }
    let first = try store.pendingRequests(of: identifiers, after: nil)
    #expect(first.requests == [])
    #expect(try store.pendingRequests(of: identifiers, after: first.next).requests.map(\.id.sequence) == [9999])
  }
}
