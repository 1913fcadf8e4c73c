import MemoryStore
import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@Suite("A listing") struct ListingConformanceTests {
  private static let identifiers = ["a", "b"].map { TaskIdentifier.sample($0) }

  /// Requests of all states, of which some are next to each other and some are rare.
  private static func records(_ origin: UInt64, seed: UInt64) -> [RequestRecord] {
    var random = SeededGenerator(seed: seed)
    let blocks: [(RequestState, Int)] = [
      (.failed, 5), (.succeeded, 1200), (.blocked, 700), (.pending, 1500), (.cancelled, 300), (.running, 4), (.pending, 30),
      (.blocked, 1300),
    ]
    var records: [RequestRecord] = []
    for (state, count) in seed.isMultiple(of: 2) ? blocks : blocks.reversed() {
      for _ in 0..<count {
        let sequence = Int64(records.count + 1)
        var record = RequestRecord.sample(
          sequence, origin: origin, identifier: identifiers[sequence.isMultiple(of: 40) ? 1 : 0], state: state,
          due: .ms(Int64.random(in: 0..<5000, using: &random)), priority: Int.random(in: -1...1, using: &random),
          tags: state == .pending ? ["t"] : sequence.isMultiple(of: 100) ? ["t", "u"] : [])
        record.request.gates = RunConstraints(concurrencyKey: sequence.isMultiple(of: 3) ? "k" : nil)
        record.ended = state.isFinal ? .ms(Int64.random(in: 0..<5000, using: &random)) : nil
        if sequence.isMultiple(of: 50) { record.request.event = EventTrigger("e") }
        records.append(record)
      }
    }
    return records
  }

  @Test("shows the same whatever there is of what it looks for", arguments: 1...2 as ClosedRange<UInt64>)
  func all(_ seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let sqlite = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { sqlite.close() }
    let memory = MemoryRequestStore(origin: sqlite.origin)
    let records = Self.records(sqlite.origin, seed: seed)
    for store in [sqlite, memory] as [any RequestStore] { try store.commit { for record in records { try $0.insert(record) } } }
    let states: [[RequestState]] =
      [[], [.pending, .claimed], [.blocked, .pending, .claimed, .running], [.failed, .cancelled]] + RequestState.allCases.map { [$0] }
    var random = SeededGenerator(seed: seed)
    var queries: [RequestQuery] = []
    for states in states {
      for identifier in [nil, .sample("unknown")] + Self.identifiers.map(Optional.some) {
        for tag in [nil, "t", "u", "unknown"] {
          for (dueBy, waitsForEvent) in [(nil, false), (nil, true), (WallTime.ms(0), false), (.ms(900), false), (.ms(9000), true)] {
            // All of them take long to compare.
            for limit in identifier == nil && tag == nil ? [1, 100, .max] : [1, 100] where Bool.random(using: &random) {
              var query = RequestQuery()
              (query.states, query.identifier, query.tag, query.dueBy) = (states, identifier, tag, dueBy)
              (query.waitsForEvent, query.limit) = (waitsForEvent, limit)
              queries.append(query)
            }
          }
        }
      }
    }
    for query in queries {
      let (found, expected) = (try sqlite.requests(query).map(\.id), try memory.requests(query).map(\.id))
      guard found == expected else {
        Issue.record("\(query): \(found.count) requests, \(expected.count) expected")
        return
      }
    }
  }

  @Test("shows nothing of an empty store", arguments: StoreUnderTest.allCases)
  func empty(_ kind: StoreUnderTest) throws {
    let directory = try TemporaryDirectory()
    let store = try kind.open(in: directory)
    defer { store.close() }
    var query = RequestQuery()
    #expect(try store.requests(query).isEmpty)
    query.tag = "t"
    query.dueBy = .ms(0)
    #expect(try store.requests(query).isEmpty)
  }
}
