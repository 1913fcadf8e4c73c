import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Requests that wake the machine") struct WakeTests {
  private static func waking(_ begin: WallTime, conditions: Conditions = []) -> TaskRequest {
    var request = TaskRequest.sample(begin: begin)
    request.gates.wakes = true
    request.gates.conditions = conditions
    return request
  }

  @Test("the machine must be awake for the first of them that is still to come, and for no other request")
  func first() throws {
    let world = try World(handlers: [.sample(runs: 9)])
    #expect(world.core.nextWake(now: world.now) == nil)
    try world.submit(.sample(begin: .ms(1000)))
    #expect(world.core.nextWake(now: world.now) == nil)
    try world.submit(Self.waking(.ms(9000)))
    #expect(world.core.nextWake(now: world.now) == .ms(9000))
    let first = try world.submit(Self.waking(.ms(5000))).id
    #expect(world.core.nextWake(now: world.now) == .ms(5000))
    try world.restart(handlers: [.sample(runs: 9)])
    #expect(world.core.nextWake(now: world.now) == .ms(5000), "known after a restart")
    try world.advance(to: .ms(5000))
    #expect(world.isRunning(first))
    #expect(world.core.nextWake(now: world.now) == .ms(9000))
    try world.advance(to: .ms(9000))
    #expect(world.core.nextWake(now: world.now) == nil)
  }

  @Test("it is not woken for one that a condition holds, nor when one is cancelled")
  func held() throws {
    let world = try World()
    try world.set([])
    let id = try world.submit(Self.waking(.ms(5000), conditions: .network)).id
    #expect(world.core.nextWake(now: world.now) == nil)
    try world.set(.network)
    #expect(world.core.nextWake(now: world.now) == .ms(5000))
    try world.cancel(id)
    #expect(world.core.nextWake(now: world.now) == nil)
  }

  @Test("where that is not possible, why says so")
  func trouble() throws {
    let world = try World()
    let id = try world.submit(Self.waking(.ms(5000))).id
    let other = try world.submit(.sample(begin: .ms(5000))).id
    world.core.wakeTrouble = "it cannot be woken: the test says so"
    let assumption = "the machine is awake then: it cannot be woken: the test says so"
    #expect(try world.core.explanation(of: world.record(id), now: world.now).assumptions == [assumption])
    #expect(try world.core.explanation(of: world.record(other), now: world.now).assumptions.isEmpty)
  }
}
