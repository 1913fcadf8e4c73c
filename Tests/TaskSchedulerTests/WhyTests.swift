import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

/// Why a request waits, and when it starts: the start that was named is the start that happens.
@Suite("Why") struct WhyTests {
  private static let other = TaskIdentifier.sample("org.example.other")
  /// How long runs take.
  private static let usual: [TaskIdentifier: Duration] = [.sample(): .seconds(7), other: .seconds(11)]

  private struct Case: Sendable, CustomTestStringConvertible {
    let kind: String
    var place: Int?
    let runs: Int
    let policy: @Sendable (inout SchedulingPolicy) throws -> Void
    /// Brings the world to where the request waits that it returns.
    let act: @Sendable (World) throws -> RequestID
    var testDescription: String { kind }

    init(
      _ kind: String, place: Int? = nil, runs: Int = 8, policy: @escaping @Sendable (inout SchedulingPolicy) throws -> Void = { _ in },
      act: @escaping @Sendable (World) throws -> RequestID
    ) {
      (self.kind, self.place, self.runs, self.policy, self.act) = (kind, place, runs, policy, act)
    }
  }

  private static func request(
    _ identifier: TaskIdentifier = .sample(), _ change: (inout TaskRequest) -> Void = { _ in }
  ) -> TaskRequest {
    var request = TaskRequest(identifier: identifier)
    change(&request)
    return request
  }

  private static func limited(_ change: @escaping @Sendable (inout PluginLimits) throws -> Void)
    -> @Sendable (inout SchedulingPolicy) throws
    -> Void
  {
    { policy in
      var limits = PluginLimits()
      try change(&limits)
      policy.limits[.sample()] = limits
    }
  }

  @Sendable private static func night(_ policy: inout SchedulingPolicy) throws {
    policy.windows["night"] = try MaintenanceWindow(from: "02:00", to: "03:00", zone: policy.timeZones("UTC"))
  }

  private static let times: [Case] = [
    Case("time") { try $0.submit(request { $0.earliestBegin = .testStart + .seconds(100) }).id },
    Case("time", runs: 1) { world in
      // It is due when the plugin has a run that began before.
      try world.submit(request { $0.earliestBegin = .testStart + .seconds(95) })
      return try world.submit(request { $0.earliestBegin = .testStart + .seconds(100) }).id
    },
    Case("backoff") { world in
      let id = try world.submit(request()).id
      world.now = world.now + .seconds(3)
      try world.finish(id, .retry)
      return id
    },
    Case("window", policy: night) { try $0.submit(request { $0.gates.window = "night" }).id },
    Case("window", policy: night) { world in
      try world.submit(request { ($0.gates.window, $0.deadline) = ("night", .testStart + .seconds(1800)) }).id
    },
    Case("standing") { world in
      let id = try world.submit(request()).id
      try world.end(id, .crashed)
      return try world.submit(request()).id
    },
    Case("predecessor") { world in
      let first = try world.submit(request()).id
      return try world.submit(request { $0.after = [Dependency(.request(first))] }).id
    },
  ]

  private static let machine: [Case] = [
    Case("conditions") { world in
      try world.set(Conditions.all.subtracting(.power), settles: world.now + .seconds(20))
      return try world.submit(request { $0.gates.conditions = .power }).id
    },
    Case("conditions") { world in
      try world.set(Conditions.all.subtracting(.idle))
      return try world.submit(request { ($0.gates.conditions, $0.deadline) = ([.idle, .network], .testStart + .seconds(60)) }).id
    },
    Case("conditions") { world in
      // The deadline lifts one of them, and the other holds later.
      try world.set(Conditions.all.subtracting([.idle, .network]), settles: world.now + .seconds(90))
      return try world.submit(request { ($0.gates.conditions, $0.deadline) = ([.idle, .network], .testStart + .seconds(60)) }).id
    },
  ]

  private static let slots: [Case] = [
    Case("plugin_busy", place: 4, runs: 2) { world in
      // Two of these begin. The two others, and the one with the priority, go before it.
      for _ in 0..<4 { try world.submit(request()) }
      let id = try world.submit(request()).id
      try world.submit(request { $0.priority = 1 })
      try world.submit(request())
      world.now = world.now + .seconds(2)
      return id
    },
    Case("host_busy", place: 2, policy: { $0.maxConcurrentRuns = 2 }) { world in
      try world.submit(request())
      try world.submit(request(other))
      try world.submit(request(other))
      return try world.submit(request()).id
    },
    Case("key_busy", place: 2) { world in
      for _ in 0..<2 { try world.submit(request { $0.gates.concurrencyKey = "k" }) }
      try world.submit(request { $0.gates.concurrencyKey = "l" })
      return try world.submit(request { $0.gates.concurrencyKey = "k" }).id
    },
    Case("resource", place: 2, policy: { $0.resources = ["gpu": 1] }) { world in
      try world.submit(request { $0.gates.resources = ["gpu": 1] })
      try world.submit(request(other) { $0.gates.resources = ["gpu": 1] })
      return try world.submit(request { $0.gates.resources = ["gpu": 1] }).id
    },
  ]

  private static let rates: [Case] = [
    Case("rate", place: 2, policy: limited { $0.rate = try Rate("1/10s") }) { world in
      // The request of the other plugin starts before it, but does not wait for this rate.
      try world.set(Conditions.all.subtracting(.power), settles: world.now + .seconds(5))
      try world.submit(request(other) { $0.gates.conditions = .power })
      for _ in 0..<2 { try world.submit(request()) }
      return try world.submit(request()).id
    },
    Case("rate", place: 4, policy: limited { $0.rate = try Rate("2/10s") }) { world in
      for _ in 0..<5 { try world.submit(request()) }
      return try world.submit(request()).id
    },
    // Further away than is looked at first.
    Case("rate", place: 4, policy: limited { $0.rate = try Rate("1/1h") }) { world in
      for _ in 0..<4 { try world.submit(request()) }
      return try world.submit(request()).id
    },
    Case("rate", place: 3, policy: { $0.rate = try Rate("3/1m") }) { world in
      for _ in 0..<2 { try world.submit(request()) }
      for _ in 0..<3 { try world.submit(request(other)) }
      return try world.submit(request()).id
    },
    Case("rate", place: 2, policy: limited { ($0.ratePerKey, $0.runsPerKey) = (try Rate("1/30s"), 9) }) { world in
      for _ in 0..<2 { try world.submit(request { $0.gates.concurrencyKey = "k" }) }
      return try world.submit(request { $0.gates.concurrencyKey = "k" }).id
    },
    // The runs that go on use the quota up; the first that is let in uses it up again.
    Case("quota", place: 2, runs: 1, policy: limited { $0.quota = try RunQuota("5s/1m") }) { world in
      let first = try world.submit(request()).id
      world.now = world.now + .seconds(7)
      try world.finish(first, .success)
      try world.submit(request())
      return try world.submit(request()).id
    },
    Case("quota", place: 1, policy: limited { $0.quota = try RunQuota("5s/1h") }) { world in
      let first = try world.submit(request()).id
      world.now = world.now + .seconds(7)
      try world.finish(first, .success)
      return try world.submit(request { $0.deadline = .testStart + .seconds(60) }).id
    },
  ]

  @Test("the start that is named is the start that happens, and each gate says since when", arguments: times + machine + slots + rates)
  private func named(_ test: Case) throws {
    var policy = SchedulingPolicy(retry: RetryPolicy(initial: .seconds(30)))
    try test.policy(&policy)
    let world = try World(policy, handlers: [.sample(runs: test.runs), .sample(Self.other, runs: 8)])
    try world.set(.all)
    let id = try test.act(world)
    let explanation = try Self.why(world, id)
    #expect(explanation.gates.contains { $0.kind == test.kind }, "\(explanation.gates)")
    #expect(explanation.gates.allSatisfy { $0.since.map { $0 <= world.now } ?? false }, "\(explanation.gates)")
    #expect(Set(explanation.gates.map(\.kind)).count == explanation.gates.count)
    #expect(explanation.place == test.place)
    let named = try #require(explanation.earliestStart)
    #expect(named > world.now)
    #expect(try Self.start(of: id, world) == named)
  }

  @Test("where something must happen first, nobody knows the start, but each gate says since when")
  func unknown() throws {
    let world = try World(SchedulingPolicy(permitted: [try IdentifierPattern("org.example.absent"), try IdentifierPattern("org.*")]))
    try world.set(Conditions.all.subtracting(.network))
    var waiting: [RequestID] = []
    waiting.append(try world.submit(Self.request { $0.event = EventTrigger("mail") }).id)
    waiting.append(try world.submit(Self.request(.sample("org.example.absent"))).id)
    waiting.append(try world.submit(Self.request { $0.gates.conditions = .network }).id)
    let late = Self.request { ($0.gates.conditions, $0.deadline) = (.network, .testStart + .seconds(60)) }
    waiting.append(try world.submit(late).id)
    world.core.suspend(.sample(), "a thread is still in its hands", now: world.now)
    waiting.append(try world.submit(Self.request()).id)
    world.now = world.now + .seconds(5)
    let kinds = try waiting.map { id -> Set<String> in
      let explanation = try Self.why(world, id)
      #expect(explanation.earliestStart == nil && explanation.place == nil)
      #expect(explanation.gates.allSatisfy { $0.since == .testStart }, "\(explanation.gates)")
      return Set(explanation.gates.map(\.kind))
    }
    #expect(kinds == [["event", "suspended"], ["no_handler"], ["conditions", "suspended"], ["conditions", "suspended"], ["suspended"]])
  }

  @Test("a rate that holds a request for the host, the plugin and the key is one gate")
  func severalRates() throws {
    var policy = SchedulingPolicy()
    policy.rate = try Rate("1/1m")
    policy.limits[.sample()] = PluginLimits()
    policy.limits[.sample()]?.rate = try Rate("1/1h")
    let world = try World(policy, handlers: [.sample(runs: 8)])
    try world.submit()
    let id = try world.submit().id
    let explanation = try Self.why(world, id)
    #expect(explanation.gates.map(\.kind) == ["rate"])
    #expect(explanation.gates[0].sentence == "the host's rate limit of 1/1m and the plugin's rate limit of 1/1h is used up")
    #expect(explanation.earliestStart == .testStart + .seconds(3600))
  }

  @Test("a run in front that has taken longer than usual is taken to go on for as long again, within its budget, and that is said")
  func late() throws {
    // Its budget is 30 s, its usual time 7 s.
    for (elapsed, named) in [(3, 7), (10, 20), (28, 30)] {
      let world = try World(handlers: [.sample(runs: 1)])
      try world.submit()
      let ids = try (0..<2).map { _ in try world.submit().id }
      world.now = world.now + .seconds(elapsed)
      let explanations = try ids.map { try Self.why(world, $0) }
      let first = WallTime.testStart + .seconds(named)
      #expect(explanations.map(\.earliestStart) == [first, first + .seconds(7)])
      let assumption = "a run that has taken longer than usual goes on for as long again, within its budget"
      for explanation in explanations { #expect(explanation.assumptions.contains(assumption) == (elapsed > 7)) }
    }
  }

  @Test("where too much comes before it to be worked through, what waits for its time alone has that time, and that is said")
  func tooMuch() throws {
    let world = try World(SchedulingPolicy(minimumInterval: .seconds(1)), handlers: [.sample(runs: 1), .sample(Self.other, runs: 8)])
    try world.submit(Self.request { $0.repetition = RepeatRule(every: .seconds(1)) })
    let id = try world.submit(Self.request(Self.other) { $0.earliestBegin = .testStart + .seconds(30 * 86_400) }).id
    let explanation = try Self.why(world, id)
    #expect(explanation.earliestStart == .testStart + .seconds(30 * 86_400))
    #expect(explanation.assumptions == ["its plugin and the host have a free slot then: too much comes before it to work that out"])
  }

  @Test("what falls due before a start that is more than an hour away counts too")
  func laterWork() throws {
    let world = try World(handlers: [.sample(runs: 1)])
    for _ in 0..<520 { try world.submit() }
    let id = try world.submit(.sample(priority: -10)).id
    try world.submit(Self.request { ($0.priority, $0.earliestBegin) = (10, .testStart + .seconds(3610)) })
    let named = try #require(try Self.why(world, id).earliestStart)
    #expect(named == .testStart + .seconds(521 * 7))
    #expect(try Self.start(of: id, world) == named)
  }

  @Test("a condition that is not observed before a request is due does not make its start unknown; one that does not hold does")
  func unobserved() throws {
    let world = try World()
    var report = ConditionReport(
      states: Conditions.named.map { ConditionState(condition: $1, holds: false, since: world.now, observed: "") })
    for index in report.states.indices { report.states[index].isWatched = false }
    world.core.conditions = report
    let id = try world.submit(Self.request { ($0.gates.conditions, $0.earliestBegin) = (.network, .testStart + .seconds(60)) }).id
    let explanation = try Self.why(world, id)
    #expect(explanation.earliestStart == .testStart + .seconds(60))
    #expect(explanation.assumptions == ["conditions stay as they are"])
    func sentence() throws -> String? { try Self.why(world, id).gates.first { $0.kind == "conditions" }?.sentence }
    #expect(try sentence() == "network is not known yet: it is observed while a request that is due waits for it")
    for index in report.states.indices { (report.states[index].isOverridden, report.states[index].observed) = (true, "overridden") }
    world.core.conditions = report
    #expect(try sentence() == "network does not hold: overridden")
    for index in report.states.indices { (report.states[index].isOverridden, report.states[index].isWatched) = (false, true) }
    world.core.conditions = report
    #expect(try Self.why(world, id).earliestStart == nil)
  }

  // MARK: What happens

  private static func why(_ world: World, _ id: RequestID) throws -> RequestExplanation {
    let record = try world.record(id)
    let explanation = world.core.explanation(
      of: record, edges: try world.store.edges(of: id), lastEnded: try world.runs(id).last?.ended, now: world.now)
    return try ForecastBasis(world.core, now: world.now).complete(explanation, of: record) { to in
      var query = RequestQuery()
      (query.states, query.dueBy, query.limit) = ([.blocked, .pending, .running], to, 1000)
      return ForecastQueue(try world.store.requests(query), durations: usual)
    }
  }

  /// Lets time pass until the request begins; runs take their usual time and succeed, and conditions settle.
  private static func start(of id: RequestID, _ world: World) throws -> WallTime? {
    for _ in 0..<1000 {
      if world.isRunning(id) { return world.now }
      let ends = world.core.live.values.map {
        (at: max(world.now + .milliseconds(1), $0.started + (usual[$0.identifier] ?? .zero)), entry: $0)
      }
      let settles = world.core.conditions?.states.compactMap(\.settlesAt).min()
      guard let next = [world.core.nextTurn(now: world.now), ends.map(\.at).min(), settles].compactMap({ $0 }).min() else { return nil }
      world.now = max(world.now + .milliseconds(1), next)
      if let settles, settles <= world.now { try world.set(.all) }
      for end in ends.sorted(by: { $0.entry.run < $1.entry.run }) where end.at <= world.now {
        try world.finish(end.entry.request, .success)
      }
      try world.turn()
    }
    return nil
  }
}
