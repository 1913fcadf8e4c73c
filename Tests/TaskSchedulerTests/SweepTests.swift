import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("What a request leaves that ends without a run") struct SweepTests {
  private static let key = "sweep"

  private func world() throws -> World {
    let world = try World(handlers: [.sample(runs: 4)])
    world.core.completions = CompletionRule(
      identifier: .sample(), refusal: { _, _ in nil },
      sweep: { ended in
        guard ended.request.uniqueKey != Self.key else { return nil }
        var sweep = TaskRequest.sample()
        (sweep.uniqueKey, sweep.onConflict) = (Self.key, .keep)
        return sweep
      }, request: { _, _, _ in nil })
    return world
  }

  private func sweeps(_ world: World) throws -> Int {
    var query = RequestQuery()
    query.states = [.pending, .claimed, .running]
    return try world.store.requests(query).count { $0.request.uniqueKey == Self.key }
  }

  /// A request that is in its backoff, or a dead letter.
  private func tried(_ world: World, _ result: TaskResult = .retry) throws -> RequestID {
    let id = try world.submit().id
    try world.finish(id, result, retryAfter: result == .retry ? .seconds(3600) : nil)
    return id
  }

  @Test("is removed by a sweep: once, however many are cancelled together")
  func cancelled() throws {
    let world = try world()
    let ids = [try tried(world), try tried(world)]
    #expect(try sweeps(world) == 0)
    try world.turn { core, transaction in for id in ids { _ = try core.cancel(id, transaction, now: world.now) } }
    #expect(try sweeps(world) == 1)
  }

  @Test("is removed when a dead letter is discarded, not when it becomes one")
  func discarded() throws {
    let world = try world()
    let id = try tried(world, .failure)
    #expect(try sweeps(world) == 0)
    _ = try world.turn { core, transaction in try core.discard(id, transaction, now: world.now) }
    #expect(try sweeps(world) == 1)
  }

  @Test("is nothing if it has never run, or if its run removes it")
  func untried() throws {
    let world = try world()
    try world.cancel(world.submit(.sample(begin: world.now + .seconds(60))).id)
    let running = try world.submit().id
    try world.cancel(running)
    try world.finish(running, .snooze, stop: .cancelled)
    #expect(try world.record(running).state == .cancelled)
    #expect(try sweeps(world) == 0)
  }
}
