import GRDB
import StoreTestSupport
import TaskModel
import Testing

@testable import MemoryStore
@testable import TaskStore

@Suite("Lanes in which nobody waits") struct LanePruningConformanceTests {
  private struct Change: Error {}

  private let directory = Result { try TemporaryDirectory() }
  /// More than a store leaves alone.
  private static let many: ClosedRange<Int64> = 1...3000

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  private static func lane(_ number: Int64) -> Lane { Lane(.sample(), RunConstraints(concurrencyKey: "k\(number)")) }

  private static func record(_ number: Int64, _ store: any RequestStore, lane other: Int64? = nil) -> RequestRecord {
    var record = RequestRecord.sample(number, origin: store.origin)
    record.request.gates = lane(other ?? number).gates
    return record
  }

  /// A store with a request in each lane.
  private func filled(_ kind: StoreUnderTest) throws -> any RequestStore {
    let store = try open(kind)
    try store.commit { transaction in for number in Self.many { try transaction.insert(Self.record(number, store)) } }
    return store
  }

  /// Starts the requests, so that they leave their lanes.
  private static func start(_ numbers: some Sequence<Int64>, _ store: any RequestStore) throws {
    try store.commit { transaction in
      for number in numbers { try transaction.start(store.id(number), run: store.runID(100_000 + number), at: .ms(1)) }
    }
  }

  /// Returns in how many slices.
  @discardableResult private static func prune(_ store: any RequestStore, limit: Int = 200) throws -> Int {
    var slices = 1
    while try store.commit({ try $0.pruneLanes(limit: limit) }) { slices += 1 }
    return slices
  }

  /// How many lanes the store has and how many it remembers.
  private static func kept(_ store: any RequestStore) throws -> (stored: Int, remembered: Int) {
    if let memory = store as? MemoryRequestStore { return (memory.laneCount, memory.laneCount) }
    let sqlite = try #require(store as? SQLiteRequestStore)
    return (try sqlite.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM lanes") } ?? 0, sqlite.lanes.count)
  }

  @Test("are removed, in slices, and those with pending requests stay", arguments: StoreUnderTest.allCases)
  func removed(_ kind: StoreUnderTest) throws {
    let store = try filled(kind)
    defer { store.close() }
    let waiting = Self.many.filter { $0.isMultiple(of: 100) }
    try Self.start(Self.many.filter { !$0.isMultiple(of: 100) }, store)
    #expect(try Self.kept(store).stored == Self.many.count)
    let slices = try Self.prune(store)
    if kind != .memory { #expect(slices == Self.many.count / 200 + 1) }
    #expect(try Self.kept(store) == (waiting.count, waiting.count))
    #expect(try store.commit { try Set($0.lanesWithPending()) } == Set(waiting.map(Self.lane)))
    for number in waiting { #expect(try store.due(.sample(), Self.lane(number).gates, by: .ms(0)) == [number]) }
  }

  @Test("stay while they are few, or few of them are empty", arguments: StoreUnderTest.allCases)
  func few(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    defer { store.close() }
    try store.commit { transaction in for number in 1...900 as ClosedRange<Int64> { try transaction.insert(Self.record(number, store)) } }
    try Self.start(1...900, store)
    #expect(try Self.prune(store) == 1)
    #expect(try Self.kept(store).stored == 900)
    try store.commit { transaction in for number in 1000...3999 as ClosedRange<Int64> { try transaction.insert(Self.record(number, store)) }
    }
    if kind != .memory { try Self.prune(store) }
    try Self.start(1000...1500, store)
    let before = try Self.kept(store).stored
    #expect(try Self.prune(store) == 1)
    #expect(try Self.kept(store).stored == before)
  }

  @Test("are made anew for a request that comes back, whoever was given their number", arguments: StoreUnderTest.allCases)
  func comesBack(_ kind: StoreUnderTest) throws {
    var store = try filled(kind)
    defer { store.close() }
    try Self.start(Self.many, store)
    try Self.prune(store)
    #expect(try Self.kept(store).stored == 0)
    // The first lanes that are made now have the numbers of others' lanes, whose requests still run.
    let added = Self.many.map { $0 + 10_000 }
    try store.commit { transaction in for number in added { try transaction.insert(Self.record(number, store)) } }
    store = try kind.reopen(store, in: directory.get())
    try store.commit { transaction in
      for number in Self.many {
        guard var record = try transaction.request(store.id(number)) else { continue }
        record.place(in: .pending)
        record.run = nil
        try transaction.update(record)
      }
    }
    for number in Self.many { #expect(try store.due(.sample(), Self.lane(number).gates, by: .ms(0)) == [number]) }
    for number in added { #expect(try store.due(.sample(), Self.lane(number).gates, by: .ms(0)) == [number]) }
    #expect(try Self.kept(store).stored == Self.many.count * 2)
  }

  @Test("are not lost to requests that come between two slices, or in the same commit", arguments: StoreUnderTest.allCases)
  func between(_ kind: StoreUnderTest) throws {
    let store = try filled(kind)
    defer { store.close() }
    try Self.start(Self.many, store)
    var next: Int64 = 10_000
    var expected = Set<Lane>()
    var isMore = true
    while isMore {
      // One that uses a lane before it is looked at, one after, and one that is made anew.
      try store.commit { transaction in
        for number in [next % 3000 + 1, 3000 - next % 3000] {
          try transaction.insert(Self.record(next, store, lane: number))
          expected.insert(Self.lane(number))
          next += 7
        }
        isMore = try transaction.pruneLanes(limit: 100)
        for number in [next % 3000 + 1, next] {
          try transaction.insert(Self.record(next, store, lane: number))
          expected.insert(Self.lane(number))
          next += 7
        }
      }
    }
    #expect(try store.commit { try Set($0.lanesWithPending()) } == expected)
    var due: [Int64] = []
    for lane in expected { due += try store.due(.sample(), lane.gates, by: .ms(0), limit: 1000) }
    #expect(due.sorted() == Array(stride(from: 10_000, to: next, by: 7)))
  }

  @Test("are there again when their removal is undone", arguments: StoreUnderTest.allCases)
  func undone(_ kind: StoreUnderTest) throws {
    let store = try filled(kind)
    defer { store.close() }
    try Self.start(Self.many, store)
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        while try transaction.pruneLanes(limit: 500) {}
        for number in Self.many { try transaction.insert(Self.record(number + 10_000, store, lane: number)) }
        throw Change()
      }
    }
    try store.commit { transaction in
      try? transaction.savepoint {
        while try transaction.pruneLanes(limit: 500) {}
        throw Change()
      }
      for number in Self.many { try transaction.insert(Self.record(number + 20_000, store, lane: number)) }
    }
    for number in Self.many { #expect(try store.due(.sample(), Self.lane(number).gates, by: .ms(0)) == [number + 20_000]) }
  }

  @Test("of a host before are removed by the next")
  func earlier() throws {
    var store = try filled(.sqlite)
    defer { store.close() }
    try Self.start(Self.many, store)
    store = try StoreUnderTest.sqlite.reopen(store, in: directory.get())
    try Self.prune(store)
    #expect(try Self.kept(store) == (0, 0))
  }

  @Test("do not let what is remembered grow with the keys that have come and gone", arguments: StoreUnderTest.allCases)
  func bounded(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    defer { store.close() }
    var most = (stored: 0, remembered: 0)
    for first in stride(from: 1, through: 10_000 as Int64, by: 500) {
      try store.commit { transaction in for number in first..<first + 500 { try transaction.insert(Self.record(number, store)) } }
      try Self.start(first..<first + 500, store)
      try Self.prune(store)
      let kept = try Self.kept(store)
      most = (max(most.stored, kept.stored), max(most.remembered, kept.remembered))
    }
    #expect(most.stored <= 2500)
    #expect(most.remembered <= 2500)
  }
}
