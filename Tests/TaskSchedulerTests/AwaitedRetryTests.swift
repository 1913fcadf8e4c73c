import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A backoff that the change of a file ends") struct AwaitedRetryTests {
  private static let other = TaskIdentifier.sample("org.example.other")

  /// A world in which a run of the sample that outputs `token` waits for the file that its payload names.
  private func world() throws -> World {
    let world = try World(handlers: [.sample(runs: 4), .sample(Self.other)])
    world.core.completions = CompletionRule(
      identifier: .sample(), refusal: { _, _ in nil },
      awaitedFile: { payload, output in output == Array("token".utf8) ? String(decoding: payload, as: UTF8.self) : nil },
      request: { _, _, _ in nil })
    return world
  }

  private func submit(_ path: String, _ world: World, identifier: TaskIdentifier = .sample()) throws -> RequestID {
    var request = TaskRequest.sample(identifier)
    request.payload = Array(path.utf8)
    return try world.submit(request).id
  }

  private func fail(_ id: RequestID, _ world: World, _ output: String = "token", _ result: TaskResult = .retry) throws {
    var report = RunReport()
    (report.output, report.retryAfter) = (Array(output.utf8), .seconds(3600))
    try world.end(id, .returned(result, stop: nil), report)
  }

  private func change(_ path: String, _ world: World) throws {
    _ = try world.turn { core, transaction in
      try core.notify(EventTrigger.filePrefix + path, payload: nil, transaction, now: world.now)
    }
  }

  @Test("those that wait for the file are due shortly after it has changed; others wait for their backoff")
  func changed() throws {
    let world = try world()
    let first = try submit("/a", world)
    let second = try submit("/b", world)
    let third = try submit("/a", world)
    try fail(first, world)
    #expect(world.lastTurn.watches == ["/a"])
    try fail(second, world)
    #expect(world.lastTurn.watches == ["/a", "/b"])
    try fail(third, world, "something else")
    #expect(try world.gates(first).first?.contains("unless /a changes") == true)
    try change("/a", world)
    #expect(try world.record(first).due == world.now + SchedulerCore.quietTime)
    #expect(try world.record(first).attemptsSpent == 1)
    for id in [second, third] { #expect(try world.record(id).due == world.now + .seconds(3600)) }
    try world.advance(SchedulerCore.quietTime)
    #expect(world.isRunning(first) && !world.isRunning(second))
  }

  @Test("a file is watched no longer when nothing waits for it")
  func over() throws {
    let world = try world()
    let cancelled = try submit("/a", world)
    try fail(cancelled, world)
    try world.cancel(cancelled)
    let ended = try submit("/b", world)
    try fail(ended, world)
    try change("/b", world)
    try world.advance(.seconds(1))
    try fail(ended, world, "", .success)
    #expect(world.core.awaitedRetries.paths.isEmpty)
    try change("/a", world)
    #expect(try world.record(cancelled).state == .cancelled)
  }

  @Test("only the rule's identifier can wait so")
  func others() throws {
    let world = try world()
    let id = try submit("/a", world, identifier: Self.other)
    try fail(id, world)
    #expect(world.core.awaitedRetries.paths.isEmpty)
  }

  @Test("a new host finds what waits")
  func restarted() throws {
    let world = try world()
    let id = try submit("/a", world)
    try fail(id, world)
    try world.restart(handlers: [.sample(runs: 4), .sample(Self.other)])
    #expect(world.core.awaitedRetries.path(of: id) == "/a")
    try change("/a", world)
    try world.advance(.seconds(1))
    #expect(world.isRunning(id))
  }

  @Test("one that repeats and has given up waits for its next occurrence, whatever changes")
  func gaveUp() throws {
    let world = try world()
    var request = TaskRequest.sample(every: .seconds(86_400))
    request.payload = Array("/a".utf8)
    request.retry = RetryPolicy(attempts: 1)
    let id = try world.submit(request).id
    try world.advance(.seconds(86_400))
    try fail(id, world)
    let due = try world.record(id).due
    #expect(try world.record(id).lastOutcome == .retried && world.core.awaitedRetries.paths.isEmpty)
    #expect(try world.gates(id).first?.hasPrefix("not before its time") == true)
    try change("/a", world)
    try world.restart(handlers: [.sample(runs: 4), .sample(Self.other)])
    try change("/a", world)
    #expect(try world.record(id).due == due && due > world.now)
  }

  @Test("a change that cannot be recorded ends no backoff, and the next one does")
  func undone() throws {
    let world = try world()
    let id = try submit("/a", world)
    try fail(id, world)
    world.store.fail(with: .full("no space"))
    #expect(throws: (any Error).self) { try change("/a", world) }
    world.store.fail(with: nil)
    #expect(try world.record(id).due == world.now + .seconds(3600))
    try change("/a", world)
    #expect(try world.record(id).due == world.now + SchedulerCore.quietTime)
  }
}
