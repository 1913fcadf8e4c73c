import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("What is submitted is checked") struct SubmissionTests {
  private typealias Change = @Sendable (inout TaskRequest) -> Void

  private func request(_ change: Change) -> TaskRequest {
    var request = TaskRequest.sample()
    change(&request)
    return request
  }

  private static let long = String(repeating: "x", count: 257)

  private static let wrong: [(field: String, code: RequestRefusal.Code, change: Change)] = [
    ("payload", .tooBig, { $0.payload = [UInt8](repeating: 0, count: 65_537) }),
    ("deadline", .invalid, { ($0.earliestBegin, $0.deadline) = (.ms(2), .ms(1)) }),
    ("deadline", .invalid, { ($0.delay, $0.deadline) = (.milliseconds(2), .ms(1)) }),
    ("deadline", .invalid, { $0.deadline = .distantFuture }), ("earliest_begin", .invalid, { $0.earliestBegin = .distantFuture }),
    ("every_ms", .invalid, { $0.repetition = RepeatRule(every: .zero) }),
    ("every_ms", .invalid, { $0.repetition = RepeatRule(every: .seconds(Int64.max)) }),
    ("every_ms", .invalid, { ($0.event, $0.repetition) = (EventTrigger("e"), RepeatRule(every: .seconds(900))) }),
    ("cron", .invalid, { ($0.event, $0.repetition) = (EventTrigger("e"), RepeatRule(.cron(CronRule("* * * * *", timeZone: "UTC")))) }),
    ("every_event", .invalid, { $0.repetition = RepeatRule(.event) }), ("event", .invalid, { $0.event = EventTrigger("") }),
    ("watch", .invalid, { $0.event = EventTrigger("file:relative") }),
    ("debounce_ms", .invalid, { $0.event = EventTrigger("e", debounce: .seconds(-1)) }),
    ("missed_limit", .invalid, { $0.repetition = RepeatRule(.every(.seconds(900)), missed: .all(limit: 0, spread: .zero)) }),
    ("missed_spread_ms", .invalid, { $0.repetition = RepeatRule(.every(.seconds(900)), missed: .all(limit: 1, spread: .seconds(-1))) }),
    ("flex_ms", .invalid, { $0.gates.flex = .seconds(-1) }), ("conditions", .invalid, { $0.conditions = Conditions(rawValue: 1 << 20) }),
    ("window", .invalid, { $0.gates.window = "" }), ("concurrency_key", .invalid, { $0.gates.concurrencyKey = long }),
    ("prefer", .invalid, { $0.gates.prefer = "" }), ("prefer", .invalid, { $0.gates.prefer = long }),
    ("prefer", .invalid, { $0.gates.prefer = "é" }), ("resources.a", .invalid, { $0.gates.resources = ["a": 0] }),
    ("resources", .invalid, { $0.gates.resources = Dictionary(uniqueKeysWithValues: (0..<17).map { ("r\($0)", 1) }) }),
    ("retry.initial_ms", .invalid, { $0.retry = RetryPolicy(initial: .seconds(-1)) }),
    ("retry.attempts", .invalid, { $0.retry = RetryPolicy(attempts: 1001) }),
    ("unique_key", .invalid, { ($0.uniqueKey, $0.onConflict) = ("a\0b", .keep) }),
    ("concurrency_key", .invalid, { $0.gates.concurrencyKey = "a\0b" }), ("tags[0]", .invalid, { $0.tags = ["a\0b"] }),
    ("event", .invalid, { $0.event = EventTrigger("a\0b") }),
    ("retry.maximum_ms", .invalid, { $0.retry = RetryPolicy(maximum: .seconds(Int64.max)) }),
    ("unique_key", .invalid, { ($0.uniqueKey, $0.onConflict) = (long, .keep) }),
    ("unique_window_ms", .invalid, { $0.uniqueWindow = .seconds(1) }), ("tags[0]", .invalid, { $0.tags = [""] }),
  ]

  @Test("what is wrong is refused with its JSON name and a sentence, and nothing is stored")
  func refused() throws {
    let world = try World()
    for (field, code, change) in Self.wrong {
      let refusal = #expect(throws: RequestRefusal.self, "\(field)") { try world.submit(request(change)) }
      #expect(refusal?.field == field && refusal?.code == code, "\(field): \(refusal?.message ?? "")")
    }
    #expect(try world.store.counts().isEmpty)
  }

  @Test("what is taken otherwise than it was sent is noted")
  func notes() throws {
    let world = try World(SchedulingPolicy(minimumInterval: .seconds(900)), handlers: [.sample(runs: 9)])
    let past = try world.submit(request { $0.earliestBegin = .ms(-60_000) })
    #expect(past.notes == ["earliest_begin is 60 s in the past: it counts as now"] && past.nextStart == world.now)
    #expect(try world.submit(request { $0.earliestBegin = .ms(-5) }).notes.isEmpty)
    for passed: Int64 in [-1, 0] {
      let notes = try world.submit(request { $0.deadline = .ms(passed) }).notes
      #expect(notes == ["the deadline has already passed: only network and power count"])
    }
    #expect(try world.submit(request { $0.deadline = .ms(1) }).notes.isEmpty)
    let flexible = try world.submit(
      request {
        $0.repetition = RepeatRule(every: .seconds(60))
        $0.gates.flex = .seconds(3600)
      })
    #expect(
      flexible.notes == ["the interval was raised to minimum_interval, 900 s", "flex_ms was lowered to the interval, 900000 ms"])
    #expect(flexible.effective?.latestStart == world.now + .seconds(900))
    #expect(flexible.effective?.repetition == RepeatRule(every: .seconds(900)))
    #expect(try world.submit(request { $0.uniqueKey = "k" }).notes.count == 1)
  }

  @Test("of the sets of gates in which requests of an identifier wait there are so many, not more")
  func lanes() throws {
    let world = try World(SchedulingPolicy(maxPending: 10_000))
    func keyed(_ number: Int) -> TaskRequest { request { ($0.earliestBegin, $0.gates.concurrencyKey) = (.ms(60_000), "key\(number)") } }
    _ = try world.submit((0..<4096).map { keyed($0) })
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit(keyed(4096)) }
    #expect(refusal?.code == .limit && refusal?.field == "concurrency_key")
    #expect(try world.submit(keyed(17)).disposition == .created)
  }

  @Test("gates that differ in less than a millisecond are the same, also after a restart")
  func flex() throws {
    let world = try World(handlers: [.sample(runs: 8)])
    func flexible(_ flex: Duration) -> TaskRequest { request { ($0.earliestBegin, $0.gates.flex) = (.ms(1000), flex) } }
    _ = try world.submit([flexible(.zero), flexible(.microseconds(300)), flexible(.microseconds(1300)), flexible(.milliseconds(1))])
    try world.restart(handlers: [.sample(runs: 8)])
    try world.advance(.seconds(2))
    while let id = world.orders.keys.min() { try world.finish(id, .success) }
    #expect(try world.store.counts() == [.succeeded: 4])
  }
}
