import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Pausing") struct PauseTests {
  private func pause(_ world: World, _ id: RequestID, why reason: String? = nil) throws -> RequestRecord {
    let pause = RequestPause(by: "user 7", since: world.now, reason: reason)
    return try world.turn { core, transaction in try core.pause(id, pause, transaction, now: world.now) }
  }

  private func resume(_ world: World, _ id: RequestID) throws -> RequestRecord {
    try world.turn { core, transaction in try core.resume(id, transaction, now: world.now) }
  }

  @Test("a paused request does not begin, also after a restart, until it is resumed; others go on")
  func waits() throws {
    let world = try World(handlers: [.sample(runs: 8)])
    let id = try world.submit(.sample(begin: .ms(10_000))).id
    _ = try pause(world, id)
    try world.advance(to: .ms(20_000))
    let other = try world.submit().id
    #expect(world.begun == [other])
    try world.restart(handlers: [.sample(runs: 8)])
    try world.advance(to: .ms(30_000))
    #expect(!world.isRunning(id))
    #expect(world.core.nextTurn(now: world.now) == nil, "nothing wakes the host for it")
    let resumed = try resume(world, id)
    #expect(resumed.paused == nil && world.isRunning(id))
    #expect(try world.record(id).paused == nil)
  }

  @Test("why says who paused it, why and since when, and that nothing but a resumption opens it")
  func why() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(10_000))).id
    try world.advance(to: .ms(1000))
    _ = try pause(world, id, why: "the line is slow")
    try world.advance(to: .ms(20_000))
    let explanation = world.core.explanation(of: try world.record(id), now: world.now)
    #expect(explanation.gates.map(\.kind) == ["paused"])
    #expect(explanation.gates.first?.sentence == "it is paused by user 7: the line is slow")
    #expect(explanation.gates.first?.since == .ms(1000))
    #expect(explanation.earliestStart == nil && explanation.wouldRunIf == ["taskhost transfers resume \(id)"])
  }

  @Test("a running one is asked to stop, and waits without an attempt spent, until it is resumed", arguments: [TaskResult.retry, .snooze])
  func running(_ result: TaskResult) throws {
    let world = try World()
    let id = try world.submit().id
    let run = try #require(try world.record(id).run)
    _ = try pause(world, id)
    #expect(world.expirations[run] == .conditions)
    try world.finish(id, result, stop: .conditions)
    #expect(try world.record(id).attemptsSpent == 0 && !world.isRunning(id))
    try world.advance(.seconds(86_400))
    #expect(!world.isRunning(id))
    _ = try resume(world, id)
    #expect(world.isRunning(id))
  }

  @Test("one that is resumed before its run has stopped goes on with another run")
  func resumedEarly() throws {
    let world = try World()
    let id = try world.submit().id
    _ = try pause(world, id)
    _ = try resume(world, id)
    try world.finish(id, .retry, stop: .conditions)
    #expect(try world.runs(id).count == 1 && world.isRunning(id))
  }

  @Test(
    "a run that succeeds although it was asked to stop ends its request for good", arguments: [StopReason.conditions, nil])
  func succeeds(_ stop: StopReason?) throws {
    let world = try World()
    let id = try world.submit().id
    _ = try pause(world, id)
    try world.finish(id, .success, stop: stop)
    #expect(try world.record(id).state == .succeeded)
    #expect(throws: RequestRefusal.self) { try resume(world, id) }
    #expect(throws: RequestRefusal.self) { try pause(world, id) }
  }

  @Test("a run that fails leaves a dead letter that a retry begins at once")
  func fails() throws {
    let world = try World()
    let id = try world.submit().id
    _ = try pause(world, id)
    try world.finish(id, .failure, stop: .conditions)
    #expect(try world.record(id).state == .failed)
    try world.retry(id)
    #expect(world.isRunning(id))
  }

  @Test("one that is handed out ahead is taken back")
  func ahead() throws {
    var policy = SchedulingPolicy()
    policy.claimAhead = .milliseconds(5)
    let world = try World(policy)
    let id = try world.submit(.sample(begin: .ms(3))).id
    #expect(try world.record(id).state == .claimed)
    _ = try pause(world, id)
    try world.advance(to: .ms(1000))
    #expect(try world.record(id).state == .pending && world.begun.isEmpty)
  }

  @Test("one that is lost with its host stays paused")
  func lost() throws {
    let world = try World()
    let id = try world.submit().id
    _ = try pause(world, id)
    #expect(try world.restart() == 1)
    try world.advance(.seconds(60))
    #expect(!world.isRunning(id))
    _ = try resume(world, id)
    #expect(world.isRunning(id))
  }

  @Test("one that waits for another is held once that has ended; a repeating one at its next occurrence")
  func laterStates() throws {
    let world = try World(handlers: [.sample(runs: 8)])
    let first = try world.submit().id
    var request = TaskRequest.sample()
    request.after = [Dependency(.request(first))]
    let blocked = try world.submit(request).id
    request.after = []
    request.repetition = RepeatRule(every: .seconds(900))
    let repeating = try world.submit(request).id
    for id in [blocked, repeating] { _ = try pause(world, id) }
    try world.finish(repeating, .success)
    try world.finish(first, .success)
    try world.advance(.seconds(3600))
    #expect(!world.isRunning(blocked) && !world.isRunning(repeating))
    #expect(try world.record(blocked).state == .pending)
    for id in [blocked, repeating] { _ = try resume(world, id) }
    #expect(world.isRunning(blocked) && world.isRunning(repeating))
  }

  @Test("the first pause stands; a cancellation ends it; an update keeps it; its deadline does not lift it")
  func others() throws {
    let world = try World()
    var request = TaskRequest.sample(begin: .ms(10_000))
    request.deadline = .ms(12_000)
    let id = try world.submit(request).id
    _ = try pause(world, id, why: "first")
    #expect(try pause(world, id, why: "second").paused?.reason == "first")
    request.priority = 3
    _ = try world.turn { [request] core, transaction in try core.update(id, with: request, transaction, now: world.now) }
    #expect(try world.record(id).paused?.reason == "first")
    try world.advance(to: .ms(20_000))
    #expect(try world.record(id).isRelaxed && !world.isRunning(id))
    #expect(try world.cancel(id).paused == nil)
  }

  @Test("the conditions of a paused request are not watched for")
  func unwatched() throws {
    let world = try World()
    try world.set([])
    let id = try world.submit(TaskRequest(identifier: .sample(), conditions: [.power])).id
    #expect(world.core.awaitedConditions(now: world.now) == .power)
    _ = try pause(world, id)
    #expect(world.core.awaitedConditions(now: world.now) == [])
  }
}
