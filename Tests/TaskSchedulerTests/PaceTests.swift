import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A submission that names no time and is paced") struct PaceTests {
  private static func paced(begin: WallTime? = nil) -> TaskRequest {
    var request = TaskRequest.sample(begin: begin)
    request.isPaced = true
    return request
  }

  @Test("begins at once where nothing of its identifier has run, then minimum_interval after the last run began; that is said once")
  func waits() throws {
    let world = try World(SchedulingPolicy(minimumInterval: .seconds(900)))
    let first = try world.submit(Self.paced())
    #expect(first.nextStart == world.now && first.notes.isEmpty)
    #expect(world.isRunning(first.id))
    let began = world.now
    try world.advance(.seconds(60))
    let next = try world.submit(Self.paced())
    #expect(next.nextStart == began + .seconds(900))
    #expect(next.notes == ["it names no time: it waits for minimum_interval, 900 s, after the last run began"])
    #expect(world.lastTurn.paced.map(\.identifier) == [.sample()])
    #expect(try world.record(next.id).request.isPaced == false)
    try world.finish(first.id, .success)
    try world.advance(to: next.nextStart + .milliseconds(-1))
    #expect(!world.isRunning(next.id))
    try world.advance(.milliseconds(1))
    #expect(world.isRunning(next.id))
    let third = try world.submit(Self.paced())
    #expect(third.nextStart == world.now + .seconds(900))
    #expect(world.lastTurn.paced.isEmpty, "it is said once")
  }

  @Test("of one that repeats itself without end, one run begins in each minimum_interval; simulate launch runs it now")
  func chain() throws {
    let world = try World(SchedulingPolicy(minimumInterval: .seconds(900)))
    var id = try world.submit(Self.paced()).id
    let start = world.now
    for round in 1...5 {
      let next = try world.submit(Self.paced())
      try world.finish(id, .success)
      #expect(next.nextStart == start + .seconds(900) * round)
      try world.advance(to: next.nextStart)
      id = next.id
    }
    let next = try world.submit(Self.paced())
    try world.finish(id, .success)
    #expect(!world.isRunning(next.id))
    let simulated = try world.turn { core, transaction in try core.simulateLaunch(.sample(), transaction, now: world.now) }
    #expect(simulated.id == next.id && world.isRunning(next.id))
  }

  @Test("keeps a later time, has the identifier's own interval, and does not wait for ever when the clock is set back")
  func limits() throws {
    var policy = SchedulingPolicy(minimumInterval: .seconds(900))
    policy.limits[.sample()] = PluginLimits()
    policy.limits[.sample()]?.minimumInterval = .seconds(60)
    let world = try World(policy)
    let first = try world.submit(Self.paced())
    let began = world.now
    #expect(try world.submit(Self.paced(begin: began + .seconds(3600))).nextStart == began + .seconds(3600))
    #expect(try world.submit(Self.paced()).nextStart == began + .seconds(60))
    world.now = began + .seconds(-86_400)
    #expect(try world.submit(Self.paced()).nextStart == world.now + .seconds(60))
    try world.finish(first.id, .success)
    let repeated = try world.submit(.sample().repeating(.seconds(1)))
    #expect(repeated.effective?.repetition?.interval == .seconds(60))
  }
}

extension TaskRequest {
  fileprivate func repeating(_ interval: Duration) -> TaskRequest {
    var request = self
    request.repetition = RepeatRule(every: interval)
    return request
  }
}
