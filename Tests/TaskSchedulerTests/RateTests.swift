import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

/// A rate counts begins. A worker that must be launched first begins its runs long after they were handed to it.
@Suite("A rate counts begins") struct RateTests {
  private func request(_ identifier: TaskIdentifier = .sample(), key: String? = nil) -> TaskRequest {
    var request = TaskRequest(identifier: identifier)
    request.gates.concurrencyKey = key
    return request
  }

  @Test("no stretch of time as long as the rate has more begins than it allows, while each run begins late by another time")
  func window() throws {
    let world = try World.limited { _, limits in limits.rate = try Rate("5/3s") }
    world.beginsAtOnce = false
    var random = SeededGenerator(seed: 11)
    for _ in 0..<60 { try world.submit(request()) }
    var (begins, due): ([WallTime], [(at: WallTime, id: RequestID)]) = ([], [])
    var seen = 0
    while begins.count < 60 {
      for id in world.begun[seen...] { due.append((world.now + .milliseconds(Int.random(in: 0...2500, using: &random)), id)) }
      seen = world.begun.count
      due.sort { $0.at > $1.at }
      let times = [due.last?.at, world.core.nextTurn(now: world.now)].compactMap { $0 }
      let next = try #require(times.min())
      world.now = max(world.now, next)
      while let last = due.last, last.at <= world.now {
        due.removeLast()
        begins.append(world.now)
        try world.tellBegin(last.id)
        try world.finish(last.id, .success)
      }
      try world.turn()
    }
    for (index, begin) in begins.enumerated().dropFirst(5) { #expect(begin - begins[index - 5] >= .seconds(3)) }
    // And the rate is used: a launch that takes its time costs no more than that time.
    #expect(try #require(begins.last) <= .testStart + .seconds(12 * 6))
  }

  @Test("runs whose worker is being launched hold their places for as long as that takes, and count from their begin")
  func slowLaunch() throws {
    let world = try World.limited { _, limits in limits.rate = try Rate("2/10s") }
    world.beginsAtOnce = false
    let ids = try (0..<4).map { _ in try world.submit(request()).id }
    #expect(world.begun == Array(ids.prefix(2)))
    // Nothing happens by itself: the begin is waited for.
    #expect(world.core.nextStart(now: world.now) == nil)
    #expect(world.core.limits.awaitsBegins)
    try world.advance(.seconds(30))
    #expect(world.begun.count == 2)
    let gate = try #require(world.core.explanation(of: try world.record(ids[2]), now: world.now).gates.first)
    #expect(gate.kind == "rate" && gate.until == nil && gate.since == .testStart)
    let begin = world.now
    try world.tellBegin(ids[0])
    #expect(world.begun.count == 2)
    try world.tellBegin(ids[1])
    #expect(!world.core.limits.awaitsBegins)
    #expect(world.core.nextStart(now: world.now) == begin + .milliseconds(10_001))
    try world.advance(.milliseconds(10_000))
    #expect(world.begun.count == 2)
    try world.advance(.milliseconds(1))
    #expect(world.begun.count == 4)
  }

  @Test("a run that is given back frees its place at once, of the host, the plugin and the key")
  func givenBack() throws {
    let world = try World.limited { policy, limits in
      policy.rate = try Rate("1/1h")
      (limits.rate, limits.ratePerKey) = (try Rate("1/1h"), try Rate("1/1h"))
    }
    world.beginsAtOnce = false
    let id = try world.submit(request(key: "a")).id
    try world.submit(request(World.other))
    #expect(world.begun == [id])
    let first = try #require(world.orders[id]?.run)
    try world.giveBack(id)
    // It is the first in line again.
    #expect(world.begun == [id, id])
    #expect(world.orders[id]?.run != first)
  }

  @Test("a run that ends before its begin was told counts from its begin if its handler was called, and not at all if it was not")
  func untold() throws {
    let world = try World.limited { _, limits in limits.rate = try Rate("1/10s") }
    world.beginsAtOnce = false
    let ids = try (0..<4).map { _ in try world.submit(request()).id }
    world.now = world.now + .seconds(4)
    // Asked to stop before its worker was there.
    try world.finish(ids[0], .success)
    #expect(world.begun == Array(ids.prefix(2)))
    world.now = world.now + .seconds(4)
    var report = RunReport()
    report.began = world.now + .seconds(-1)
    try world.end(ids[1], .returned(.success, stop: nil), report)
    #expect(world.core.nextStart(now: world.now) == .testStart + .milliseconds(17_001))
    try world.advance(to: .testStart + .milliseconds(17_001))
    #expect(world.begun.count == 3)
    // A worker that ends may have begun it at any time until then.
    world.now = world.now + .seconds(2)
    try world.end(ids[2], .lost)
    #expect(world.core.nextStart(now: world.now) == world.now + .milliseconds(10_001))
  }

  @Test("a late begin is recorded: a host that is killed leaves no other word of it")
  func recorded() throws {
    let world = try World.limited { _, limits in limits.rate = try Rate("1/10s") }
    world.beginsAtOnce = false
    let id = try world.submit(request()).id
    world.now = world.now + .seconds(2)
    try world.tellBegin(id)
    #expect(try world.record(id).started == .testStart + .seconds(2))
    world.now = world.now + .seconds(1)
    #expect(try world.restart(handlers: []) == 1)
    let lost = try #require(try world.runs(id).first)
    #expect(lost.outcome == .lost && lost.started == .testStart + .seconds(2))
    var policy = SchedulingPolicy()
    policy.limits[.sample()] = PluginLimits()
    policy.limits[.sample()]?.rate = try Rate("1/10s")
    var book = LimitTracker(policy)
    book.restore([lost], now: world.now) { _ in nil }
    let lane = LaneState(gates: RunConstraints())
    var until: [WallTime?] = []
    _ = book.visitHolds(on: lane, of: .sample(), live: [], now: world.now) {
      until.append($0.until)
      return true
    }
    #expect(until == [.testStart + .milliseconds(12_100)])
  }

  @Test("only runs that a rate counts are to be told of")
  func told() throws {
    let world = try World.limited { _, limits in limits.ratePerKey = try Rate("1/10s") }
    let ids = [try world.submit(request()).id, try world.submit(request(World.other, key: "a")).id, try world.submit(request(key: "a")).id]
    #expect(ids.map { world.orders[$0]?.tellsBegin } == [false, false, true])
  }
}
