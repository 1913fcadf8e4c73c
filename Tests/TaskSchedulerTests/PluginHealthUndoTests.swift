import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A standing whose commit fails") struct PluginHealthUndoTests {
  private let full = StoreError.full("no space left")

  @Test("a strike is taken back, and counted once when the outcome is recorded")
  func recordFailure() throws {
    let world = try World()
    let id = try world.submit().id
    var report = RunReport()
    report.incident = 3
    world.store.fail(with: full)
    for _ in 0..<3 { #expect(throws: full) { try world.end(id, .crashed, report) } }
    #expect(world.core.pluginHealth.isEmpty)
    #expect(world.core.handlers[.sample()]?.heldUntil == nil)
    world.store.fail(with: nil)
    try world.end(id, .crashed, report)
    #expect(try world.health().failures == 1)
    #expect(world.core.handlers[.sample()]?.heldUntil == world.now + .seconds(60))
  }

  @Test("a good run's clearing is taken back")
  func clearing() throws {
    let world = try World(handlers: [.sample(runs: 2)])
    try world.end(try world.submit().id, .crashed)
    try world.advance(.seconds(60))
    let good = try world.submit().id
    let before = try world.health()
    world.store.fail(with: full)
    #expect(throws: full) { try world.finish(good, .success) }
    world.store.fail(with: nil)
    #expect(try world.health() == before)
    #expect(world.core.handlers[.sample()]?.heldUntil == before.heldUntil)
    try world.finish(good, .success)
    #expect(try world.health() == PluginHealth())
  }

  @Test("a strike that is taken back leaves it to the runs from before to clear what was")
  func clearingAfterUndo() throws {
    let world = try World(handlers: [.sample(runs: 3)])
    try world.end(try world.submit().id, .crashed)
    try world.advance(.seconds(60))
    let ids = [try world.submit().id, try world.submit().id]
    let run = try #require(world.orders[ids[0]]).run
    world.store.fail(with: full)
    #expect(throws: full) {
      try world.turn { core, transaction in try core.end(run, .crashed, RunReport(), transaction, now: world.now) }
    }
    world.store.fail(with: nil)
    try world.finish(ids[1], .success)
    #expect(try world.health() == PluginHealth())
  }

  @Test("a release is taken back: the plugin stays quarantined")
  func release() throws {
    let world = try World(handlers: [.sample(runs: 6)])
    for id in try (0..<5).map({ _ in try world.submit().id }) { try world.end(id, .crashed) }
    let before = try world.health()
    world.store.fail(with: full)
    #expect(throws: full) { try world.release() }
    world.store.fail(with: nil)
    try world.advance(.seconds(1000))
    #expect(try world.health() == before)
    #expect(world.orders.isEmpty)
  }

  @Test("several changes of one turn are taken back to where they began")
  func several() throws {
    let world = try World(handlers: [.sample(runs: 3)])
    let ids = try (0..<3).map { _ in try world.submit().id }
    let runs = try ids.map { try #require(world.orders[$0]).run }
    world.store.fail(with: full)
    #expect(throws: full) {
      try world.turn { core, transaction in
        try core.end(runs[0], .crashed, RunReport(), transaction, now: world.now)
        try core.end(runs[1], .returned(.success, stop: nil), RunReport(), transaction, now: world.now)
        try core.end(runs[2], .crashed, RunReport(), transaction, now: world.now)
        _ = try core.release(.sample(), transaction)
      }
    }
    world.store.fail(with: nil)
    #expect(try world.health() == PluginHealth())
    #expect(world.core.live.count == 3)
  }

  @Test("a release in a change that is refused is taken back, the strike before it in the turn is not")
  func refused() throws {
    let world = try World()
    let id = try world.submit().id
    let run = try #require(world.orders[id]).run
    var refused: Result<PluginHealth, RequestRefusal>?
    try world.turn([
      .ended(run, .crashed, RunReport()),
      .write(
        Write({ refused = $0 }) { core, transaction, _ in
          _ = try core.release(.sample(), transaction)
          return try core.release(.sample("org.example.unknown"), transaction)
        }),
    ])
    #expect(throws: RequestRefusal.self) { try #require(refused).get() }
    #expect(try world.health().failures == 1)
    #expect(world.lastTurn.pluginHealth.count == 1)
    #expect(world.core.handlers[.sample()]?.heldUntil == world.now + .seconds(60))
  }
}
