import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A turn whose commit fails") struct UndoTests {
  private let full = StoreError.full("no space left")

  @Test("starts are taken back: nothing is live, and the request starts in the next turn")
  func starts() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(1000))).id
    world.store.fail(with: full)
    #expect(throws: full) { try world.advance(.seconds(1)) }
    #expect(world.core.live.isEmpty)
    #expect(world.core.occupiedSlots == 0)
    #expect(world.core.handlers[.sample()]?.running == 0)
    world.store.fail(with: nil)
    try world.turn()
    #expect(world.begun == [id])
    #expect(world.core.occupiedSlots == 1)
  }

  @Test("wake-ups are taken back: they spend nothing of the event quota")
  func wakes() throws {
    var policy = SchedulingPolicy()
    policy.eventQuota = try Rate("1/1m")
    let world = try World(policy)
    let id = try world.submit(TaskRequest(identifier: .sample(), event: EventTrigger("push"))).id
    world.store.fail(with: full)
    for _ in 0..<5 { #expect(throws: full) { try world.notify("push") } }
    world.store.fail(with: nil)
    try world.notify("push")
    #expect(world.isRunning(id))
  }

  @Test("an end is taken back and can be recorded later: the slot is taken until then")
  func ends() throws {
    let world = try World()
    let id = try world.submit().id
    let next = try world.submit().id
    world.store.fail(with: full)
    #expect(throws: full) { try world.finish(id, .success) }
    #expect(world.core.live.count == 1)
    #expect(world.core.occupiedSlots == 1)
    #expect(!world.isRunning(next))
    world.store.fail(with: nil)
    try world.finish(id, .success)
    #expect(try world.record(id).state == .succeeded)
    #expect(try world.runs(id).count == 1)
    #expect(world.begun == [id, next])
    #expect(world.core.occupiedSlots == 1)
  }

  @Test("submissions are taken back from what max_pending counts")
  func submissions() throws {
    let world = try World(SchedulingPolicy(maxPending: 2))
    try world.submit(.sample(begin: .ms(60_000)))
    world.store.fail(with: full)
    for _ in 0..<3 { #expect(throws: full) { try world.submit() } }
    world.store.fail(with: nil)
    try world.submit()
    #expect(throws: RequestRefusal.self) { try world.submit() }
  }

  @Test("a wish to cancel that was recorded stays, when a second one is undone")
  func secondCancel() throws {
    let world = try World()
    let id = try world.submit().id
    try world.cancel(id)
    world.store.fail(with: full)
    #expect(throws: full) { try world.cancel(id) }
    world.store.fail(with: nil)
    try world.finish(id, .success)
    #expect(try world.record(id).state == .cancelled)
  }

  @Test("a wish to cancel that was not recorded is gone")
  func firstCancel() throws {
    let world = try World()
    let id = try world.submit().id
    world.store.fail(with: full)
    #expect(throws: full) { try world.cancel(id) }
    world.store.fail(with: nil)
    #expect(world.expirations.isEmpty)
    try world.finish(id, .success)
    #expect(try world.record(id).state == .succeeded)
  }

  @Test("a cancel and the end of the run, undone together, leave the run as it was")
  func cancelAndEnd() throws {
    let world = try World()
    let id = try world.submit().id
    let run = try #require(world.orders[id]).run
    world.store.fail(with: full)
    #expect(throws: full) {
      try world.turn { core, transaction in
        _ = try core.cancel(id, transaction, now: world.now)
        try core.end(run, .returned(.success, stop: nil), RunReport(), transaction, now: world.now)
      }
    }
    world.store.fail(with: nil)
    #expect(world.core.live[run]?.stopRequested == nil)
    try world.finish(id, .success)
    #expect(try world.record(id).state == .succeeded)
  }

  @Test("a change that is refused takes back only itself, not the others of its turn")
  func refusal() throws {
    let world = try World(SchedulingPolicy(maxPending: 3))
    let running = try world.submit(.sample(key: "k", onConflict: .replace)).id
    world.core.isObserved = true
    var results: [Result<[Submission], RequestRefusal>] = []
    // The second replaces the one that runs, adds one and is refused at the third: none of it has happened.
    let batches: [[TaskRequest]] = [
      [.sample(begin: .ms(5))], [.sample(key: "k", onConflict: .replace), .sample()], [.sample(begin: .ms(6))],
    ]
    try world.turn(
      batches.map { batch in
        .write(Write({ results.append($0) }) { core, transaction, now in try batch.map { try core.submit($0, transaction, now: now) } })
      })
    #expect(results.map { (try? $0.get().count) } == [1, nil, 1])
    #expect(world.lastTurn.expirations.isEmpty)
    #expect(world.lastTurn.events.count == 2)
    #expect(try world.record(running).stopRequested == nil)
    #expect(try world.store.counts() == [.running: 1, .pending: 2])
    #expect(throws: RequestRefusal.self) { try world.submit() }
    try world.finish(running, .success)
    #expect(try world.record(running).state == .succeeded)
    try world.advance(.seconds(1))
    #expect(world.begun.count == 2)
  }
}
