import MemoryStore
import StoreTestSupport
import TaskFilters
import TaskModel
import TaskStore
import Testing

@Suite("A scan for a filter") struct ScanConformanceTests {
  private static let now = WallTime(unixMilliseconds: 1_000_000)

  /// Requests of all states, tags, identifiers and payloads, some common and some rare.
  private static func records(_ origin: UInt64, count: Int = 6000) -> [RequestRecord] {
    var random = SeededGenerator(seed: 7)
    return (1...count).map { number in
      let sequence = Int64(number)
      let state: RequestState = number.isMultiple(of: 700) ? .blocked : RequestState.allCases.randomElement(using: &random) ?? .failed
      var record = RequestRecord.sample(
        sequence, origin: origin, identifier: .sample(number.isMultiple(of: 900) ? "rare" : "a\(number % 3)"), state: state,
        due: .ms(sequence), tags: number.isMultiple(of: 1000) ? ["t", "it's"] : number.isMultiple(of: 2) ? ["t"] : [])
      record.submitted = .ms(sequence)
      if number.isMultiple(of: 5) { record.request.payload = Array(#"{"account": "x\#(number % 4)"}"#.utf8) }
      record.ended = state.isFinal ? .ms(Int64.random(in: 0..<5000, using: &random)) : nil
      return record
    }
  }

  /// Everything that a store finds, page after page.
  private static func all(
    _ store: any RequestStore, _ filter: RequestFilter, oldestFirst: Bool, limit: Int
  ) throws -> [RequestID] {
    var scan = filter.scan
    (scan.oldestFirst, scan.limit) = (oldestFirst, limit)
    var ids: [RequestID] = []
    repeat {
      let page = try store.scan(scan, accepts: filter.accepts)
      #expect(page.records.count <= limit)
      #expect(!page.records.contains { !$0.request.payload.isEmpty })
      if let next = page.next, let last = page.records.last?.id {
        #expect(oldestFirst ? next >= last : next <= last, "the cursor goes back")
      }
      ids += page.records.map(\.id)
      scan.after = page.next
    } while scan.after != nil
    return ids
  }

  @Test("both stores find the same, in both orders, with every size of a page")
  func agree() throws {
    let directory = try TemporaryDirectory()
    let sqlite = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { sqlite.close() }
    let memory = MemoryRequestStore(origin: sqlite.origin)
    // Small pages of many records take minutes, and one of the few threads from the other tests.
    let records = Self.records(sqlite.origin, count: 1500)
    for store in [sqlite, memory] as [any RequestStore] { try store.commit { for record in records { try $0.insert(record) } } }
    for text in [
      "", "state:failed", "state:pending", "state:blocked", "identifier:\(TaskIdentifier.sample("a1"))", "identifier:*",
      "identifier:\(TaskIdentifier.sample("rare")) state:failed,succeeded", "tag:t", "tag:\"it's\"", "tag:none", "tag:t,none tag:\"it's\"",
      "id:\(sqlite.id(77))", "id:\(sqlite.id(77).description.prefix(17)) tag:t", "id:\(sqlite.id(0x100).description.prefix(16))",
      "id:f",
      "id:\(RequestID(sequence: 77, origin: sqlite.origin ^ 1))", "identifier:\(TaskIdentifier.sample("unknown"))",
      "payload.account:x2", "payload.account:x1 state:failed tag:t",
      "until:1970-01-01T00:00:03Z since:1970-01-01T00:00:01Z", "state:running until:1970-01-01T00:00:03Z", "outcome:crashed", "key:none",
    ] {
      let filter = try RequestFilter(text, now: Self.now)
      let expected = records.filter(filter.accepts).map(\.id)
      for (oldestFirst, limit) in [(true, 7), (false, 7), (true, 500), (false, 100_000)] {
        let ordered = oldestFirst ? expected : expected.reversed()
        for store in [sqlite, memory] as [any RequestStore] {
          let found = try Self.all(store, filter, oldestFirst: oldestFirst, limit: limit)
          #expect(found == ordered, "\(text), \(type(of: store)): \(found.count) of \(ordered.count)")
        }
      }
    }
  }

  @Test("an answer stays short where nearly nothing matches: it says where to go on")
  func bounded() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { store.close() }
    try store.commit { transaction in
      for number in 1...(RequestScan.rows + 5000) {
        try transaction.insert(.sample(Int64(number), origin: store.origin, state: .succeeded, due: .ms(0)))
      }
    }
    let filter = try RequestFilter("outcome:crashed", now: Self.now)
    let page = try store.scan(filter.scan, accepts: filter.accepts)
    #expect(page.records.isEmpty)
    #expect(page.next == store.id(Int64(RequestScan.rows + 5000 - RequestScan.rejected + 1)))
    let states = try RequestFilter("tag:none", now: Self.now)
    #expect(try store.scan(states.scan, accepts: states.accepts).next == nil)
  }

  @Test("runs are found by patterns of identifiers", arguments: StoreUnderTest.allCases)
  func runs(_ kind: StoreUnderTest) throws {
    let directory = try TemporaryDirectory()
    let store = try kind.open(in: directory)
    defer { store.close() }
    try store.commit { transaction in
      for (number, name) in ["a.x", "a.y", "b.x"].enumerated() {
        try transaction.append(
          RunRecord(
            id: store.runID(Int64(number + 1)), request: store.id(1), identifier: try TaskIdentifier("com.\(name)"), attempt: 1,
            started: .ms(0), ended: .ms(1), outcome: .succeeded))
      }
    }
    func found(_ text: String) throws -> [Int64] {
      try store.runs(RunQuery(filter: text, now: Self.now)).map(\.id.sequence)
    }
    #expect(try found("identifier:com.a.*") == [2, 1])
    #expect(try found("identifier:com.a.x,com.b.*") == [3, 1])
    #expect(try found("identifier:com.c.*") == [])
    #expect(try found("id:\(store.runID(2))") == [2])
    #expect(try found("id:\(RunID(sequence: 2, origin: store.origin ^ 1))") == [])
    #expect(try found("id:\(store.runID(2).description.prefix(17)) identifier:com.a.*") == [2, 1])
    #expect(try found("") == [3, 2, 1])
  }
}
