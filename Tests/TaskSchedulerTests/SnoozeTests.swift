import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Putting off") struct SnoozeTests {
  private func snooze(_ world: World, _ id: RequestID, until time: WallTime) throws -> SnoozedRequest {
    try world.turn { core, transaction in try core.snooze(id, until: time, transaction, now: world.now) }
  }

  @Test("a request that waits is due then, and not before")
  func pending() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(10_000))).id
    let snoozed = try snooze(world, id, until: .ms(60_000))
    #expect(snoozed.record.due == .ms(60_000) && snoozed.notes.isEmpty)
    try world.advance(to: .ms(59_999))
    #expect(world.begun.isEmpty)
    try world.restart()
    try world.advance(to: .ms(60_000))
    #expect(world.begun == [id])
  }

  @Test("it may be put off to an earlier time again, but never to before its own")
  func earlier() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(10_000))).id
    _ = try snooze(world, id, until: .ms(60_000))
    #expect(try snooze(world, id, until: .ms(20_000)).record.due == .ms(20_000))
    let own = try snooze(world, id, until: .ms(5000))
    #expect(own.record.due == .ms(10_000) && own.notes == ["it cannot start before its own time, in 10 s: it is postponed until then"])
  }

  @Test("a delay keeps its own time when the calendar is set")
  func delay() throws {
    let world = try World()
    var request = TaskRequest.sample(begin: .ms(60_000))
    request.clock = .boot
    let id = try world.submit(request).id
    for offset in [0, 30_000] as [Int64] {
      try world.turn { core, transaction in
        try core.clockChanged(ClockReference(boot: "b", offset: offset), slept: false, transaction, now: world.now + .milliseconds(offset))
      }
    }
    #expect(try snooze(world, id, until: .ms(70_000)).record.due == .ms(90_000))
  }

  @Test("a backoff is not shortened")
  func backoff() throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, .retry)
    let due = try world.record(id).due
    #expect(try snooze(world, id, until: .ms(1000)).record.due == due)
    #expect(try snooze(world, id, until: .ms(900_000)).record.due == .ms(900_000))
  }

  @Test("of a repeating one only this occurrence is put off, and not beyond the next; the grid stays")
  func repeating() throws {
    let world = try World()
    let id = try world.submit(.sample(every: .seconds(900))).id
    try world.finish(id, .success)
    let snoozed = try snooze(world, id, until: .ms(1_000_000))
    #expect(snoozed.record.due == .ms(1_000_000) && snoozed.notes == ["it repeats: only this occurrence is postponed"])
    try world.advance(to: .ms(1_000_000))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(1_800_000))
    let far = try snooze(world, id, until: .ms(9_000_000))
    #expect(far.record.due == .ms(2_700_000) && far.notes.count == 2)
    try world.advance(to: .ms(2_700_000))
    #expect(world.begun.count == 3)
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(3_600_000))
  }

  @Test("one that waits for another is due then, once that has ended")
  func blocked() throws {
    let world = try World(handlers: [.sample(runs: 2)])
    let first = try world.submit().id
    let second = try world.submit(.sample(after: [first])).id
    #expect(try snooze(world, second, until: .ms(60_000)).notes == ["it also waits for \(first)"])
    try world.finish(first, .success)
    #expect(!world.isRunning(second))
    try world.advance(to: .ms(60_000))
    #expect(world.isRunning(second))
  }

  @Test("what runs, has ended, waits for an event, or is not there is refused; so is a time that has passed")
  func refused() throws {
    let world = try World(handlers: [.sample(runs: 2)])
    let running = try world.submit().id
    let ended = try world.submit().id
    try world.finish(ended, .success)
    var request = TaskRequest.sample()
    request.event = EventTrigger("e")
    let event = try world.submit(request).id
    for id in [running, ended, event] {
      #expect(#expect(throws: RequestRefusal.self) { try snooze(world, id, until: .ms(1000)) }?.code == .conflict)
    }
    let unknown = RequestID(sequence: 1, origin: world.store.origin)
    #expect(#expect(throws: RequestRefusal.self) { try snooze(world, unknown, until: .ms(1000)) }?.code == .notFound)
    let pending = try world.submit(.sample(begin: .ms(1000))).id
    for time in [world.now, .ms(-1), .distantFuture] {
      #expect(#expect(throws: RequestRefusal.self) { try snooze(world, pending, until: time) }?.code == .invalid)
    }
  }

  @Test("nothing is put off when the commit fails")
  func commitFails() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(1000))).id
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try snooze(world, id, until: .ms(60_000)) }
    world.store.fail(with: nil)
    try world.advance(.seconds(1))
    #expect(world.begun == [id])
  }

  @Test("what a handler asks for is taken for SNOOZE and RETRY, and limited to 366 days", arguments: [TaskResult.snooze, .retry])
  func retryAfter(_ result: TaskResult) throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, result, retryAfter: .seconds(7200))
    #expect(try world.record(id).due == .ms(7_200_000))
    try world.advance(.seconds(7200))
    try world.finish(id, result, retryAfter: .milliseconds(Int64.max))
    #expect(try world.record(id).due == world.now + .seconds(366 * 86_400))
  }
}
