import MemoryStore
import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@Suite("Stores agree") struct StoresAgreeTests {
  @Test("after any sequence of changes, kept and taken back, two stores say the same", arguments: 1...4 as ClosedRange<UInt64>)
  func random(_ seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let sqlite = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { sqlite.close() }
    var pair = StorePair(sqlite, MemoryRequestStore(origin: sqlite.origin), seed: seed)
    for step in 0..<120 {
      try pair.change()
      guard step.isMultiple(of: 3) else { continue }
      guard try pair.agree() else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
  }
}

/// Two stores with the same ids that are changed alike.
private struct StorePair {
  private struct Change: Error {}

  private let stores: [any RequestStore]
  private let origin: UInt64
  private var random: SeededGenerator
  private var sequence: Int64 = 0
  private var clock: Int64 = 0
  private static let identifiers = ["a", "b"].map { TaskIdentifier.sample($0) }
  private static let keys = ["k", "\u{e9}", "e\u{301}"]

  init(_ first: any RequestStore, _ second: any RequestStore, seed: UInt64) {
    stores = [first, second]
    origin = first.origin
    random = SeededGenerator(seed: seed)
  }

  private mutating func number(_ range: Range<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
  private mutating func chance(_ one: Int64) -> Bool { number(0..<one) == 0 }
  private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(number(0..<Int64(values.count)))] }

  // MARK: Changes

  /// One transaction of some steps, the same in both.
  mutating func change() throws {
    clock += number(0..<1000)
    let steps = (0..<Int(number(1..<6))).map { _ in (draw(), inSavepoint: chance(2), thrown: chance(4)) }
    let isTakenBack = chance(6)
    var results: [String] = []
    for store in stores {
      var result = ""
      do {
        try store.commit { transaction in
          for (step, inSavepoint, thrown) in steps {
            guard inSavepoint else {
              result += "\(try step(transaction)) "
              continue
            }
            do {
              try transaction.savepoint {
                result += "\(try step(transaction)) "
                if thrown { throw Change() }
              }
            } catch is Change {}
          }
          if isTakenBack { throw Change() }
        }
      } catch { result += error == .fenced ? "fenced" : "failed" }
      results.append(result)
    }
    #expect(results[0] == results[1])
  }

  private typealias Step = (any StoreTransaction) throws -> String

  private mutating func draw() -> Step {
    let id = RequestID(sequence: number(1..<max(2, sequence + 1)), origin: origin)
    let other = RequestID(sequence: number(1..<max(2, sequence + 1)), origin: origin)
    let now = WallTime.ms(clock)
    switch number(0..<22) {
    case 0..<5:
      sequence += 1
      let record = record(sequence)
      return { transaction in
        try transaction.insert(record)
        return "insert"
      }
    case 5..<9:
      let new = record(id.sequence)
      return { transaction in
        guard var record = try transaction.request(id) else { return "nothing" }
        record.place(in: new.state)
        (record.due, record.attemptsSpent, record.run) = (new.due, new.attemptsSpent, nil)
        (record.isRelaxed, record.eventDue, record.missedLeft) = (new.isRelaxed, new.eventDue, new.missedLeft)
        record.request.priority = new.request.priority
        record.ended = new.ended
        try transaction.update(record)
        return "update"
      }
    case 9:
      let new = record(id.sequence)
      return { transaction in
        guard let old = try transaction.request(id) else { return "nothing" }
        var record = new
        (record.submitted, record.request.identifier) = (old.submitted, old.request.identifier)
        try transaction.rewrite(record)
        return "rewrite"
      }
    case 10, 11:
      sequence += 1
      let run = RunID(sequence: sequence, origin: origin)
      return { transaction in
        guard try transaction.request(id)?.state == .pending else { return "nothing" }
        try transaction.start(id, run: run, at: now)
        try transaction.setCheckpoint([1], of: id)
        return "start"
      }
    case 19, 20:
      sequence += 1
      let run = RunID(sequence: sequence, origin: origin)
      let begins = chance(2)
      return { transaction in
        guard let record = try transaction.request(id) else { return "nothing" }
        if begins, record.state == .claimed, let run = record.run {
          try transaction.start(id, run: run, at: now)
          return "begin"
        }
        do { try transaction.claim(id, run: run) } catch StoreError.fenced { return "not pending" }
        return "claim"
      }
    case 12, 13:
      return { transaction in
        guard let record = try transaction.request(id), let run = record.run else { return "nothing" }
        let began: WallTime? = record.state == .claimed ? now : nil
        try transaction.succeed(id, run: run, began: began, outcome: .noop, message: "m", at: now)
        try transaction.append(
          RunRecord(id: run, request: id, identifier: .sample("a"), attempt: 1, started: now, ended: now, outcome: .noop))
        return "succeed"
      }
    case 14:
      let policy = pick(Dependency.FailurePolicy.allCases)
      return { transaction in
        try transaction.insert([DependencyRecord(predecessor: other, onFailure: policy)], of: id)
        return "edge"
      }
    case 15: return { transaction in "\(try transaction.settleEdges(from: id, ended: .failed, output: [1]))" }
    case 16:
      let (key, until) = (pick(Self.keys), now + .milliseconds(number(0..<3000)))
      let submitter: TaskIdentifier? = chance(2) ? .sample("b") : nil
      return { transaction in
        try transaction.hold(key, identifier: .sample("a"), for: id, until: until)
        let known = KnownSubmission(fingerprint: 1, request: id, disposition: .kept, submitted: now)
        try transaction.remember(known, key: key, by: submitter)
        return "key \(try transaction.submissionCount(by: .sample("b"))) \(try transaction.windowCount(of: .sample("a"), now: now))"
      }
    case 17:
      let (value, key) = (chance(3) ? nil : [UInt8(number(0..<9))], pick(Self.keys))
      return { transaction in
        try transaction.setEventPayload(value, of: id)
        try transaction.setState(key, to: value, of: .sample("b"))
        return "payload"
      }
    case 18:
      let distance = Duration.milliseconds(number(-2000..<2000))
      return { transaction in
        try transaction.shiftBootTimes(by: distance)
        try transaction.shiftWaits(by: distance, passed: now)
        return "shift"
      }
    default:
      // With a lower limit it is each store's choice which keys are forgotten first.
      let (count, limit, age) = (Int(number(0..<6)), Int(number(4..<8)), Duration.milliseconds(number(0..<9000)))
      return { transaction in
        // Which lanes are looked at, and when, is each store's choice too.
        _ = try transaction.pruneLanes(limit: limit)
        return "prune \(try transaction.prune(before: now + (.zero - age), keeping: count, limit: limit))"
      }
    }
  }

  private mutating func record(_ sequence: Int64) -> RequestRecord {
    var record = RequestRecord.sample(
      sequence, origin: origin, identifier: pick(Self.identifiers), state: pick(RequestState.allCases.filter { $0 != .running }),
      due: chance(8) ? .distantFuture : .ms(clock + number(-2000..<2000)), priority: Int(number(-2..<3)),
      key: chance(4) ? pick(Self.keys) : nil, payload: chance(2) ? [UInt8(number(0..<9))] : [], tags: chance(2) ? ["t"] : [],
      every: chance(4) ? .milliseconds(number(1..<5000)) : nil)
    record.request.gates = pick([.none, .none, RunConstraints(conditions: [.network, .idle]), RunConstraints(concurrencyKey: "k")])
    record.request.deadline = chance(3) ? .ms(clock + number(-2000..<2000)) : nil
    record.request.clock = pick(DueClock.allCases)
    record.request.event = chance(6) ? EventTrigger(pick(Self.keys)) : nil
    record.isRelaxed = chance(4)
    record.attemptsSpent = Int(number(0..<4))
    record.missedLeft = Int(number(0..<2))
    record.ended = record.state.isFinal ? .ms(clock) : nil
    return record
  }

  // MARK: What they say

  func agree() throws -> Bool {
    let said = try stores.map { try says($0) }
    for (first, second) in zip(said[0], said[1]) where first != second {
      #expect(first == second)
      return false
    }
    return true
  }

  private func says(_ store: any RequestStore) throws -> [String] {
    let now = WallTime.ms(clock)
    var query = RequestQuery()
    query.limit = 100_000
    let records = try store.requests(query)
    var said = records.map { "\($0)" }
    said.append("\(try store.counts().sorted { $0.key.rawValue < $1.key.rawValue }) \(try store.highestSequence())")
    said += try store.runs(RunQuery()).map { "\($0)" }
    for onlyFailing in [false, true] { said += try store.schedules(limit: 1000, onlyFailing: onlyFailing).map { "\($0)" } }
    said += try store.scheduleSums().sorted { $0.key < $1.key }.map { "\($0)" }
    said.append("\(try store.deadLetters())")
    said.append("\(try store.overdue(by: now).map(\.due))")
    query.after = RequestID(sequence: sequence / 2, origin: origin)
    said.append("\(try store.requests(query).map(\.id.sequence))")
    said.append("\(try store.pendingRequests(of: Self.identifiers, after: nil))")
    try store.commit { transaction in
      for identifier in Self.identifiers {
        said.append(
          "\(identifier) \(try transaction.liveCount(of: identifier)) \(try transaction.waiting(of: identifier).map(\.id.sequence))")
        // Of several that are due first, any.
        said.append("\(try transaction.firstPending(of: identifier).map(\.due) as Any)")
        for key in Self.keys {
          said.append("\(key) \(try transaction.holder(of: key, identifier: identifier)?.id as Any)")
          said.append("\(try transaction.windowHolder(of: key, identifier: identifier, now: now) as Any)")
        }
      }
      for lane in try transaction.lanesWithPending().sorted(by: { "\($0)" < "\($1)" }) {
        said.append(
          "\(lane.identifier) \(lane.gates.conditions) \(lane.gates.concurrencyKey ?? "") \(try transaction.nextDue(in: lane) as Any)")
        for limit in [1, 3, 1000] { said.append("\(try transaction.due(in: lane, by: now, limit: limit))") }
      }
      for identifier in [nil] + Self.identifiers.map({ $0 }) {
        said.append(
          "\(try transaction.live(tagged: "t", identifier: identifier, after: nil, limit: 1000)) \(try transaction.failed(of: identifier))")
      }
      said.append("\(try transaction.running().map(\.id.sequence)) \(try transaction.claimed().map(\.id.sequence))")
      said.append("\(try transaction.nextDeadline() as Any)")
      said.append("\(try Set(transaction.pastDeadline(by: now, limit: 1000).map(\.id.sequence)).sorted())")
      said.append("\(try transaction.awaitedPredecessors().sorted())")
      said.append("\(try transaction.awaitedEvents())")
      said.append("\(try transaction.repeatingByCalendar().map(\.id.sequence).sorted())")
      for key in Self.keys {
        said.append("\(try transaction.waiting(forEvent: key).map(\.id.sequence))")
        for submitter in [nil, TaskIdentifier.sample("b")] {
          said.append("\(try transaction.submission(withKey: key, by: submitter) as Any)")
        }
      }
      for record in records { said.append("\(try transaction.edges(of: record.id)) \(try transaction.payload(of: record.id))") }
      for record in records {
        said.append("\(try transaction.dependants(of: record.id)) \(try transaction.output(of: record.id) as Any)")
      }
    }
    for record in records { said.append("\(try store.checkpoint(of: record.id) as Any)") }
    for key in Self.keys { said.append("\(try store.stateValue(key, of: .sample("b")) as Any)") }
    return said
  }
}
