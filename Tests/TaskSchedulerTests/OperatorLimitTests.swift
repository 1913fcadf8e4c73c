import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Limits of the operator") struct OperatorLimitTests {
  private func request(key: String? = nil, _ resources: [String: Int] = [:], _ identifier: TaskIdentifier = .sample()) -> TaskRequest {
    var request = TaskRequest(identifier: identifier)
    request.gates.concurrencyKey = key
    request.gates.resources = resources
    return request
  }

  @Test("runs of one key go on one at a time, of several keys side by side")
  func keys() throws {
    let world = try World.limited { _, _ in }
    let first = try world.submit(request(key: "a")).id
    let second = try world.submit(request(key: "a")).id
    let third = try world.submit(request(key: "b")).id
    #expect(world.begun == [first, third])
    let gate = try #require(world.core.explanation(of: try world.record(second), now: world.now).gates.first)
    #expect(gate.kind == "key_busy")
    #expect(gate.heldBy == [try #require(world.orders[first]?.run).description])
    try world.finish(first, .success)
    #expect(world.isRunning(second))
  }

  @Test("a key's limit is the operator's")
  func runsPerKey() throws {
    let world = try World.limited { _, limits in limits.runsPerKey = 3 }
    for _ in 0..<5 { _ = try world.submit(request(key: "a")) }
    #expect(world.begun.count == 3)
  }

  @Test("resources are counted over all plugins, and given back")
  func resources() throws {
    let world = try World.limited { policy, _ in policy.resources = ["gpu": 2] }
    let first = try world.submit(request(["gpu": 1])).id
    let second = try world.submit(request(["gpu": 1], World.other)).id
    let third = try world.submit(request(["gpu": 1])).id
    #expect(world.begun == [first, second])
    let gate = try #require(world.core.explanation(of: try world.record(third), now: world.now).gates.first)
    #expect(gate.kind == "resource" && gate.heldBy.count == 2)
    try world.finish(second, .failure)
    #expect(world.isRunning(third))
    let tooMuch = #expect(throws: RequestRefusal.self) { try world.submit(request(["gpu": 3])) }
    #expect(tooMuch?.message == "needs 3 of gpu, but its capacity is 2: raise it under [resources]")
    let unknown = #expect(throws: RequestRefusal.self) { try world.submit(request(["licence": 1])) }
    #expect(unknown?.message == "there is no resource \"licence\": define it under [resources], or as a label of a host under [fleet]")
  }

  @Test("a plugin's resources count for each of its runs")
  func pluginResources() throws {
    let world = try World.limited { policy, limits in
      policy.resources = ["disk": 1]
      limits.resources = ["disk": 1]
    }
    _ = try world.submit(request())
    _ = try world.submit(request())
    #expect(world.begun.count == 1)
  }

  @Test("a rate holds runs until the next permit, and why says until when")
  func rate() throws {
    let world = try World.limited { _, limits in limits.rate = try Rate("2/10s") }
    for _ in 0..<4 { _ = try world.submit(request()) }
    let free = try world.submit(request([:], World.other)).id
    #expect(world.begun.count == 3)
    #expect(world.isRunning(free))
    #expect(world.core.nextStart(now: world.now) == world.now + .seconds(10))
    try world.advance(.milliseconds(9999))
    #expect(world.begun.count == 3)
    try world.advance(.milliseconds(1))
    #expect(world.begun.count == 5)
  }

  @Test("a turn that was not committed took nothing")
  func undone() throws {
    let world = try World.limited { policy, limits in
      policy.resources = ["gpu": 1]
      limits.rate = try Rate("1/1h")
    }
    world.store.fail(with: .full("the test says so"))
    #expect(throws: (any Error).self) { try world.submit(request(key: "a", ["gpu": 1])) }
    world.store.fail(with: nil)
    let id = try world.submit(request(key: "a", ["gpu": 1])).id
    #expect(world.isRunning(id))
  }

  @Test("a quota of run time holds what is beyond it, and explains itself")
  func quota() throws {
    let world = try World.limited { _, limits in limits.quota = try RunQuota("10s/1h") }
    let first = try world.submit(request()).id
    world.now = world.now + .seconds(12)
    try world.turn { core, transaction in
      try core.end(try #require(world.orders[first]).run, .returned(.success, stop: nil), RunReport(), transaction, now: world.now)
    }
    let second = try world.submit(request()).id
    #expect(!world.isRunning(second))
    let gate = try #require(world.core.explanation(of: try world.record(second), now: world.now).gates.first)
    #expect(gate.kind == "quota")
    #expect(
      gate.sentence
        == "org.example.task has used 12 s of 10 s in the last 1 h; bucket active because fewer than 5 runs are known (1)")
    #expect(gate.remedy == "the quota in the table of org.example.task is raised")
    // The status says the same.
    let overview = world.core.overview(of: try #require(world.core.handlers[.sample()]), now: world.now)
    #expect(overview.throttle?.sentence == gate.sentence)
    #expect(overview.throttle?.until == gate.until)
    let opens = try #require(gate.until)
    try world.advance(to: opens)
    #expect(world.isRunning(second))
  }

  @Test("of two limits that hold a task, the status names the one that does so longest, as why does", arguments: [true, false])
  func twoLimits(_ isRateLonger: Bool) throws {
    let world = try World.limited { _, limits in
      limits.quota = try RunQuota(isRateLonger ? "10s/1h" : "10s/5h")
      limits.rate = try Rate("1/2h")
    }
    let first = try world.submit(request()).id
    world.now = world.now + .seconds(12)
    try world.turn { core, transaction in
      try core.end(try #require(world.orders[first]).run, .returned(.success, stop: nil), RunReport(), transaction, now: world.now)
    }
    let second = try world.submit(request()).id
    let explanation = world.core.explanation(of: try world.record(second), now: world.now)
    #expect(Set(explanation.gates.map(\.kind)) == ["quota", "rate"])
    let overview = world.core.overview(of: try #require(world.core.handlers[.sample()]), now: world.now)
    #expect(overview.throttle?.kind == (isRateLonger ? "rate" : "quota"))
    #expect(overview.throttle?.until == explanation.gates.compactMap(\.until).max())
  }

  @Test("a profile limits what the operator does not: every identifier, except those that need no quota and what people start")
  func profile() throws {
    var policy = SchedulingPolicy(maxConcurrentRuns: 64)
    let (free, own, started) = (TaskIdentifier.sample("org.example.free"), TaskIdentifier.sample("org.example.own"), World.other)
    var limits = PluginLimits()
    limits.hasNoQuota = true
    policy.limits[free] = limits
    limits = PluginLimits()
    limits.quota = try RunQuota("3h/1d")
    policy.limits[own] = limits
    policy.fill(from: .phone)
    #expect(policy.eventQuota == ThrottlingProfile.phone.eventQuota)
    let world = try World(
      policy, handlers: [.sample(runs: 8), .sample(free, runs: 30), .sample(own, runs: 8), .sample(started, kind: .continued, runs: 8)])
    let identifiers = [TaskIdentifier.sample(), free, own, started]
    // 20 min in one hour are allowed; a run that lasts uses them up.
    for identifier in identifiers { try world.submit(.sample(identifier)) }
    world.now = world.now + .seconds(1200)
    let waiting = try identifiers.map { try world.submit(.sample($0)).id }
    #expect(waiting.map { world.isRunning($0) } == [false, true, true, true])
    let gate = try #require(world.core.explanation(of: try world.record(waiting[0]), now: world.now).gates.first)
    #expect(
      gate.sentence
        == "org.example.task has used 20 min of 20 min in the last 1 h; bucket active because fewer than 5 runs are known (0)")
    #expect(gate.remedy?.hasSuffix("or is \"none\": this one is that of the profile phone") == true)
    // No more than twenty starts in a minute.
    for _ in 0..<19 { try world.submit(.sample(free)) }
    let held = try world.submit(.sample(free)).id
    #expect(try world.core.explanation(of: world.record(held), now: world.now).gates.map(\.kind) == ["rate"])
  }

  @Test("while a machine rests on battery, work waits for the windows of its idle stage; what people start, and deadlines, do not")
  func idleStages() throws {
    var policy = SchedulingPolicy()
    policy.idleStages = IdleStages()
    let started = World.other
    let world = try World(policy, handlers: [.sample(runs: 8), .sample(started, kind: .continued, runs: 8)])
    #expect(world.core.awaitedConditions(now: world.now) == .power)
    try world.set(.all.subtracting(.power))
    #expect(world.core.awaitedConditions(now: world.now) == [.power, .idle])
    let begin = world.now
    #expect(try world.isRunning(world.submit().id))
    try world.advance(to: begin + .seconds(300))
    let waiting = try world.submit().id
    #expect(!world.isRunning(waiting))
    #expect(try world.isRunning(world.submit(.sample(started)).id))
    let gate = try #require(world.core.explanation(of: try world.record(waiting), now: world.now).gates.first)
    #expect(gate.kind == "idle_stage")
    #expect(gate.sentence.hasPrefix("the machine has been idle on battery for 5 min (idle stage light): "))
    #expect((gate.since, gate.until) == (begin, begin + .seconds(600)))
    try world.advance(to: begin + .seconds(600))
    #expect(world.isRunning(waiting))
    // A deadline lifts it; so does external power.
    try world.advance(to: begin + .seconds(700))
    var urgent = TaskRequest.sample()
    urgent.deadline = world.now + .seconds(30)
    let (due, later) = (try world.submit(urgent).id, try world.submit().id)
    #expect(!world.isRunning(due))
    try world.advance(to: begin + .seconds(730))
    #expect(world.isRunning(due) && !world.isRunning(later))
    try world.set(.all)
    #expect(world.isRunning(later))
  }

  @Test("what a run used of a quota counts in the turn in which it ends")
  func quotaAtOnce() throws {
    let alone = try World.limited { _, limits in limits.quota = try RunQuota("10s/1h") }
    let only = try alone.submit(request()).id
    alone.now = alone.now + .seconds(12)
    let next = try alone.submit(request()).id
    try alone.finish(only, .success)
    #expect(!alone.isRunning(next))

    let world = try World.limited { _, limits in limits.quota = try RunQuota("10s/1h") }
    try world.submit(request())
    world.now = world.now + .seconds(6)
    let ids = try (0..<2).map { _ in try world.submit(request()).id }
    #expect(world.isRunning(ids[0]) && world.isRunning(ids[1]))
    world.now = world.now + .seconds(6)
    let waiting = try world.submit(request()).id
    #expect(!world.isRunning(waiting))
    for id in world.begun { try world.finish(id, .success) }
    #expect(!world.isRunning(waiting))
  }

  @Test("a low priority goes first once it has waited long enough")
  func ageing() throws {
    let world = try World()
    let blocker = try world.submit().id
    let low = try world.submit(.sample(priority: -10)).id
    world.now = world.now + .seconds(20 * 300 + 1)
    let high = try world.submit(.sample(priority: 10)).id
    try world.finish(blocker, .success)
    #expect(world.isRunning(low))
    try world.finish(low, .success)
    #expect(world.isRunning(high))
  }
}
