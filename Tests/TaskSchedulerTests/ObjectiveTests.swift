import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Lateness objectives") struct ObjectiveTests {
  private static let task = TaskIdentifier.sample()

  private func policy(expect: Duration? = nil, start: Duration? = nil) -> SchedulingPolicy {
    var policy = SchedulingPolicy()
    var limits = PluginLimits()
    (limits.expectWithin, limits.startWithin) = (expect, start)
    policy.limits[Self.task] = limits
    return policy
  }

  private func state(_ world: World) throws -> ObjectiveState { try #require(world.core.objectives[Self.task]) }

  /// The next turn is at the moment, and only then.
  private func wakes(_ world: World, at time: WallTime) throws {
    try world.turn()
    #expect(world.core.nextTurn(now: world.now) == time)
    world.now = time + .milliseconds(-1)
    #expect(!world.core.hasDuty(now: world.now))
    world.now = time
    #expect(world.core.hasDuty(now: world.now))
    try world.turn()
    #expect(!world.core.hasDuty(now: world.now), "it is seen once")
  }

  @Test("a success of the fleet is missing once all of its hosts are known to have none, or once that is not known for a minute")
  func fleet() throws {
    let unknown = try World(policy(expect: .seconds(3600)))
    unknown.core.fleetSuccesses = ([Self.task], .ms(3_599_999))
    try wakes(unknown, at: .ms(3_660_000))
    #expect(try state(unknown).overdueSince == .ms(3_600_000))
    let known = try World(policy(expect: .seconds(3600)))
    known.core.fleetSuccesses = ([Self.task], .ms(3_600_000))
    try wakes(known, at: .ms(3_600_000))
    #expect(try state(known).overdueSince == .ms(3_600_000))
  }

  @Test("a success that does not come is missing from its moment on, found by the scheduler's clock; a success ends that")
  func overdue() throws {
    let world = try World(policy(expect: .seconds(3600)))
    try wakes(world, at: .ms(3_600_000))
    #expect(try state(world).overdueSince == .ms(3_600_000) && world.lastTurn.objectives.count == 1)
    let failed = try world.submit().id
    try world.finish(failed, .failure)
    #expect(try state(world).overdueSince != nil, "a failure is no success")
    let id = try world.submit().id
    try world.advance(.seconds(60))
    try world.finish(id, .success)
    #expect(try state(world).overdueSince == nil && state(world).lastSuccess == world.now && world.lastTurn.objectives.count == 1)
    try wakes(world, at: world.now + .seconds(3600))
    #expect(try state(world).overdueSince == world.now)
  }

  @Test(
    "without a success, the time counts from when the configuration first expected one, over restarts; after a restart, the last success counts"
  )
  func restarts() throws {
    let world = try World(policy(expect: .seconds(100_000)))
    for day in 1...2 {
      try world.advance(to: .ms(Int64(day) * 40_000_000))
      try world.restart()
      #expect(try state(world).countsFrom == .testStart && state(world).overdueSince == nil)
    }
    world.now = .ms(100_000_000)
    try world.restart()
    #expect(try state(world).overdueSince == .ms(100_000_000))
    try world.finish(world.submit().id, .noop)
    let success = world.now
    try world.advance(.seconds(50_000))
    try world.restart()
    #expect(try state(world).lastSuccess == success && state(world).overdueSince == nil)
  }

  @Test("a plugin that is gone has no success either")
  func gone() throws {
    let world = try World(policy(expect: .seconds(60)), handlers: [])
    try world.advance(.seconds(60))
    #expect(try state(world).overdueSince == .ms(60_000))
  }

  @Test("a calendar that is set back gives no more time than from now")
  func setBack() throws {
    let world = try World(policy(expect: .seconds(60)))
    world.now = .ms(-1_000_000)
    try world.restart()
    #expect(try state(world).countsFrom == .ms(-1_000_000))
    try world.advance(.seconds(60))
    #expect(try state(world).overdueSince != nil)
  }

  @Test("a request that has not begun in time is late, whatever holds it, until it begins or is cancelled", arguments: [true, false])
  func late(_ begins: Bool) throws {
    let world = try World(policy(start: .seconds(300)))
    try world.set([])
    let id = try world.submit(TaskRequest(identifier: Self.task, earliestBegin: .ms(10_000), conditions: [.power])).id
    #expect(world.core.nextTurn(now: world.now) == .ms(310_000))
    try world.advance(to: .ms(20_000))
    try wakes(world, at: .ms(310_000))
    #expect(try state(world).lateSince == .ms(10_000))
    let sentences = world.core.explanation(of: try world.record(id), now: world.now).expectations
    #expect(sentences == ["it is to begin within 5 min of its time: it is late by 5 min"])
    if begins { try world.set(.power) } else { try world.cancel(id) }
    try world.turn()
    #expect(try state(world).lateSince == nil && world.isRunning(id) == begins)
  }

  @Test("what is paused is neither overdue nor late while the pause lasts; when it ends, the time counts anew, over restarts")
  func paused() throws {
    let world = try World(policy(expect: .seconds(60), start: .seconds(60)))
    let order = PauseOrder(filter: "identifier:\(Self.task)", by: "a", until: .ms(500_000))
    _ = try world.turn { core, transaction in try core.pause(order, transaction, now: world.now) }
    try world.submit()
    #expect(world.core.nextTurn(now: world.now) == .ms(500_000))
    try world.advance(to: .ms(499_999))
    #expect(try state(world).overdueSince == nil && state(world).lateSince == nil)
    try world.advance(to: .ms(500_000))
    #expect(try state(world).overdueSince == nil && state(world).lateSince == nil, "it began")
    try world.restart()
    #expect(try state(world).expected == .ms(560_000))
    try wakes(world, at: .ms(560_000))
    #expect(try state(world).overdueSince == .ms(560_000))
  }

  @Test("what waited during a pause is late only when it has not begun in time after it; other pauses change nothing")
  func resumed() throws {
    let world = try World(policy(start: .seconds(60)))
    try world.set([])
    let shut = PauseOrder(filter: "identifier:\(Self.task)", by: "a", until: .ms(500_000))
    let other = PauseOrder(filter: "identifier:org.example.else", by: "a", until: .ms(530_000))
    for order in [shut, other] { _ = try world.turn { core, transaction in try core.pause(order, transaction, now: world.now) } }
    try world.submit(TaskRequest(identifier: Self.task, conditions: [.power]))
    try world.advance(to: .ms(500_000))
    #expect(try state(world).lateSince == nil)
    try world.advance(to: .ms(559_999))
    #expect(try state(world).lateSince == nil)
    try world.advance(to: .ms(560_000))
    #expect(try state(world).lateSince == .testStart)
  }

  @Test("why says what is expected, when the last success was, and by how much it is overdue")
  func why() throws {
    let world = try World(policy(expect: .seconds(3600)))
    let id = try world.submit(.sample(begin: .ms(90_000_000))).id
    func expectations() throws -> [String] { world.core.explanation(of: try world.record(id), now: world.now).expectations }
    try world.advance(.seconds(600))
    #expect(try expectations() == ["a success is expected within 60 min: there was none in 10 min"])
    try world.advance(.seconds(4000))
    #expect(try expectations() == ["a success is expected within 60 min: there was none in 76 min, so it is overdue by 16 min"])
  }

  @Test("what is no longer expected is forgotten, so that it counts anew later")
  func forgotten() throws {
    let world = try World(policy(expect: .seconds(60)))
    #expect(try world.store.commit { try $0.objectives() } == [Self.task: .testStart])
    let core = SchedulerCore(
      policy: SchedulingPolicy(), origin: world.store.origin, lastSequence: try world.store.highestSequence(), now: world.now)
    try world.store.commit { try core.loadObjectives($0, now: world.now) }
    #expect(try world.store.commit { try $0.objectives() } == [:] && core.objectives.isEmpty)
  }
}
