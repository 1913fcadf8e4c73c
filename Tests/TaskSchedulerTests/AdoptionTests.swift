import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A plan that is put in force") struct AdoptionTests {
  private static let a = TaskIdentifier.sample("org.example.a")
  private static let b = TaskIdentifier.sample("org.example.b")
  private static let both = [HandlerContract.sample(a, runs: 8), HandlerContract.sample(b, runs: 8)]
  private let full = StoreError.full("no space left")

  private func schedule(_ identifier: TaskIdentifier = a) -> ScheduleName { ScheduleName(identifier) }

  private func holder(_ world: World, _ identifier: TaskIdentifier = a) throws -> RequestRecord? {
    try world.store.commit { try $0.holders(ofKeysBeginningWith: TaskRequest.scheduleKeyPrefix) }
      .first { $0.request.identifier == identifier && !$0.state.isFinal }
  }

  @Test("slots: live runs keep theirs, also beyond a lower limit; what waits begins at once if there are more")
  func slots() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 2), handlers: Self.both)
    let ids = try (0..<5).map { _ in try world.submit(.sample(Self.a)).id }
    #expect(world.begun == [ids[0], ids[1]])
    try world.adopt(SchedulingPolicy(maxConcurrentRuns: 1), handlers: Self.both)
    #expect(world.core.occupiedSlots == 2 && world.core.handlers[Self.a]?.running == 2)
    try world.finish(ids[0], .success)
    #expect(world.begun.count == 2, "one slot, and it is taken")
    try world.adopt(SchedulingPolicy(maxConcurrentRuns: 4), handlers: Self.both)
    #expect(world.begun == ids)
    for id in ids.dropFirst() { try world.finish(id, .success) }
    #expect(world.core.occupiedSlots == 0)
  }

  @Test("a handler's own limit, budget and grace count for the runs that begin from then on")
  func contract() throws {
    let world = try World(handlers: [.sample(Self.a)])
    let ids = try (0..<3).map { _ in try world.submit(.sample(Self.a)).id }
    #expect(world.begun == [ids[0]])
    let contract = HandlerContract(identifier: Self.a, kind: .refresh, budget: .seconds(7), grace: .seconds(1), maxConcurrentRuns: 2)
    try world.adopt(SchedulingPolicy(), handlers: [contract])
    #expect(world.begun == [ids[0], ids[1]])
    #expect(world.orders[ids[0]]?.contract.budget == .seconds(30) && world.orders[ids[1]]?.contract.budget == .seconds(7))
  }

  @Test("schedules: a new one is submitted, a changed one is brought in line, one that is gone is cancelled, its run asked to stop")
  func schedules() throws {
    let world = try World(handlers: Self.both)
    try world.adopt(SchedulingPolicy(), handlers: Self.both, schedules: [schedule(): ScheduledRequest(every: .seconds(3600))])
    let first = try #require(try holder(world))
    #expect(world.begun == [first.id])
    try world.finish(first.id, .success)
    try world.adopt(
      SchedulingPolicy(), handlers: Self.both,
      schedules: [schedule(): ScheduledRequest(every: .seconds(60)), schedule(Self.b): ScheduledRequest(every: .seconds(3600))])
    let second = try #require(try holder(world))
    #expect(second.id == first.id && second.due == .ms(60_000) && second.request.repetition?.interval == .seconds(60))
    let other = try #require(try holder(world, Self.b)).id
    #expect(world.isRunning(other))
    try world.adopt(SchedulingPolicy(), handlers: Self.both)
    #expect(try world.record(first.id).state == .cancelled)
    let run = try #require(world.orders[other]).run
    #expect(world.expirations[run] == .cancelled)
    try world.finish(other, .success, stop: .cancelled)
    #expect(try world.record(other).state == .cancelled)
  }

  @Test("a plan that is refused changes nothing, nor does a rehearsal", arguments: [false, true])
  func nothing(_ isRehearsal: Bool) throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 1), handlers: Self.both)
    try world.adopt(
      SchedulingPolicy(maxConcurrentRuns: 1), handlers: Self.both, schedules: [schedule(): ScheduledRequest(every: .seconds(3600))])
    let before = try #require(try holder(world))
    let waiting = try world.submit(.sample(Self.b)).id
    let agenda = world.core.agenda
    world.core.isObserved = true
    let wrong = ScheduledRequest(RepeatRule(.cron(CronRule("0 0 30 2 *", timeZone: "UTC"))))
    let right = ScheduledRequest(every: .seconds(60))
    let body = {
      try world.adopt(
        SchedulingPolicy(maxConcurrentRuns: 9), handlers: [.sample(Self.b)],
        schedules: [schedule(Self.b): isRehearsal ? right : wrong], isRehearsal: isRehearsal)
    }
    if isRehearsal { _ = try body() } else { #expect(throws: RequestRefusal.self) { try body() } }
    #expect(world.core.agenda === agenda && world.core.policy.maxConcurrentRuns == 1 && world.core.handlers.count == 2)
    #expect(world.lastTurn.events.isEmpty && world.expirations.isEmpty)
    #expect(try world.record(before.id) == before)
    #expect(try holder(world, Self.b) == nil && !world.isRunning(waiting))
    try world.finish(before.id, .success)
    #expect(world.isRunning(waiting) && world.core.occupiedSlots == 1)
  }

  @Test("if the store fails, everything is as before, and the same plan can be put in force later")
  func storeFailure() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 1), handlers: Self.both)
    let ids = try (0..<3).map { _ in try world.submit(.sample(Self.a)).id }
    let schedules = [schedule(Self.b): ScheduledRequest(every: .seconds(60))]
    let agenda = world.core.agenda
    world.store.fail(with: full)
    #expect(throws: full) {
      try world.adopt(SchedulingPolicy(maxConcurrentRuns: 9), handlers: [.sample(Self.b)], schedules: schedules)
    }
    world.store.fail(with: nil)
    #expect(world.core.agenda === agenda && world.core.policy.maxConcurrentRuns == 1 && world.core.leaving.isEmpty)
    try world.turn()
    #expect(world.begun == [ids[0]] && world.core.occupiedSlots == 1)
    try world.finish(ids[0], .success)
    #expect(world.begun == [ids[0], ids[1]])
    try world.adopt(SchedulingPolicy(maxConcurrentRuns: 9), handlers: Self.both, schedules: schedules)
    let scheduled = try #require(try holder(world, Self.b)).id
    #expect(Set(world.begun) == Set(ids + [scheduled]))
  }

  @Test("a handler that is gone keeps its live run, whose end is recorded and whose slot is taken until then; it gets no other")
  func removed() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 1), handlers: Self.both)
    let id = try world.submit(.sample(Self.a)).id
    let waiting = try world.submit(.sample(Self.a)).id
    try world.adopt(SchedulingPolicy(maxConcurrentRuns: 1), handlers: [.sample(Self.b)])
    let other = try world.submit(.sample(Self.b)).id
    #expect(world.core.occupiedSlots == 1 && world.begun == [id])
    #expect(throws: RequestRefusal.self) { try world.submit(.sample(Self.a)) }
    try world.finish(id, .retry)
    #expect(try world.record(id).state == .pending && world.begun == [id, other] && world.core.occupiedSlots == 1)
    try world.finish(other, .success)
    try world.adopt(SchedulingPolicy(), handlers: Self.both)
    try world.advance(.seconds(3600))
    #expect(Set(world.begun) == [id, other, waiting])
  }

  @Test("a handler that is gone and comes back while its run is live counts it once")
  func returned() throws {
    let world = try World(handlers: Self.both)
    let id = try world.submit(.sample(Self.a)).id
    try world.adopt(SchedulingPolicy(), handlers: [.sample(Self.b)])
    try world.adopt(SchedulingPolicy(), handlers: Self.both)
    #expect(world.core.leaving.isEmpty && world.core.handlers[Self.a]?.running == 1 && world.core.occupiedSlots == 1)
    try world.finish(id, .success)
    #expect(world.core.occupiedSlots == 0)
  }

  @Test("what is handed out ahead comes back first, and each request has one run")
  func ahead() throws {
    var policy = SchedulingPolicy()
    policy.claimAhead = .milliseconds(5)
    let world = try World(policy, handlers: [.sample(Self.a)])
    let id = try world.submit(.sample(Self.a, begin: .ms(3))).id
    #expect(world.held[id] == .ms(3))
    policy.maxPending = 7
    try world.adopt(policy, handlers: [.sample(Self.a)])
    try world.advance(to: .ms(3))
    #expect(world.begun == [id])
    try world.finish(id, .success)
    #expect(try world.runs(id).count == 1)
  }

  @Test("a rate that is new or another counts the begins before, of live runs too")
  func rates() throws {
    let world = try World(handlers: Self.both)
    let done = try world.submit(.sample(Self.a)).id
    try world.finish(done, .success)
    let live = try world.submit(.sample(Self.a)).id
    var policy = SchedulingPolicy()
    var limits = PluginLimits()
    limits.rate = try Rate("3/1m")
    policy.limits[Self.a] = limits
    try world.adopt(policy, handlers: Self.both)
    let ids = try (0..<2).map { _ in try world.submit(.sample(Self.a)).id }
    #expect(world.begun == [done, live, ids[0]])
    try world.adopt(policy, handlers: Self.both)
    #expect(world.begun.count == 3, "the same again changes nothing")
    limits.rate = try Rate("4/1m")
    policy.limits[Self.a] = limits
    try world.adopt(policy, handlers: Self.both)
    #expect(world.begun == [done, live] + ids)
  }

  @Test("a quota counts the run time before; resources count the live runs that take them")
  func use() throws {
    let world = try World(handlers: Self.both)
    let done = try world.submit(.sample(Self.a)).id
    try world.advance(.seconds(40))
    try world.finish(done, .success)
    var policy = SchedulingPolicy()
    policy.resources = ["gpu": 1]
    var limits = PluginLimits()
    limits.quota = try RunQuota("30s/1h")
    policy.limits[Self.a] = limits
    policy.limits[Self.b] = PluginLimits()
    let live = try world.submit(.sample(Self.b)).id
    policy.limits[Self.b]?.resources = ["gpu": 1]
    try world.adopt(policy, handlers: Self.both)
    let (held, other) = (try world.submit(.sample(Self.a)).id, try world.submit(.sample(Self.b)).id)
    #expect(!world.isRunning(held) && !world.isRunning(other))
    try world.finish(live, .success)
    #expect(world.isRunning(other))
    #expect(try world.gates(held).count == 1)
  }

  @Test("a window that opens lets begin what it held; pauses and health stay")
  func windows() throws {
    var policy = SchedulingPolicy()
    policy.windows["night"] = try MaintenanceWindow(from: "01:00", to: "02:00", zone: policy.timeZones("UTC"))
    policy.retry = RetryPolicy(attempts: 1)
    let world = try World(policy, handlers: Self.both)
    world.now = .ms(12 * 3_600_000)
    var request = TaskRequest.sample(Self.a)
    request.gates.window = "night"
    let id = try world.submit(request).id
    let broken = try world.submit(.sample(Self.b)).id
    try world.end(broken, .crashed)
    _ = try world.turn { core, transaction in
      try core.pause(PauseOrder(filter: "tag:held", by: "anna"), transaction, now: world.now)
    }
    #expect(!world.isRunning(id))
    policy.windows["night"] = try MaintenanceWindow(from: "11:00", to: "13:00", zone: policy.timeZones("UTC"))
    try world.adopt(policy, handlers: Self.both)
    #expect(world.isRunning(id))
    var held = TaskRequest.sample(Self.a)
    held.tags = ["held"]
    let paused = try world.submit(held).id
    let next = try world.submit(.sample(Self.b)).id
    #expect(!world.isRunning(paused) && !world.isRunning(next), "it is held back after the crash")
  }

  @Test("an objective that stays is not found late a second time; one that is new is looked at; one that is gone is forgotten")
  func objectives() throws {
    func policy(_ within: Duration?) -> SchedulingPolicy {
      var policy = SchedulingPolicy()
      policy.limits[Self.a] = PluginLimits()
      policy.limits[Self.a]?.expectWithin = within
      return policy
    }
    let world = try World(policy(.seconds(60)), handlers: Self.both)
    try world.advance(.seconds(61))
    #expect(world.core.objectives[Self.a]?.overdueSince == .ms(60_000))
    var other = policy(.seconds(60))
    other.maxPending = 9
    try world.adopt(other, handlers: Self.both)
    #expect(world.core.objectives[Self.a]?.overdueSince == .ms(60_000) && world.lastTurn.objectives.isEmpty)
    try world.adopt(policy(.seconds(600)), handlers: Self.both)
    #expect(world.core.objectives[Self.a]?.overdueSince == nil)
    try world.advance(.seconds(600))
    #expect(world.core.objectives[Self.a]?.overdueSince == .ms(600_000))
    try world.adopt(policy(nil), handlers: Self.both)
    #expect(world.core.objectives.isEmpty)
    #expect(try world.store.commit { try $0.objectives() }.isEmpty)
  }

  @Test("a rule of notifications that is new tells of what happens from then on, and failures in a row go on")
  func notices() throws {
    func policy(_ failures: Int?) -> SchedulingPolicy {
      var policy = SchedulingPolicy(retry: RetryPolicy(attempts: 1))
      guard let failures else { return policy }
      var rule = NoticeRule("ops", target: Self.b, kinds: [.failing])
      rule.failures = failures
      policy.notices = NoticePolicy(host: "web1", rules: [rule])
      return policy
    }
    func fail(_ world: World) throws { try world.finish(try world.submit(.sample(Self.a, key: "k", onConflict: .keep)).id, .failure) }
    func told(_ world: World) throws -> Int {
      var query = RequestQuery()
      query.identifier = Self.b
      return try world.store.requests(query).count
    }
    let world = try World(policy(nil), handlers: Self.both)
    try fail(world)
    #expect(try told(world) == 0)
    try world.adopt(policy(5), handlers: Self.both)
    // The third in a row: the store knows of the first.
    try fail(world)
    try world.adopt(policy(3), handlers: Self.both)
    #expect(try told(world) == 0)
    try fail(world)
    #expect(try told(world) == 1)
    try world.adopt(policy(nil), handlers: Self.both)
    for _ in 0..<5 { try fail(world) }
    #expect(try told(world) == 1)
  }

  @Test("tenants that owe go on to owe; a handler that is shared fairly from now on begins without debts")
  func fairness() throws {
    var policy = SchedulingPolicy()
    policy.limits[Self.a] = PluginLimits()
    policy.limits[Self.a]?.fairBy = FairBy("concurrency_key")
    let world = try World(SchedulingPolicy(), handlers: [.sample(Self.a)])
    try world.adopt(policy, handlers: [.sample(Self.a)])
    #expect(world.core.hasFairness && world.core.handlers[Self.a]?.shares?.owed.isEmpty == true)
    var request = TaskRequest.sample(Self.a)
    request.gates.concurrencyKey = "x"
    let id = try world.submit(request).id
    policy.maxPending = 9
    try world.adopt(policy, handlers: [.sample(Self.a)])
    #expect(world.core.handlers[Self.a]?.shares?.owed["x"] != nil)
    try world.finish(id, .success)
  }

  @Test("what new plugins asked for while they launched is submitted with the plan")
  func changes() async throws {
    let host = try ScheduledHost(handlers: [.sample(Self.a)])
    var plan = SchedulingPlan(policy: SchedulingPolicy(), contracts: Self.both, schedules: [:])
    plan.changes = [PluginLaunchChange(.submit(.sample(Self.b)), by: Self.b), PluginLaunchChange(.submit(.sample(Self.a)), by: Self.b)]
    let next = RecordingLauncher(ending: nil)
    plan.adopted = { next }
    let adopted: AdoptedPlan = try await withCheckedThrowingContinuation { done in
      host.scheduler.adopt(plan) { done.resume(with: $0) }
    }
    #expect(adopted.refused.isEmpty)
    for await order in next.orders {
      #expect([Self.a, Self.b].contains(order.contract.identifier))
      break
    }
  }

  @Test("a host that drains or has stopped refuses a plan")
  func draining() async throws {
    let host = try ScheduledHost(handlers: [.sample(Self.a)])
    await host.drain(.zero)
    let plan = SchedulingPlan(policy: SchedulingPolicy(), contracts: Self.both, schedules: [:])
    for stops in [false, true] {
      if stops { host.scheduler.stop() }
      let result: Result<AdoptedPlan, RequestRefusal> = await withCheckedContinuation { done in
        host.scheduler.adopt(plan) { done.resume(returning: $0) }
      }
      #expect(throws: RequestRefusal.self) { try result.get() }
    }
  }
}
