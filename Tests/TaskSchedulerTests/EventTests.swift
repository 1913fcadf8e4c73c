import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Events") struct EventTests {
  private func waiting(_ event: String, every: Bool = false, debounce: Duration = .zero) -> TaskRequest {
    TaskRequest(
      identifier: .sample(), payload: [1], repetition: every ? RepeatRule(.event) : nil, event: EventTrigger(event, debounce: debounce))
  }

  @Test("a request waits for its event, runs once with the event's payload, and is done")
  func once() throws {
    let world = try World()
    let id = try world.submit(waiting("push")).id
    #expect(world.core.nextStart(now: world.now) == nil)
    #expect(try world.gates(id) == ["it waits for the event push"])
    #expect(try world.notify("other").dropped == 1)
    #expect(!world.isRunning(id))
    let receipt = try world.notify("push", payload: [7])
    #expect(receipt == EventReceipt(event: "push", woken: 1, waiting: 1))
    #expect(world.orders[id]?.payload == [7])
    try world.finish(id, .success)
    #expect(try world.record(id).state == .succeeded)
    #expect(try world.notify("push").dropped == 1)
    #expect(world.core.eventCounts.dropped == 2)
  }

  @Test("a repeating one runs at every event; those that come while it runs are one run more, with the last payload")
  func every() throws {
    let world = try World()
    let id = try world.submit(waiting("push", every: true)).id
    try world.notify("push")
    #expect(world.orders[id]?.payload == [1])
    #expect(try world.notify("push", payload: [2]).woken == 1)
    #expect(try world.notify("push", payload: [3]).merged == 1)
    try world.finish(id, .success)
    #expect(world.orders[id]?.payload == [3])
    try world.finish(id, .success)
    #expect(!world.isRunning(id))
    #expect(try world.record(id).due == WallTime.distantFuture)
    try world.notify("push")
    #expect(world.orders[id]?.payload == [1])
  }

  @Test("a burst is one run, after a time of quiet, and not put off for ever")
  func debounce() throws {
    let world = try World()
    let id = try world.submit(waiting("push", every: true, debounce: .seconds(10))).id
    let first = world.now
    try world.notify("push")
    #expect(try world.record(id).due == first + .seconds(10))
    for _ in 0..<3 {
      world.now = world.now + .seconds(8)
      try world.notify("push")
    }
    #expect(try world.record(id).due == world.now + .seconds(10))
    while world.begun.isEmpty, world.now < first + .seconds(100) {
      world.now = world.now + .seconds(8)
      try world.notify("push")
    }
    #expect(world.now - first <= .seconds(56))
    #expect(world.begun == [id])
  }

  @Test("events beyond the quota wake the request later, none is lost")
  func quota() throws {
    var policy = SchedulingPolicy()
    policy.eventQuota = try Rate("1/1m")
    let world = try World(policy)
    let id = try world.submit(waiting("push", every: true)).id
    try world.notify("push")
    try world.finish(id, .success)
    try world.notify("push")
    #expect(!world.isRunning(id))
    let due = try world.record(id).due
    #expect(due > world.now && due <= world.now + .seconds(60))
    let gate = try #require(world.core.explanation(of: try world.record(id), now: world.now).gates.first)
    #expect(gate.kind == "event_quota")
    #expect(
      gate.sentence.hasPrefix("events have woken org.example.task as often as event_quota (1/1m) allows: due in "), "\(gate.sentence)")
    #expect(gate.until == due)
    try world.advance(to: due)
    #expect(world.isRunning(id))
  }

  @Test("an event that came is not forgotten by a restart, and a retry has its payload")
  func durable() throws {
    let world = try World(handlers: [.sample()])
    let blocker = try world.submit().id
    let id = try world.submit(waiting("push", every: true)).id
    try world.notify("push", payload: [9])
    #expect(!world.isRunning(id))
    try world.restart()
    try world.turn()
    #expect(world.isRunning(blocker))
    try world.finish(blocker, .success)
    #expect(world.orders[id]?.payload == [9])
    try world.finish(id, .retry, retryAfter: .seconds(1))
    try world.advance(.seconds(1))
    #expect(world.orders[id]?.payload == [9])
  }

  @Test("the files that requests wait for are told, as long as they wait")
  func files() throws {
    let world = try World()
    let id = try world.submit(waiting("file:/srv/in", every: true)).id
    #expect(world.lastTurn.watches == ["/srv/in"])
    try world.notify("file:/srv/in")
    #expect(world.isRunning(id))
    try world.finish(id, .success)
    try world.cancel(id)
    #expect(world.lastTurn.watches == [])
  }

  @Test("a refused submission wakes nobody")
  func failing() throws {
    let world = try World()
    let id = try world.submit(waiting("push")).id
    world.store.fail(with: .full("the test says so"))
    #expect(throws: (any Error).self) { try world.notify("push") }
    world.store.fail(with: nil)
    try world.turn()
    #expect(!world.isRunning(id))
    try world.notify("push")
    #expect(world.isRunning(id))
  }
}
