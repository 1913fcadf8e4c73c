import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A plugin's standing") struct PluginHealthTests {
  private static let endings: [(RunEnding, failures: Int)] = [
    (.crashed, 1), (.forced(.budget), 1), (.forced(.stalled), 1), (.forced(.conditions), 1), (.forced(.draining), 1),
    (.forced(.cancelled), 0), (.forced(.replaced), 0), (.lost, 0), (.returned(.failure, stop: nil), 0), (.returned(.retry, stop: nil), 0),
    (.returned(.snooze, stop: nil), 0), (.returned(.success, stop: nil), 0), (.returned(.retry, stop: .draining), 0),
  ]

  @Test("crashes and forced stops count against it, other endings do not", arguments: endings)
  func failures(_ ending: RunEnding, _ failures: Int) throws {
    let world = try World()
    try world.end(try world.submit().id, ending)
    #expect(try world.health().failures == failures)
    #expect(try (world.health().heldUntil != nil) == (failures > 0))
  }

  @Test("runs that were live at a forced stop and get stuck too are no further strikes")
  func stuckTogether() throws {
    let world = try World(handlers: [.sample(runs: 8)])
    for id in try (0..<5).map({ _ in try world.submit().id }) { try world.end(id, .forced(.budget)) }
    #expect(try world.health().failures == 1)
    try world.cancelWaiting()
    try world.advance(.seconds(60))
    try world.end(try world.submit().id, .forced(.budget))
    #expect(try world.health().failures == 2)
  }

  @Test("each strike in a row holds it back for longer, and the fifth until it is released")
  func delays() throws {
    let world = try World()
    let retry = RetryPolicy(attempts: 100, initial: .milliseconds(100), maximum: .milliseconds(100))
    let id = try world.submit(.sample(retry: retry)).id
    for seconds in [60, 120, 240, 480] {
      try world.end(id, .crashed)
      #expect(!world.isRunning(id))
      #expect(try world.health().heldUntil == world.now + .seconds(seconds))
      #expect(world.core.nextStart(now: world.now) == world.now + .seconds(seconds))
      try world.advance(.milliseconds(seconds * 1000 - 1))
      #expect(!world.isRunning(id))
      try world.advance(.milliseconds(1))
      #expect(world.isRunning(id))
    }
    try world.end(id, .crashed)
    #expect(try world.health().isQuarantined)
    #expect(try world.health().quarantinedSince == world.now)
    #expect(world.core.nextStart(now: world.now) == nil)
    try world.advance(.seconds(365 * 86_400))
    #expect(!world.isRunning(id))
    try world.release()
    #expect(world.isRunning(id))
    #expect(try world.health() == PluginHealth())
    // From the beginning.
    try world.end(id, .crashed)
    #expect(try world.health().heldUntil == world.now + .seconds(60))
  }

  @Test("no delay is longer than the backoff's longest")
  func maximum() throws {
    let world = try World(SchedulingPolicy(retry: RetryPolicy(initial: .seconds(30), maximum: .seconds(100))))
    let id = try world.submit().id
    try world.end(id, .crashed)
    #expect(try world.health().heldUntil == world.now + .seconds(60))
    try world.advance(.seconds(100))
    try world.end(id, .crashed)
    #expect(try world.health().heldUntil == world.now + .seconds(100))
    #expect(PluginHealth.delay(afterStrike: 4, retry: RetryPolicy(initial: .seconds(Int64.max), maximum: .seconds(7))) == .seconds(7))
    #expect(PluginHealth.delay(afterStrike: 99, retry: RetryPolicy(initial: .seconds(1), maximum: .seconds(100))) == .seconds(16))
  }

  @Test("a good run clears it, also one that was asked to stop", arguments: [TaskResult.success, .noop], [nil, StopReason.budget])
  func goodRun(_ result: TaskResult, _ stop: StopReason?) throws {
    let world = try World()
    for _ in 0..<3 {
      try world.end(try world.submit().id, .forced(.budget))
      try world.cancelWaiting()
      try world.advance(.seconds(1000))
    }
    #expect(try world.health().failures == 3)
    try world.finish(try world.submit().id, result, stop: stop)
    #expect(try world.health() == PluginHealth())
    #expect(world.core.pluginHealth.isEmpty)
  }

  @Test("a run that comes to nothing leaves it as it is", arguments: [TaskResult.retry, .snooze, .failure])
  func otherRun(_ result: TaskResult) throws {
    let world = try World()
    try world.end(try world.submit().id, .crashed)
    let before = try world.health()
    try world.cancelWaiting()
    try world.advance(.seconds(60))
    try world.finish(try world.submit().id, result)
    #expect(try world.health() == before)
  }

  @Test("a good run that was handed out before a crash and ends after it ends no delay; one that comes after it does, but no quarantine")
  func meanwhile() throws {
    let world = try World(handlers: [.sample(runs: 10)])
    let good = try world.submit().id
    let once = TaskRequest.sample(retry: RetryPolicy(attempts: 1))
    try world.end(try world.submit(once).id, .crashed)
    let waiting = try world.submit().id
    try world.finish(good, .success)
    #expect(try world.health().failures == 1)
    #expect(!world.isRunning(waiting))
    try world.advance(.seconds(60))
    try world.finish(waiting, .success)
    #expect(try world.health() == PluginHealth())
    let runs = try (0..<6).map { _ in try world.submit(once).id }
    for id in runs.prefix(5) { try world.end(id, .crashed) }
    #expect(try world.health().isQuarantined)
    try world.finish(runs[5], .success)
    #expect(try world.health().isQuarantined)
    #expect(try world.health().failures == 5)
  }

  @Test("runs that one mishap ended count once; without a number each counts")
  func incidents() throws {
    let world = try World(handlers: [.sample(runs: 20)])
    func crash(_ incident: UInt64?) throws {
      var report = RunReport()
      report.incident = incident
      try world.end(try #require(world.orders.keys.min()), .crashed, report)
    }
    for _ in 0..<9 { try world.submit() }
    for _ in 0..<3 { try crash(7) }
    #expect(try world.health().failures == 1)
    try crash(8)
    #expect(try world.health().failures == 2)
    // A straggler after a release is not counted anew.
    try world.release()
    try crash(8)
    #expect(try world.health() == PluginHealth())
    try crash(nil)
    try crash(nil)
    #expect(try world.health().failures == 2)
  }

  @Test("a crash of a run that was cancelled counts all the same")
  func cancelled() throws {
    let world = try World()
    let id = try world.submit().id
    try world.cancel(id)
    try world.end(id, .crashed)
    #expect(try world.record(id).state == .cancelled)
    #expect(try world.health().failures == 1)
  }

  @Test("others run on while one is held back")
  func others() throws {
    let other = TaskIdentifier.sample("org.example.other")
    let world = try World(handlers: [.sample(), .sample(other)])
    try world.end(try world.submit().id, .crashed)
    let id = try world.submit(.sample(other)).id
    #expect(world.isRunning(id))
    try world.finish(id, .success)
    #expect(try world.health().failures == 1)
    #expect(try world.health(other) == PluginHealth())
    let next = try world.submit(.sample(other, begin: world.now + .seconds(5))).id
    #expect(world.core.nextStart(now: world.now) == world.now + .seconds(5))
    try world.advance(.seconds(5))
    #expect(world.isRunning(next))
  }

  @Test(
    "a crash is told once, as the launcher tells it", arguments: ["crashed: SIGSEGV at address 0x0", "was killed by SIGKILL"])
  func crash(_ observed: String) throws {
    let world = try World()
    var report = RunReport()
    (report.message, report.trouble) = ("its worker \(observed)", "\(observed)\n#0 somewhere")
    try world.end(try world.submit().id, .crashed, report)
    #expect(try world.health().lastTrouble == "its worker \(observed)")
  }

  @Test("a request says that its plugin is held back or quarantined, and what happened last")
  func why() throws {
    let world = try World()
    var report = RunReport()
    report.trouble = "signal 11 (SIGSEGV)\n#0 somewhere"
    try world.end(try world.submit().id, .crashed, report)
    try world.cancelWaiting()
    let id = try world.submit().id
    #expect(
      try world.gates(id) == [
        "the plugin is held back after 1 crash or forced stop: for another 60 s; last: it crashed: signal 11 (SIGSEGV)"
      ])
    #expect(try world.submit().notes == [])
    for recordFailure in 2...5 {
      try world.advance(.seconds(1000))
      report.trouble = nil
      report.message = recordFailure == 5 ? nil : "did not return in its grace"
      try world.end(try #require(world.orders.keys.min()), .forced(.budget), report)
      guard recordFailure < 5 else { break }
      let gates = try world.gates(id)
      #expect(
        gates.contains {
          $0.hasPrefix("the plugin is held back after \(recordFailure) crashes or forced stops: for another ")
            && $0.hasSuffix("; last: a run was stopped by force (budget): did not return in its grace")
        }, "\(recordFailure): \(gates)")
    }
    world.now = world.now + .seconds(600)
    let next = try world.submit()
    #expect(
      try world.gates(next.id) == [
        "the plugin has been quarantined for 10 min; last: a run was stopped by force (budget): taskhost plugins release org.example.task"
      ])
    #expect(next.notes == ["the plugin is quarantined: the request waits for taskhost plugins release org.example.task"])
    try world.release()
    #expect(try world.gates(next.id).allSatisfy { !$0.contains("quarantined") })
  }

  @Test("a release answers what there was, and refuses an identifier that nobody has")
  func release() throws {
    let world = try World()
    #expect(try world.release() == PluginHealth())
    try world.end(try world.submit().id, .crashed)
    #expect(try world.release().failures == 1)
    let refusal = #expect(throws: RequestRefusal.self) { try world.release(.sample("org.example.unknown")) }
    #expect(refusal?.code == .notFound)
    #expect(refusal?.message.contains("org.example.unknown") == true)
    // A plugin whose file is gone can be released for when it is back.
    try world.end(try world.submit().id, .crashed)
    try world.restart(handlers: [])
    #expect(try world.release().failures == 1)
    #expect(throws: RequestRefusal.self) { try world.release() }
  }

  @Test("it outlasts the host: a delay and a quarantine go on")
  func restarts() throws {
    let (held, quarantined) = (TaskIdentifier.sample("org.example.held"), TaskIdentifier.sample("org.example.quarantined"))
    let handlers = [HandlerContract.sample(held), .sample(quarantined, runs: 5)]
    let world = try World(handlers: handlers)
    let first = try world.submit(.sample(held)).id
    for id in try (0..<5).map({ _ in try world.submit(.sample(quarantined)).id }) { try world.end(id, .crashed) }
    try world.end(first, .crashed)
    let before = try (world.health(held), world.health(quarantined))
    world.now = world.now + .seconds(31)
    try world.restart(handlers: handlers)
    #expect(try world.health(held) == before.0)
    #expect(try world.health(quarantined) == before.1)
    #expect(world.orders.isEmpty)
    try world.advance(.seconds(29))
    #expect(world.isRunning(first))
    try world.advance(.seconds(86_400))
    #expect(world.orders.values.allSatisfy { $0.contract.identifier == held })
  }

  @Test("a calendar that was set back holds it no longer than its longest delay")
  func clockSetBack() throws {
    let world = try World()
    let id = try world.submit().id
    try world.end(id, .crashed)
    world.now = world.now + .seconds(-86_400)
    try world.restart()
    #expect(world.core.handlers[.sample()]?.heldUntil == world.now + .seconds(480))
  }

  @Test("the overview has it, without a delay that is over")
  func overview() throws {
    let world = try World()
    try world.end(try world.submit().id, .crashed)
    let handler = try #require(world.core.handlers[.sample()])
    var expected = HandlerOverview(running: 0, health: try world.health())
    expected.nextDue = world.core.overview(of: handler, now: world.now).nextDue
    #expect(world.core.overview(of: handler, now: world.now) == expected)
    let later = world.core.overview(of: handler, now: world.now + .seconds(60)).health
    #expect(later.failures == 1)
    #expect(later.heldUntil == nil)
  }
}

extension World {
  /// Cancels every request that does not run.
  func cancelWaiting() throws {
    var query = RequestQuery()
    query.states = [.pending]
    for record in try store.requests(query) { try cancel(record.id) }
  }
}
