import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Conditions of the machine") struct ConditionTests {
  private func request(_ conditions: Conditions, _ lost: LostConditionPolicy = .stop, key: String? = nil) -> TaskRequest {
    var request = TaskRequest(identifier: .sample(), conditions: conditions)
    request.gates.onLostCondition = lost
    request.gates.concurrencyKey = key
    return request
  }

  @Test("a request waits for all of its conditions, and begins when the last one holds", arguments: Conditions.named.map(\.condition))
  func waits(_ condition: Conditions) throws {
    let world = try World()
    try world.set([])
    let id = try world.submit(request([condition])).id
    #expect(!world.isRunning(id))
    #expect(world.core.awaitedConditions(now: world.now) == condition)
    try world.set(Conditions.all.subtracting(condition))
    #expect(!world.isRunning(id))
    try world.set(condition)
    #expect(world.isRunning(id))
  }

  @Test("a run stops when a condition is known to be lost, not when nothing is known of it")
  func unread() throws {
    let world = try World()
    try world.set(.all)
    let id = try world.submit(request([.network, .power])).id
    #expect(try world.set(.network, unread: .power).isEmpty)
    #expect(try world.set(.network) == [try #require(world.orders[id]?.run)])
  }

  @Test("one that is held keeps nobody behind it from running")
  func noHeadOfLine() throws {
    let world = try World(handlers: [.sample(runs: 8)])
    try world.set([])
    for _ in 0..<50 { _ = try world.submit(request([.power])) }
    let free = try world.submit().id
    #expect(world.begun == [free])
  }

  @Test("why says which one, since when, and what was seen")
  func why() throws {
    let world = try World()
    try world.set([.network], settles: .ms(5000))
    let id = try world.submit(request([.network, .power])).id
    let explanation = world.core.explanation(of: try world.record(id), now: world.now)
    let gate = try #require(explanation.gates.first)
    #expect(explanation.gates.count == 1)
    #expect(gate.kind == "conditions")
    #expect(gate.sentence == "power does not hold: power as the test says")
    #expect(gate.since == .testStart)
    #expect(explanation.earliestStart == .ms(5000))
    #expect(explanation.wouldRunIf == ["power holds: see taskhost conditions show"])
  }

  @Test("a run that lost a condition is asked to stop, or goes on if its request says so")
  func lost() throws {
    let world = try World(handlers: [.sample(runs: 2)])
    try world.set(.all)
    let stops = try world.submit(request([.network])).id
    let goesOn = try world.submit(request([.network], .finish)).id
    #expect(world.core.awaitedConditions(now: world.now) == .network)
    let stopped = try world.set(Conditions.all.subtracting(.network))
    #expect(stopped == [try #require(world.orders[stops]?.run)])
    try world.finish(stops, .retry, stop: .conditions)
    let record = try world.record(stops)
    #expect((record.state, record.attemptsSpent, record.lastOutcome) == (.pending, 0, .stopped))
    #expect(!world.isRunning(stops))
    try world.finish(goesOn, .success)
    #expect(try world.record(goesOn).state == .succeeded)
    try world.set(.all)
    #expect(world.isRunning(stops))
  }

  @Test("nobody who is not due makes the host watch a condition")
  func interest() throws {
    let world = try World()
    try world.set([])
    var later = request([.idle])
    later.earliestBegin = .ms(60_000)
    _ = try world.submit(later)
    #expect(world.core.awaitedConditions(now: world.now) == [])
    try world.advance(.seconds(60))
    #expect(world.core.awaitedConditions(now: world.now) == .idle)
  }

  @Test("a maintenance window holds its requests until it opens")
  func window() throws {
    var policy = SchedulingPolicy()
    policy.windows["night"] = try .init(from: "01:00", to: "05:00", zone: try policy.timeZones("UTC"))
    let world = try World(policy)
    var night = TaskRequest(identifier: .sample())
    night.gates.window = "night"
    let id = try world.submit(night).id
    #expect(world.core.nextStart(now: world.now) == .utc("2026-01-01T01:00:00Z"))
    #expect(world.core.explanation(of: try world.record(id), now: world.now).earliestStart == .utc("2026-01-01T01:00:00Z"))
    try world.advance(to: .utc("2026-01-01T01:00:00Z"))
    #expect(world.isRunning(id))
    try world.finish(id, .success)
    world.now = .utc("2026-01-01T05:00:00Z")
    let second = try world.submit(night).id
    #expect(world.core.nextStart(now: world.now) == .utc("2026-01-02T01:00:00Z"))
    #expect(!world.isRunning(second))
    var unknown = night
    unknown.gates.window = "day"
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit(unknown) }
    #expect(refusal?.message == "there is no maintenance window \"day\": the configuration has \"night\"")
  }
}
