import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

@Suite("A plugin's standing, on the scheduler's thread", .timeLimit(.minutes(10))) struct PluginHealthThreadTests {
  @Test("a request that is handed out ahead of its time is taken back when its plugin is held back, with nothing spent")
  func handedAhead() async throws {
    var policy = SchedulingPolicy()
    policy.claimAhead = .seconds(36_000)
    // A retry is not due during the test, however slow the machine.
    policy.retry.initial = .seconds(7200)
    let host = try ScheduledHost(policy, handlers: [.sample(runs: 2)])
    let begun = try await host.submit(.sample())[0].id
    let order = try await host.nextOrder()
    #expect(order.request == begun)
    let early = try await host.submit(.sample(begin: try host.record(begun).submitted + .seconds(1800)))[0].id
    #expect(try host.record(early).state == .claimed)
    host.launcher.end(order.run, .crashed)
    #expect(await host.ended().map(\.outcome) == [.crashed])
    let record = try host.record(early)
    #expect(record.state == .pending && record.attemptsSpent == 0 && record.run == nil)
    // Once it is released both are handed out again.
    let released = await withCheckedContinuation { done in host.scheduler.release(.sample()) { done.resume(returning: $0) } }
    #expect(try released.get().failures == 1)
    for id in [begun, early] { #expect(try host.record(id).state == .claimed) }
    #expect(await host.liveRuns().isEmpty)
  }

  @Test("what is handed out while a crash of its plugin is on its way does not begin; what others have does")
  func crashOnItsWay() async throws {
    let other = TaskIdentifier.sample("org.example.other")
    let meanwhile = Guarded<(@Sendable () -> Void)?>(nil)
    let host = try ScheduledHost(handlers: [.sample(runs: 2), .sample(other)]) { _, _ in
      meanwhile.withLock { $0 }?()
      return nil
    }
    try await host.submit(.sample())
    let crashing = try await host.nextOrder()
    // In the middle of the turn that hands the next ones out.
    meanwhile.withLock { $0 = { [launcher = host.launcher] in launcher.end(crashing.run, .crashed) } }
    let submitted = try await host.submit(.sample(), .sample(other)).map(\.id)
    meanwhile.withLock { $0 = nil }
    #expect(try await host.nextOrder().request == submitted[1])
    #expect(await host.ended().map(\.outcome) == [.crashed])
    await host.afterTurn()
    let record = try host.record(submitted[0])
    #expect(record.state == .pending && record.run == nil && record.attemptsSpent == 0 && record.losses == 0)
    #expect(await host.liveRuns().map(\.request) == [submitted[1]])
  }

  @Test("a plugin that misbehaved without a run has a strike, one for each incident")
  func misbehaved() async throws {
    let host = try ScheduledHost()
    for incident in [1, 1, 2] as [UInt64] {
      host.scheduler.receive(.misbehaved(.sample(), "its worker was killed: it lied", incident: incident))
    }
    await host.afterTurn()
    let handlers = await withCheckedContinuation { done in host.scheduler.health { done.resume(returning: $1) } }
    #expect(handlers[.sample()]?.health.failures == 2)
    #expect(handlers[.sample()]?.health.lastTrouble == "its worker was killed: it lied")
  }

  @Test("a plugin that is held back runs again by itself when its time has come")
  func wakes() async throws {
    let host = try ScheduledHost(SchedulingPolicy(retry: RetryPolicy(initial: .milliseconds(10), maximum: .seconds(60))))
    let id = try await host.submit(.sample())[0].id
    for _ in 0..<4 {
      let order = try await host.nextOrder()
      #expect(order.request == id)
      host.launcher.end(order.run, .crashed)
    }
    let last = try await host.nextOrder()
    #expect(last.attempt == 5)
    #expect(await host.ended(4).map(\.outcome) == [.crashed, .crashed, .crashed, .crashed])
    host.launcher.end(last.run, .returned(.success, stop: nil))
    await host.ended()
    let handlers = await withCheckedContinuation { done in host.scheduler.health { done.resume(returning: $1) } }
    #expect(handlers[.sample()]?.health == PluginHealth())
  }
}
