import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("The scheduling engine") struct SchedulingEngineTests {
  private let full = StoreError.full("no space left")

  @Test("keeps what a failed commit could not record: the next turn records it, whatever that is about")
  func keepsEnds() throws {
    let world = try World(handlers: [.sample(runs: 2)])
    let ids = [try world.submit().id, try world.submit().id]
    world.store.fail(with: full)
    for id in ids { #expect(throws: full) { try world.finish(id, .success) } }
    #expect(world.core.live.count == 2)
    world.store.fail(with: nil)
    try world.turn()
    #expect(try world.store.counts() == [.succeeded: 2])
    #expect(world.core.occupiedSlots == 0)
  }

  @Test("starts nothing while the store fails, until a commit works again")
  func trouble() throws {
    let world = try World()
    let id = try world.submit().id
    world.store.fail(with: full)
    #expect(throws: full) { try world.finish(id, .success) }
    #expect(world.core.storeTrouble == full && world.core.storeTroubleSince == world.now)
    #expect(!world.core.mayDispatch(now: world.now) && world.core.nextTurn(now: world.now) == nil)
    world.store.fail(with: nil)
    try world.turn()
    #expect(world.core.storeTrouble == nil && world.core.storeTroubleSince == nil)
  }

  @Test("answers a change at once whose commit fails, and does not make it later")
  func refusesChanges() throws {
    let world = try World()
    var results: [Result<Submission, RequestRefusal>] = []
    let write = Write({ results.append($0) }) { core, transaction, now in try core.submit(.sample(), transaction, now: now) }
    world.store.fail(with: full)
    #expect(throws: full) { try world.turn([.write(write)]) }
    #expect(results.count == 1)
    let refusal = #expect(throws: RequestRefusal.self) { try results.first?.get() }
    #expect(refusal?.code == .unavailable)
    world.store.fail(with: nil)
    try world.turn()
    #expect(results.count == 1)
    #expect(try world.store.counts().isEmpty)
  }

  @Test("asks launchers for what they have ahead when a commit fails, and hands it out anew when the store works")
  func asksBack() throws {
    let world = try World()
    try world.finish(try world.submit().id, .success, took: .microseconds(100))
    try world.turn { core, transaction in
      for _ in 0..<5 { _ = try core.submit(.sample(), transaction, now: world.now) }
    }
    let ahead = Set(world.core.claims.keys)
    #expect(ahead.count == 4)
    world.store.fail(with: full)
    #expect(throws: full) { try world.submit() }
    world.store.fail(with: nil)
    try world.turn()
    #expect(Set(world.lastTurn.released.map(\.entry.run)) == ahead)
    #expect(world.core.claims.count == 4 && ahead.isDisjoint(with: world.core.claims.keys))
  }

  @Test("changes of one turn are answered in their order, those that wait for a launcher last")
  func order() throws {
    let world = try World(handlers: [.sample(), .sample(World.other)])
    try world.finish(try world.submit().id, .success, took: .microseconds(100))
    try world.turn { core, transaction in
      for _ in 0..<5 { _ = try core.submit(.sample(), transaction, now: world.now) }
    }
    let ahead = try #require(world.core.claims.values.map(\.entry.request).max())
    var answered: [String] = []
    try world.turn([
      .write(Write({ _ in answered.append("cancel") }) { core, transaction, now in try core.cancel(ahead, transaction, now: now) }),
      .write(
        Write({ _ in answered.append("submit") }) { core, transaction, now in
          try core.submit(.sample(World.other), transaction, now: now)
        }),
    ])
    #expect(answered == ["submit", "cancel"])
    #expect(try world.record(ahead).state == .cancelled)
  }
}
