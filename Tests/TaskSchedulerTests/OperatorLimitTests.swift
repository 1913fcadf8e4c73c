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
    #expect(unknown?.message == "there is no resource \"licence\": define it under [resources]")
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
    #expect(gate.sentence.contains("12"))
    let opens = try #require(gate.until)
    try world.advance(to: opens)
    #expect(world.isRunning(second))
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
