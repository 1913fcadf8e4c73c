import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Runs that are recorded ahead") struct AheadTests {
  private static var policy: SchedulingPolicy {
    var policy = SchedulingPolicy()
    policy.claimAhead = .milliseconds(5)
    return policy
  }

  // MARK: Ahead of their time

  @Test("what is due in 3 ms is recorded as started at its time, and its order is held until then")
  func held() throws {
    let world = try World(Self.policy)
    let id = try world.submit(.sample(begin: .ms(3))).id
    #expect(world.held == [id: .ms(3)])
    #expect(world.begun.isEmpty)
    let record = try world.record(id)
    #expect(record.state == .running)
    #expect(record.started == .ms(3))
    world.now = .ms(4)
    try world.finish(id, .success)
    #expect(try world.runs(id).map(\.started) == [.ms(3)])
  }

  @Test("what is due later than that waits, and the next turn is that much earlier")
  func later() throws {
    let world = try World(Self.policy)
    let id = try world.submit(.sample(begin: .ms(100))).id
    #expect(!world.isRunning(id))
    #expect(world.core.nextStart(now: world.now) == .ms(95))
    try world.advance(.milliseconds(94))
    #expect(!world.isRunning(id))
    try world.advance(.milliseconds(1))
    #expect(world.held == [id: .ms(100)])
  }

  @Test("what is due goes before what will be, when there is one slot")
  func dueFirst() throws {
    let world = try World(Self.policy)
    let running = try world.submit().id
    let soon = try world.submit(.sample(begin: .ms(1003))).id
    let due = try world.submit(.sample(begin: .ms(999))).id
    world.now = .ms(1000)
    try world.finish(running, .success)
    #expect(world.begun == [running, due])
    #expect(!world.isRunning(soon))
  }

  @Test("one that is given back before its time is pending again, no attempt spent, and its run does not end before it started")
  func givenBack() throws {
    let world = try World(Self.policy)
    let id = try world.submit(.sample(begin: .ms(5))).id
    world.core.isDraining = true
    try world.finish(id, .retry, stop: .draining)
    #expect(try world.record(id).state == .pending)
    #expect(try world.record(id).attemptsSpent == 0)
    let run = try #require(try world.runs(id).first)
    #expect(run.started <= run.ended ?? .testStart)
  }

  // MARK: Beyond the slots of a handler

  /// A world where the handler's runs take `took`, and `count` more requests are due.
  private func busy(_ took: Duration?, slots: Int = 1, hostSlots: Int = 16, count: Int = 200) throws -> World {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: hostSlots), handlers: [.sample(runs: slots)])
    let first = try world.submit().id
    try world.finish(first, .success, took: took)
    try world.turn { core, transaction in
      for _ in 0..<count { _ = try core.submit(.sample(), transaction, now: world.now) }
    }
    return world
  }

  @Test(
    "a handler of short runs is given more than its slots, never more than 112 ahead",
    arguments: [
      (Duration.microseconds(1), 1, 113), (.microseconds(17), 1, 113), (.microseconds(200), 1, 11), (.microseconds(200), 2, 22),
      (.microseconds(1999), 1, 2), (.zero, 4, 116),
    ])
  func short(_ took: Duration, _ slots: Int, _ given: Int) throws {
    let world = try busy(took, slots: slots)
    #expect(world.orders.count == given)
    #expect(world.core.occupiedSlots == slots)
  }

  @Test(
    "one whose runs are long, or of which nothing is known, is given its slots", arguments: [Duration.milliseconds(2), .seconds(3), nil])
  func long(_ took: Duration?) throws {
    #expect(try busy(took, slots: 3).orders.count == 3)
  }

  @Test("one long run ends the privilege at once")
  func longOnce() throws {
    let world = try busy(.microseconds(200))
    #expect(world.orders.count == 11)
    let id = try #require(world.orders.keys.first)
    try world.finish(id, .success, took: .milliseconds(30))
    #expect(world.orders.count == 10)
  }

  @Test("slots of the host are counted by what can run at once: another handler finds one free")
  func hostSlots() throws {
    let other = TaskIdentifier.sample("org.example.other")
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 2), handlers: [.sample(), .sample(other)])
    let first = try world.submit().id
    try world.finish(first, .success, took: .microseconds(200))
    try world.turn { core, transaction in
      for _ in 0..<100 { _ = try core.submit(.sample(), transaction, now: world.now) }
    }
    #expect(world.orders.count == 11)
    #expect(world.core.occupiedSlots == 1)
    let id = try world.submit(.sample(other)).id
    #expect(world.isRunning(id))
    #expect(world.core.occupiedSlots == 2)
  }

  @Test("all that were given ahead are run once each, in order, and the counters are back at none")
  func drainsAll() throws {
    let world = try busy(.microseconds(20), slots: 2)
    while let id = world.orders.keys.min() {
      #expect(world.orders.count <= 2 + 112)
      try world.finish(id, .success, took: .microseconds(20))
    }
    #expect(Set(world.begun).count == 201)
    #expect(world.begun.count == 201)
    #expect(world.core.occupiedSlots == 0)
    #expect(world.core.handlers[.sample()]?.running == 0)
  }

  @Test("beyond its slots a handler is given nothing ahead of its time")
  func notBoth() throws {
    let world = try World(Self.policy)
    let first = try world.submit().id
    try world.finish(first, .success, took: .microseconds(20))
    let running = try world.submit().id
    let soon = try world.submit(.sample(begin: .ms(3))).id
    #expect(world.isRunning(running))
    #expect(!world.isRunning(soon))
    #expect(world.core.nextStart(now: world.now) == .ms(3))
    try world.advance(.milliseconds(3))
    #expect(world.begun == [first, running, soon])
  }
}
