import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

@Suite("Draining", .timeLimit(.minutes(10))) struct DrainTests {
  @Test("a host without live runs has drained at once, and takes nothing more")
  func idle() async throws {
    let host = try ScheduledHost()
    await host.drain(.seconds(3600))
    let refusal = await #expect(throws: RequestRefusal.self) { try await host.submit(.sample()) }
    #expect(refusal?.code == .unavailable)
  }

  @Test("live runs may end inside the timeout; what is pending does not start")
  func inTime() async throws {
    let host = try ScheduledHost()
    let ids = try await host.submit(.sample(), .sample()).map(\.id)
    let order = try await host.nextOrder()
    let drained = host.beginDrain(.seconds(3600))
    host.launcher.end(order.run, .returned(.success, stop: nil))
    for await _ in drained {}
    #expect(try host.record(ids[0]).state == .succeeded)
    #expect(try host.record(ids[1]).state == .pending)
  }

  @Test("at the timeout live runs are asked to stop; their requests are pending for the next host")
  func timeout() async throws {
    let host = try ScheduledHost(handlers: [.sample(runs: 2)])
    let ids = try await host.submit(.sample(), .sample()).map(\.id)
    let runs = [try await host.nextOrder().run, try await host.nextOrder().run]
    async let drained: Void = host.drain(.milliseconds(20))
    let calls = [try await host.nextCall(), try await host.nextCall()]
    #expect(runs.allSatisfy { calls.contains(.expire($0, .draining)) })
    host.launcher.end(runs[0], .returned(.retry, stop: .draining))
    host.launcher.end(runs[1], .forced(.draining))
    await drained
    for id in ids {
      #expect(try host.record(id).state == .pending)
      #expect(try host.record(id).attemptsSpent == 0)
    }
  }

  @Test("a run that holds an assertion is not asked to stop before it holds none any more")
  func spared() async throws {
    let host = try ScheduledHost(handlers: [.sample(runs: 2)])
    try await host.submit(.sample(), .sample())
    let runs = [try await host.nextOrder().run, try await host.nextOrder().run]
    host.scheduler.spare([runs[0]])
    async let drained: Void = host.drain(.milliseconds(20))
    #expect(try await host.nextCall() == .expire(runs[1], .draining))
    host.launcher.end(runs[1], .returned(.retry, stop: .draining))
    host.scheduler.spare([])
    #expect(try await host.nextCall() == .expire(runs[0], .draining))
    host.launcher.end(runs[0], .returned(.retry, stop: .draining))
    await drained
  }

  @Test("a run whose assertion ends within the timeout has the rest of it, and force spares nobody")
  func sparedInTime() async throws {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    let run = try await host.nextOrder().run
    host.scheduler.spare([run])
    let drained = host.beginDrain(.seconds(3600))
    host.scheduler.spare([])
    host.scheduler.spare([run])
    host.scheduler.force()
    #expect(try await host.nextCall() == .force(run, .draining), "it was not asked to stop")
    host.launcher.end(run, .forced(.draining))
    for await _ in drained {}
  }

  @Test("force does not wait for the timeout, and counts against nobody")
  func force() async throws {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    let run = try await host.nextOrder().run
    let drained = host.beginDrain(.seconds(3600))
    host.scheduler.force()
    #expect(try await host.nextCall() == .force(run, .draining))
    host.launcher.end(run, .forced(.draining))
    for await _ in drained {}
    #expect(try host.store.commit { try $0.pluginHealth() }.isEmpty)
  }

  @Test("a second drain with a shorter timeout counts, and both are answered")
  func twice() async throws {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    let run = try await host.nextOrder().run
    async let first: Void = host.drain(.seconds(3600))
    async let second: Void = host.drain(.milliseconds(1))
    #expect(try await host.nextCall() == .expire(run, .draining))
    host.launcher.end(run, .returned(.success, stop: .draining))
    _ = await (first, second)
  }

  // MARK: Runs that are held until their time

  private static var early: SchedulingPolicy {
    var policy = SchedulingPolicy()
    policy.claimAhead = .seconds(3600)
    return policy
  }

  private func soon(_ duration: Duration) -> TaskRequest { .sample(begin: SystemClock().wallTime + duration) }

  @Test("a run that is held is given out shortly before its time, and says when that is")
  func held() async throws {
    let host = try ScheduledHost(Self.early)
    let request = soon(.milliseconds(200))
    let id = try await host.submit(request)[0].id
    let state = try host.record(id).state
    // On a busy machine its time may have come before that was read.
    if SystemClock().wallTime < request.earliestBegin ?? .testStart { #expect(state == .claimed) }
    let order = try await host.nextOrder()
    // As a launcher does.
    if let time = order.notBefore { SystemClock.waitExactly(until: time) }
    #expect(SystemClock().wallTime >= request.earliestBegin ?? .testStart)
    #expect(order.request == id)
  }

  @Test("of runs that are held until the same time, those with the best rank begin first")
  func heldRanks() async throws {
    // On a busy machine their time may come before all are submitted: then once more, with more time.
    for ahead in [1, 5, 25, 125] {
      let host = try ScheduledHost(Self.early, handlers: [.sample(runs: 8)])
      var request = soon(.seconds(ahead))
      var ids: [Int: RequestID] = [:]
      for priority in [0, 3, 1, 2] {
        request.priority = priority
        ids[priority] = try await host.submit(request)[0].id
      }
      guard SystemClock().wallTime + .milliseconds(500) < request.earliestBegin ?? .testStart else { continue }
      for priority in [3, 2, 1, 0] { #expect(try await host.nextOrder().request == ids[priority]) }
      return
    }
    Issue.record("four submissions took two minutes")
  }

  @Test("a run that is held is cancelled without having begun")
  func heldCancelled() async throws {
    let host = try ScheduledHost(Self.early)
    let id = try await host.submit(soon(.seconds(1000)))[0].id
    #expect(try await host.cancel(id).state == .cancelled)
    #expect(try host.record(id).state == .cancelled)
    #expect(try host.store.runs(RunQuery()).isEmpty)
    #expect(await host.liveRuns().isEmpty)
  }

  @Test("a run that is held is given back when the host drains")
  func heldDrained() async throws {
    let host = try ScheduledHost(Self.early)
    let request = soon(.seconds(1000))
    let id = try await host.submit(request)[0].id
    await host.drain(.seconds(3600))
    let record = try host.record(id)
    #expect(record.state == .pending)
    #expect(record.attemptsSpent == 0)
    #expect(record.due == request.earliestBegin)
    #expect(try host.store.runs(RunQuery()).isEmpty)
  }
}
