import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Events that the host raises") struct HostEventTests {
  private static let source = TaskIdentifier.sample("org.example.source")
  private static let first = TaskIdentifier.sample("org.example.first")
  private static let success = HostEvents.succeeded(source)
  private static let failure = HostEvents.failed(source)

  private static func waiting(_ event: String, debounce: Duration = .zero, every: Bool = true) -> TaskRequest {
    TaskRequest(
      identifier: .sample(), repetition: every ? RepeatRule(.event) : nil, event: EventTrigger(event, debounce: debounce))
  }

  private func world(_ policy: SchedulingPolicy = SchedulingPolicy()) throws -> World {
    try World(policy, handlers: [.sample(), .sample(Self.source, runs: 8)])
  }

  // MARK: Those who wait are handed out ahead

  /// A world whose launcher has begun one run of the handler and queues the next: that of a request that waits for the source's success.
  private func queued() throws -> (World, front: RequestID, waiting: RequestID) {
    let world = try world()
    try world.finish(try world.submit().id, .success, took: .microseconds(100))
    let front = try world.submit().id
    let waiting = try world.submit(Self.waiting(Self.success)).id
    try world.notify(Self.success)
    #expect(try world.record(waiting).state == .claimed)
    #expect(!world.hasBegun(waiting))
    return (world, front, waiting)
  }

  @Test("a run ends although one that waits for its end is queued ahead; the run to come answers both events")
  func queuedAhead() throws {
    let (world, front, waiting) = try queued()
    let source = try world.submit(.sample(Self.source)).id
    try world.finish(source, .success)
    #expect(try world.record(source).state == .succeeded)
    try world.finish(front, .success, took: .microseconds(100))
    #expect(world.hasBegun(waiting))
    try world.finish(waiting, .success, took: .microseconds(100))
    #expect(try world.record(waiting).due == .distantFuture)
    #expect(try world.runs(waiting).count == 1)
    #expect(world.core.eventCounts.merged == 1)
  }

  @Test("one that had begun before the event, unknown to the scheduler, runs once more")
  func begunUnheard() throws {
    let (world, front, waiting) = try queued()
    let source = try world.submit(.sample(Self.source)).id
    try world.finish(front, .success, took: .microseconds(100))
    #expect(world.hasBegun(waiting))
    try world.finish(source, .success)
    #expect(try world.record(waiting).state == .running)
    try world.finish(waiting, .success, took: .microseconds(100))
    #expect(world.isRunning(waiting))
    try world.finish(waiting, .success, took: .microseconds(100))
    #expect(try world.runs(waiting).count == 2)
  }

  @Test("one that is held for its time is put off by another event in its debounce time")
  func held() throws {
    var policy = SchedulingPolicy()
    policy.claimAhead = .milliseconds(20)
    let world = try world(policy)
    let waiting = try world.submit(Self.waiting(Self.success, debounce: .milliseconds(15))).id
    try world.notify(Self.success)
    #expect(world.held == [waiting: .ms(15)])
    let source = try world.submit(.sample(Self.source)).id
    world.now = .ms(10)
    try world.finish(source, .success)
    #expect(try world.record(source).state == .succeeded)
    #expect(try world.record(waiting).due == .ms(25))
    try world.advance(to: .ms(25))
    #expect(world.isRunning(waiting))
  }

  @Test("the host's other events reach one that is ahead, too")
  func raised() throws {
    let (world, front, waiting) = try queued()
    let resumed = try world.submit(Self.waiting(HostEvents.resumed)).id
    try world.turn([.raised(HostEvents.resumed)])
    try world.turn([.raised(HostEvents.resumed)])
    try world.finish(front, .success, took: .microseconds(100))
    try world.finish(waiting, .success, took: .microseconds(100))
    #expect(world.isRunning(resumed))
    try world.finish(resumed, .success, took: .microseconds(100))
    #expect(try world.runs(resumed).count == 1)
  }

  // MARK: The store fails

  @Test("an event whose commit fails is delivered once the store works again", arguments: [true, false])
  func failingStore(_ endsRun: Bool) throws {
    let world = try world()
    let source = try world.submit(.sample(Self.source)).id
    let waiting = try world.submit(Self.waiting(endsRun ? Self.success : HostEvents.resumed)).id
    world.store.fail(with: .full("the test says so"))
    #expect(throws: StoreError.self) {
      if endsRun { try world.finish(source, .success) } else { try world.turn([.raised(HostEvents.resumed)]) }
    }
    world.store.fail(with: nil)
    try world.turn()
    #expect(world.isRunning(waiting))
  }

  @Test("one that is ahead hears of the event although the store fails before it is back")
  func failingStoreWhileAhead() throws {
    let (world, front, waiting) = try queued()
    let source = try world.submit(.sample(Self.source)).id
    try world.finish(front, .success, took: .microseconds(100))
    world.losesAnswers = true
    try world.finish(source, .success)
    world.losesAnswers = false
    #expect(try world.record(source).state == .succeeded)
    world.store.fail(with: .full("the test says so"))
    #expect(throws: StoreError.self) { try world.tellBegin(waiting) }
    world.store.fail(with: nil)
    try world.turn()
    try world.finish(waiting, .success, took: .microseconds(100))
    #expect(world.isRunning(waiting), "its run had begun before the event")
  }

  @Test("a failed commit does not make the host forget who waits")
  func staleWatches() throws {
    let world = try world()
    let source = try world.submit(.sample(Self.source)).id
    let waiting = try world.submit(Self.waiting(Self.success)).id
    world.store.fail(with: .full("the test says so"))
    #expect(throws: StoreError.self) { try world.cancel(waiting) }
    world.store.fail(with: nil)
    try world.finish(source, .success)
    #expect(world.isRunning(waiting))
  }

  // MARK: What raises the failure

  private func awaitingFailure() throws -> (World, alarm: RequestID) {
    let world = try world()
    return (world, try world.submit(Self.waiting(Self.failure)).id)
  }

  @Test("an occurrence that fails, or spends its attempts, raises the failure; a retry does not", arguments: [nil, Duration.seconds(3600)])
  func attempts(_ every: Duration?) throws {
    let (world, alarm) = try awaitingFailure()
    let retry = RetryPolicy(attempts: 2, backoff: .linear, initial: .seconds(1), maximum: .seconds(1))
    let source = try world.submit(.sample(Self.source, retry: retry, every: every)).id
    try world.finish(source, .retry)
    #expect(!world.isRunning(alarm))
    try world.advance(.seconds(5))
    try world.finish(source, .retry)
    #expect(world.isRunning(alarm))
    try world.finish(alarm, .success)
    guard every != nil else { return }
    try world.advance(to: world.record(source).due)
    try world.finish(source, .failure)
    #expect(world.isRunning(alarm))
  }

  @Test("a run that crashes or is stopped by force raises the failure when it was the last attempt", arguments: ["crashed", "forced"])
  func force(_ what: String) throws {
    let (world, alarm) = try awaitingFailure()
    let retry = RetryPolicy(attempts: 1, backoff: .linear, initial: .seconds(1), maximum: .seconds(1))
    let source = try world.submit(.sample(Self.source, retry: retry)).id
    try world.end(source, what == "crashed" ? .crashed : .forced(.budget))
    #expect(try world.record(source).state == .failed)
    #expect(world.isRunning(alarm))
  }

  @Test("a request that was lost five times in a row raises the failure at the launch that finds it")
  func lost() throws {
    let (world, alarm) = try awaitingFailure()
    let source = try world.submit(.sample(Self.source)).id
    for loss in 1...Limits.lossesInARow {
      #expect(!world.isRunning(alarm))
      #expect(try world.record(source).losses == loss - 1)
      try world.restart(handlers: [.sample(), .sample(Self.source)])
    }
    #expect(try world.record(source).state == .failed)
    #expect(world.isRunning(alarm))
  }

  @Test("a request that fails because its predecessor failed raises the failure")
  func followers() throws {
    let (world, alarm) = try awaitingFailure()
    world.core.register([.sample(Self.first)])
    let first = try world.submit(.sample(Self.first)).id
    let follower = try world.submit(.sample(Self.source, after: [first])).id
    try world.finish(first, .failure)
    #expect(try world.record(follower).state == .failed)
    #expect(world.isRunning(alarm))
    try world.finish(alarm, .success)
    // Retried together, it fails again.
    try world.retry(first)
    try world.finish(first, .failure)
    #expect(world.isRunning(alarm))
  }

  @Test("a follower whose payload cannot be merged raises the failure")
  func unmergeable() throws {
    let (world, alarm) = try awaitingFailure()
    world.core.register([.sample(Self.first)])
    let first = try world.submit(.sample(Self.first)).id
    let follower = try world.submit(TaskRequest(identifier: Self.source, payload: Array("[]".utf8), after: [Dependency(.request(first))]))
      .id
    var report = RunReport()
    report.output = Array("{}".utf8)
    try world.end(first, .returned(.success, stop: nil), report)
    #expect(try world.record(follower).state == .failed)
    #expect(world.isRunning(alarm))
  }

  @Test("what a person ends raises nothing: a cancelled request, its followers, a discarded dead letter, a replaced one")
  func cancelled() throws {
    let (world, alarm) = try awaitingFailure()
    let waiting = try world.submit(.sample(Self.source, begin: .ms(999_999_999))).id
    let follower = try world.submit(.sample(Self.source, after: [waiting])).id
    try world.cancel(waiting)
    #expect(try world.record(follower).state == .cancelled)
    let running = try world.submit(.sample(Self.source, key: "k")).id
    try world.submit(.sample(Self.source, key: "k", onConflict: .replace))
    try world.finish(running, .retry, stop: .replaced)
    #expect(try world.record(running).state == .cancelled)
    #expect(!world.isRunning(alarm))
    let failed = try world.submit(.sample(Self.source)).id
    try world.finish(failed, .failure)
    try world.finish(alarm, .success)
    try world.turn { core, transaction in try core.discard(failed, transaction, now: world.now) }
    #expect(!world.isRunning(alarm))
  }
}
