import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A simulated launch") struct SimulatedLaunchTests {
  private static let other = TaskIdentifier.sample("org.example.other")

  private func launch(_ world: World) throws -> RequestRecord {
    try world.turn { core, transaction in try core.simulateLaunch(.sample(), transaction, now: world.now) }
  }

  private struct Gated: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var policy: @Sendable (inout SchedulingPolicy, inout PluginLimits) throws -> Void = { _, _ in }
    let act: @Sendable (World) throws -> RequestID
  }

  private static func request(_ change: (inout TaskRequest) -> Void = { _ in }) -> TaskRequest {
    var request = TaskRequest.sample()
    change(&request)
    return request
  }

  private static let gated: [Gated] = [
    Gated(testDescription: "its time") { try $0.submit(.sample(begin: .ms(60_000))).id },
    Gated(testDescription: "an event") { try $0.submit(request { $0.event = EventTrigger("mail") }).id },
    Gated(testDescription: "backoff") { world in
      let id = try world.submit().id
      try world.finish(id, .retry)
      return id
    },
    Gated(testDescription: "conditions") { world in
      try world.set([])
      return try world.submit(request { $0.gates.conditions = [.network, .power] }).id
    },
    Gated(
      testDescription: "window",
      policy: { policy, limits in
        policy.windows["night"] = try MaintenanceWindow(from: "02:00", to: "03:00", zone: policy.timeZones("UTC"))
        limits.window = "night"
      }
    ) { try $0.submit().id },
    Gated(testDescription: "the plugin's rate", policy: { _, limits in limits.rate = try Rate("1/1h") }) { world in
      try world.submit()
      return try world.submit().id
    },
    Gated(testDescription: "the host's rate", policy: { policy, _ in policy.rate = try Rate("1/1h") }) { world in
      try world.submit(.sample(other))
      return try world.submit().id
    },
    Gated(testDescription: "quota", policy: { _, limits in limits.quota = try RunQuota("1s/1h") }) { world in
      let first = try world.submit().id
      world.now = world.now + .seconds(5)
      try world.finish(first, .success)
      return try world.submit().id
    },
    Gated(testDescription: "a key") { world in
      try world.submit(request { $0.gates.concurrencyKey = "k" })
      return try world.submit(request { $0.gates.concurrencyKey = "k" }).id
    },
    Gated(testDescription: "a resource", policy: { policy, _ in policy.resources = ["gpu": 1] }) { world in
      try world.submit(request { $0.gates.resources = ["gpu": 1] })
      return try world.submit(request { $0.gates.resources = ["gpu": 1] }).id
    },
    Gated(testDescription: "the host's slots", policy: { policy, _ in policy.maxConcurrentRuns = 1 }) { world in
      try world.submit(.sample(other))
      return try world.submit().id
    },
    Gated(testDescription: "standing") { world in
      let id = try world.submit().id
      try world.end(id, .crashed)
      return try world.submit(request { $0.priority = 1 }).id
    },
    Gated(testDescription: "quarantine") { world in
      for _ in 0..<5 {
        let id = try world.submit(.sample(retry: RetryPolicy(attempts: 1))).id
        world.now = world.now + .seconds(3600)
        try world.turn()
        try world.end(id, .crashed)
      }
      return try world.submit().id
    },
  ]

  @Test("starts a request whatever gate holds it, and what is over then is as it would be", arguments: gated)
  private func past(_ gated: Gated) throws {
    var policy = SchedulingPolicy()
    var limits = PluginLimits()
    try gated.policy(&policy, &limits)
    policy.limits[.sample()] = limits
    let world = try World(policy, handlers: [.sample(runs: 2), .sample(Self.other, runs: 2)])
    let id = try gated.act(world)
    try world.turn()
    try #require(!world.isRunning(id))
    let launched = try launch(world)
    // Of several that wait the one comes first that is due first.
    #expect(launched.state == .running && world.isRunning(launched.id))
    #expect(launched.id == id || gated.testDescription == "standing")
    try world.finish(launched.id, .success)
    #expect(try world.record(launched.id).state == .succeeded)
    #expect(world.core.occupiedSlots == world.core.live.count)
  }

  @Test("is not stopped by the conditions that did not hold when it began")
  func conditions() throws {
    let world = try World()
    try world.set([])
    let id = try world.submit(Self.request { $0.gates.conditions = .network }).id
    _ = try launch(world)
    #expect(try world.set([.power]).isEmpty)
    #expect(world.core.awaitedConditions(now: world.now).isEmpty)
    #expect(world.isRunning(id))
  }

  @Test("counts: the next start waits for its rate, and resources are given back")
  func counts() throws {
    var policy = SchedulingPolicy()
    policy.resources = ["gpu": 1]
    policy.limits[.sample()] = PluginLimits()
    policy.limits[.sample()]?.rate = try Rate("1/10s")
    let world = try World(policy, handlers: [.sample(runs: 4)])
    let first = try world.submit(Self.request { $0.gates.resources = ["gpu": 1] }).id
    let second = try world.submit(Self.request { $0.gates.resources = ["gpu": 1] }).id
    world.now = world.now + .seconds(4)
    #expect(try launch(world).id == second)
    try world.finish(first, .success)
    #expect(world.core.limits.resources.free("gpu") == 0)
    try world.finish(second, .success)
    #expect(world.core.limits.resources.free("gpu") == 1)
    try world.submit()
    #expect(world.core.nextStart(now: world.now) == .testStart + .seconds(14))
  }

  @Test("says what it cannot do, and changes nothing: all runs go on, a suspended plugin, no handler, a draining host")
  func refused() throws {
    let world = try World()
    let running = try world.submit().id
    let waiting = try world.submit(.sample(begin: .ms(60_000))).id
    let before = try world.record(waiting)
    let run = try #require(world.orders[running]?.run)
    let busy = #expect(throws: RequestRefusal.self) { try launch(world) }
    #expect(busy?.code == .conflict && busy?.message.contains("busy with 1 run") == true && busy?.message.contains("\(run)") == true)
    try world.finish(running, .success)
    world.core.suspend(.sample(), "a thread is still in its hands", now: world.now)
    let suspended = #expect(throws: RequestRefusal.self) { try launch(world) }
    #expect(suspended?.code == .unavailable && suspended?.message.contains("a thread is still in its hands") == true)
    world.core.suspend(.sample(), nil, now: world.now)
    world.core.isDraining = true
    let draining = #expect(throws: RequestRefusal.self) { try launch(world) }
    #expect(draining?.code == .unavailable)
    #expect(try world.record(waiting) == before)
    let empty = try World(handlers: [])
    let unknown = #expect(throws: RequestRefusal.self) { try launch(empty) }
    #expect(unknown?.code == .unknownIdentifier)
  }

  @Test("of a missed occurrence that is skipped starts the next one")
  func skipped() throws {
    let world = try World()
    let id = try world.submit(TaskRequest(identifier: .sample(), repetition: RepeatRule(.every(.seconds(900)), missed: .skip))).id
    try world.finish(id, .success)
    world.core.suspend(.sample(), "not now", now: world.now)
    world.now = world.now + .seconds(5000)
    try world.restart(handlers: [])
    world.core.register([.sample()])
    #expect(try launch(world).id == id)
    #expect(world.isRunning(id))
  }
}
