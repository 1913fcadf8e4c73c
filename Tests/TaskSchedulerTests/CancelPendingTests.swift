import HostThreads
import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@testable import TaskScheduler

@Suite("Cancelling what is pending of an identifier") struct CancelPendingTests {
  private static let other = TaskIdentifier.sample("org.example.other")
  private static let later = WallTime.ms(3_600_000)

  private func cancelPending(_ world: World, _ identifiers: TaskIdentifier...) throws -> Int {
    try world.turn { core, transaction in try core.cancelPending(of: identifiers, transaction, now: world.now) }
  }

  @Test("what is pending is cancelled and never starts; other identifiers keep theirs")
  func pending() throws {
    let world = try World(handlers: [.sample(), .sample(Self.other)])
    let mine = try [world.submit(.sample(begin: Self.later)).id, world.submit(.sample(begin: .ms(1000), priority: 5)).id]
    let others = try world.submit(.sample(Self.other, begin: .ms(1000))).id
    #expect(try cancelPending(world, .sample()) == 2)
    for id in mine {
      #expect(try world.record(id).state == .cancelled)
      #expect(try world.record(id).ended == world.now)
      #expect(try world.record(id).lastMessage == "cancelled")
    }
    try world.advance(.seconds(7200))
    #expect(world.begun == [others])
    #expect(try cancelPending(world, .sample()) == 0)
  }

  @Test("of several identifiers everything is cancelled and counted")
  func several() throws {
    let world = try World(handlers: [.sample(), .sample(Self.other)])
    for _ in 0..<3 { try world.submit(.sample(begin: Self.later)) }
    try world.submit(.sample(Self.other, begin: Self.later))
    #expect(try cancelPending(world, .sample(), Self.other, .sample("org.example.unknown")) == 4)
    #expect(try world.store.counts() == [.cancelled: 4])
  }

  @Test("a run in progress goes on, and what it leads to as well", arguments: [TaskResult.success, .retry])
  func running(_ result: TaskResult) throws {
    let world = try World()
    let id = try world.submit().id
    #expect(try cancelPending(world, .sample()) == 0)
    #expect(world.expirations.isEmpty)
    #expect(try world.record(id).stopRequested == nil)
    try world.finish(id, result)
    #expect(try world.record(id).state == (result == .success ? .succeeded : .pending))
  }

  @Test("a request that is to be tried again, or waits for its next occurrence, is pending")
  func again() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 4), handlers: [.sample(runs: 4)])
    let retried = try world.submit().id
    let repeating = try world.submit(.sample(every: .seconds(900))).id
    try world.finish(retried, .retry)
    try world.finish(repeating, .success)
    #expect(try cancelPending(world, .sample()) == 2)
    for id in [retried, repeating] { #expect(try world.record(id).state == .cancelled) }
    try world.advance(.seconds(86_400))
    #expect(world.begun == [retried, repeating])
  }

  @Test("a request that waits for another's run is cancelled, the run is left alone")
  func blocked() throws {
    let world = try World()
    let first = try world.submit(.sample(key: "k", onConflict: .replace)).id
    let second = try world.submit(.sample(key: "k", onConflict: .replace)).id
    #expect(try cancelPending(world, .sample()) == 1)
    #expect(try world.record(second).state == .cancelled)
    try world.finish(first, .success)
    #expect(world.begun == [first])
  }

  @Test("a request that is handed out ahead of its time and has not begun is cancelled; one that has begun is not")
  func heldBack() throws {
    var policy = SchedulingPolicy()
    policy.claimAhead = .milliseconds(5)
    let world = try World(policy, handlers: [.sample(runs: 4), .sample(Self.other)])
    let running = try world.submit().id
    let held = try world.submit(.sample(begin: .ms(3))).id
    let others = try world.submit(.sample(Self.other, begin: .ms(3))).id
    #expect(try world.record(held).state == .claimed)
    #expect(try cancelPending(world, .sample()) == 1)
    #expect(world.expirations.isEmpty)
    #expect(try world.record(held).state == .cancelled)
    #expect(try world.runs(held).isEmpty)
    #expect(try world.record(running).stopRequested == nil)
    try world.advance(.milliseconds(3))
    #expect(world.begun == [running, others])
  }

  @Test("the request of a schedule stays: it is the operator's")
  func schedule() throws {
    let world = try World()
    try world.restart(schedules: [ScheduleName(.sample()): ScheduledRequest(every: .seconds(900))])
    let id = try #require(world.begun.first)
    try world.finish(id, .success)
    let mine = try world.submit(.sample(begin: Self.later)).id
    #expect(try cancelPending(world, .sample()) == 1)
    #expect(try world.record(id).state == .pending)
    #expect(try world.record(mine).state == .cancelled)
  }

  @Test("what is cancelled makes room under max_pending")
  func room() throws {
    let world = try World(SchedulingPolicy(maxPending: 2))
    for _ in 0..<2 { try world.submit(.sample(begin: Self.later)) }
    #expect(throws: RequestRefusal.self) { try world.submit(.sample(begin: Self.later)) }
    #expect(try cancelPending(world, .sample()) == 2)
    for _ in 0..<2 { try world.submit(.sample(begin: Self.later)) }
  }

  @Test("nothing is cancelled when the commit fails")
  func commitFails() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(1000))).id
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try cancelPending(world, .sample()) }
    world.store.fail(with: nil)
    #expect(try world.record(id).state == .pending)
    try world.advance(.seconds(1))
    #expect(world.begun == [id])
  }

  // MARK: On the scheduler's thread

  private func cancelPending(_ host: ScheduledHost, from order: RunOrder) async throws -> Int {
    try await withCheckedThrowingContinuation { done in
      let run = RunReference(run: order.run, request: order.request, identifier: .sample())
      host.scheduler.perform(.cancelPending(of: [.sample()]).onBehalf(of: run)) { done.resume(with: $0) }
    }
  }

  @Test("a run cancels what is pending of its identifier, durably by the time it is answered, but not itself")
  func fromRun() async throws {
    let host = try ScheduledHost()
    let pending = try await host.submit(.sample(begin: WallTime(unixMilliseconds: 4_102_444_800_000)))[0].id
    try await host.submit(.sample())
    let order = try await host.nextOrder()
    #expect(try await cancelPending(host, from: order) == 1)
    #expect(try host.record(pending).state == .cancelled)
    #expect(try host.record(order.request).state == .running)
    host.launcher.end(order.run, .returned(.success, stop: nil))
    #expect(await host.ended().map(\.outcome) == [.succeeded])
  }

  @Test("a run that is not its request's present one cancels nothing")
  func fenced() async throws {
    let host = try ScheduledHost()
    let pending = try await host.submit(.sample(begin: WallTime(unixMilliseconds: 4_102_444_800_000)))[0].id
    try await host.submit(.sample())
    let order = try await host.nextOrder()
    host.launcher.end(order.run, .returned(.success, stop: nil))
    await host.ended()
    await #expect(throws: RequestRefusal.self) { try await cancelPending(host, from: order) }
    #expect(try host.record(pending).state == .pending)
  }

  @Test("what plugins asked for while they launched is carried out in their order, after what the host before left is settled")
  func atLaunch() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { store.close() }
    let lost = RequestRecord.sample(1, origin: store.origin)
    let scheduled = TaskRequest.scheduleKeyPrefix + TaskIdentifier.sample().rawValue
    try store.commit { transaction in
      try transaction.insert(lost)
      try transaction.start(lost.id, run: RunID(sequence: 3, origin: store.origin), at: .testStart)
      try transaction.insert(.sample(2, origin: store.origin, key: scheduled, every: .seconds(900)))
    }
    let scheduler = try Scheduler(policy: SchedulingPolicy(), store: store, clock: SystemClock())
    defer { scheduler.stop() }
    let far = WallTime(unixMilliseconds: 4_102_444_800_000)
    _ = try scheduler.start(
      RecordingLauncher(ending: nil), contracts: [.sample(), .sample(Self.other)],
      schedules: [ScheduleName(.sample()): ScheduledRequest(every: .seconds(900))],
      changes: [
        LaunchChange.submit(.sample(begin: far)), .submit(.sample(Self.other, begin: far)), .cancel([.sample()]),
        .submit(.sample(begin: far)),
      ].map { PluginLaunchChange($0, by: .sample()) })
    let records = try store.requests(RequestQuery()).reversed()
    #expect(records.map(\.request.identifier) == [.sample(), .sample(), .sample(), Self.other, .sample()])
    #expect(records.map { $0.state == .cancelled } == [true, false, true, false, false])
  }
}
