import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Requests that are handed out ahead") struct AheadTests {
  private static var policy: SchedulingPolicy {
    var policy = SchedulingPolicy()
    policy.claimAhead = .milliseconds(5)
    return policy
  }

  // MARK: Ahead of their time

  @Test("what is due in 3 ms is claimed, and its order is held until then")
  func held() throws {
    let world = try World(Self.policy)
    let id = try world.submit(.sample(begin: .ms(3))).id
    #expect(world.held == [id: .ms(3)])
    #expect(world.begun.isEmpty)
    let record = try world.record(id)
    #expect(record.state == .claimed)
    #expect(record.started == nil)
    try world.advance(to: .ms(3))
    #expect(world.begun == [id])
    world.now = .ms(4)
    try world.finish(id, .success)
    #expect(try world.runs(id).map(\.started) == [.ms(3)])
  }

  @Test("what is due later than that waits, and the next turn is that much earlier")
  func later() throws {
    let world = try World(Self.policy)
    let id = try world.submit(.sample(begin: .ms(100))).id
    #expect(!world.isRunning(id))
    #expect(world.core.nextStart(now: world.now) == .ms(95))
    try world.advance(.milliseconds(94))
    #expect(!world.isRunning(id))
    try world.advance(.milliseconds(1))
    #expect(world.held == [id: .ms(100)])
  }

  @Test("what is due goes before what will be, when there is one slot")
  func dueFirst() throws {
    let world = try World(Self.policy)
    let running = try world.submit().id
    let soon = try world.submit(.sample(begin: .ms(1003))).id
    let due = try world.submit(.sample(begin: .ms(999))).id
    world.now = .ms(1000)
    try world.finish(running, .success)
    #expect(world.begun == [running, due])
    #expect(!world.isRunning(soon))
  }

  @Test("one that is taken back before its time is pending again: no run, no attempt, no loss")
  func givenBack() throws {
    let world = try World(Self.policy)
    let id = try world.submit(.sample(begin: .ms(5))).id
    world.core.isDraining = true
    try world.turn()
    try expectUntouched(id, world)
    #expect(world.core.claims.isEmpty && world.held.isEmpty)
  }

  /// It is pending, and nothing says that it was ever anything else.
  private func expectUntouched(_ id: RequestID, _ world: World, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let record = try world.record(id)
    #expect(record.state == .pending && record.run == nil, sourceLocation: sourceLocation)
    #expect(record.attemptsSpent == 0 && record.losses == 0 && record.started == nil, sourceLocation: sourceLocation)
    #expect(try world.runs(id).isEmpty, sourceLocation: sourceLocation)
  }

  @Test("one whose window has closed by its time stays pending")
  func windowClosed() throws {
    var policy = Self.policy
    policy.claimAhead = .seconds(5)
    policy.windows = ["night": try MaintenanceWindow(from: "00:00", to: "00:01", zone: policy.timeZones("UTC"))]
    let world = try World(policy)
    var request = TaskRequest.sample(begin: .ms(61_000))
    request.gates.window = "night"
    world.now = .ms(58_000)
    let id = try world.submit(request).id
    #expect(world.held == [id: .ms(61_000)])
    try world.advance(to: .ms(61_000))
    try expectUntouched(id, world)
    #expect(world.begun.isEmpty)
  }

  @Test("one whose slot was taken meanwhile waits for the next")
  func slotTaken() throws {
    let world = try World(Self.policy)
    let soon = try world.submit(.sample(begin: .ms(5))).id
    let now = try world.submit().id
    #expect(world.begun == [now])
    try world.advance(to: .ms(5))
    try expectUntouched(soon, world)
    try world.finish(now, .success)
    #expect(world.begun == [now, soon])
  }

  @Test("a cancelled one never begins")
  func heldCancelled() throws {
    let world = try World(Self.policy)
    let id = try world.submit(.sample(begin: .ms(5))).id
    #expect(try world.cancel(id).state == .cancelled)
    try world.advance(to: .ms(10))
    #expect(world.begun.isEmpty)
    #expect(try world.runs(id).isEmpty)
  }

  // MARK: Beyond the slots of a handler

  /// A world where the handler's runs take `took`, and `count` more requests are due.
  private func busy(_ took: Duration? = .microseconds(100), slots: Int = 1, hostSlots: Int = 16, count: Int = 200) throws -> World {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: hostSlots), handlers: [.sample(runs: slots)])
    let first = try world.submit().id
    try world.finish(first, .success, took: took)
    try world.turn { core, transaction in
      for _ in 0..<count { _ = try core.submit(.sample(), transaction, now: world.now) }
    }
    return world
  }

  @Test(
    "a handler of short runs is given more than its slots, never more than 240 ahead",
    arguments: [
      (Duration.microseconds(1), 1, 241), (.microseconds(8), 1, 241), (.microseconds(200), 1, 11), (.microseconds(200), 2, 22),
      (.microseconds(1999), 1, 2), (.zero, 4, 244),
    ])
  func short(_ took: Duration, _ slots: Int, _ given: Int) throws {
    let world = try busy(took, slots: slots, count: 300)
    #expect(world.orders.count == given)
    #expect(world.core.occupiedSlots == slots)
  }

  @Test(
    "one whose runs are long, or of which nothing is known, is given its slots", arguments: [Duration.milliseconds(2), .seconds(3), nil])
  func long(_ took: Duration?) throws {
    #expect(try busy(took, slots: 3).orders.count == 3)
  }

  @Test("one long run ends the privilege at once")
  func longOnce() throws {
    let world = try busy(.microseconds(200))
    #expect(world.orders.count == 11)
    let id = try #require(world.orders.keys.first)
    try world.finish(id, .success, took: .milliseconds(30))
    #expect(world.orders.count == 10)
  }

  @Test("slots of the host are counted by what can run at once: another handler finds one free")
  func hostSlots() throws {
    let other = TaskIdentifier.sample("org.example.other")
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 2), handlers: [.sample(), .sample(other)])
    let first = try world.submit().id
    try world.finish(first, .success, took: .microseconds(200))
    try world.turn { core, transaction in
      for _ in 0..<100 { _ = try core.submit(.sample(), transaction, now: world.now) }
    }
    #expect(world.orders.count == 11)
    #expect(world.core.occupiedSlots == 1)
    let id = try world.submit(.sample(other)).id
    #expect(world.isRunning(id))
    #expect(world.core.occupiedSlots == 2)
  }

  @Test("all that were given ahead are run once each, in order, and the counters are back at none")
  func drainsAll() throws {
    let world = try busy(.microseconds(20), slots: 2)
    while let id = world.orders.keys.min() {
      #expect(world.orders.count <= 2 + 240)
      try world.finish(id, .success, took: .microseconds(20))
    }
    #expect(Set(world.begun).count == 201)
    #expect(world.begun.count == 201)
    #expect(world.core.occupiedSlots == 0)
    #expect(world.core.handlers[.sample()]?.running == 0)
    #expect(world.core.claims.isEmpty && world.core.unrecorded.isEmpty)
  }

  @Test("only those that have begun count as running, and are recorded as running")
  func counted() throws {
    let world = try busy(slots: 2)
    #expect(world.orders.count == 42)
    #expect(world.core.live.count == 2)
    #expect(world.core.handlers[.sample()]?.running == 2)
    #expect(try world.store.counts() == [.succeeded: 1, .running: 2, .claimed: 40, .pending: 158])
    try world.finish(world.begun[1], .success, took: .microseconds(100))
    try world.tellBegin(world.begun[3])
    #expect(world.core.handlers[.sample()]?.running == 2)
    #expect(try world.record(world.begun[3]).state == .claimed)
    // A begin that is not over soon is recorded.
    #expect(world.core.nextTurn(now: world.now).map { $0 <= world.now + .milliseconds(20) } == true)
    try world.advance(.milliseconds(20))
    #expect(try world.record(world.begun[3]).state == .running)
  }

  @Test("cancelling one ahead takes the queue back first: it never runs, the others do, in order")
  func cancelled() throws {
    let world = try busy()
    let id = world.begun[5]
    #expect(try world.record(id).state == .claimed)
    #expect(try world.cancel(id).state == .cancelled)
    #expect(try world.runs(id).isEmpty)
    #expect(!world.isRunning(id))
    while let next = world.orders.keys.filter(world.hasBegun).min() { try world.finish(next, .success, took: .microseconds(100)) }
    #expect(try world.runs(id).isEmpty)
    #expect(try world.store.counts() == [.succeeded: 200, .cancelled: 1])
  }

  @Test("a cancel that comes too late stops the run, as of any that runs")
  func cancelledTooLate() throws {
    let world = try busy()
    try world.finish(world.begun[1], .success, took: .microseconds(100))
    let next = world.begun[2]
    // The launcher has begun it and has not told.
    #expect(try world.record(next).state == .claimed)
    #expect(world.hasBegun(next))
    #expect(try world.cancel(next).stopRequested == .cancelled)
    #expect(world.expirations.values.map { $0 } == [.cancelled])
    try world.finish(next, .success)
    #expect(try world.record(next).state == .cancelled)
  }

  @Test("a better one starts before those ahead")
  func better() throws {
    let world = try busy()
    let urgent = try world.submit(.sample(priority: 5)).id
    #expect(!world.begun.contains(urgent))
    // The queue is looked at when a run has ended.
    try world.finish(world.begun[1], .success, took: .microseconds(100))
    let running = try #require(world.orders.keys.filter(world.hasBegun).first)
    #expect(running != urgent)
    try world.finish(running, .success, took: .microseconds(100))
    #expect(world.hasBegun(urgent), "it is the next: one had begun before it came")
  }

  @Test("a run in front that turns long gives back what is behind it, and nothing more is given ahead")
  func stuck() throws {
    let world = try busy()
    let ahead = Array(world.begun[2...])
    try world.advance(.milliseconds(19))
    #expect(try world.record(ahead[0]).state == .claimed)
    try world.advance(.milliseconds(1))
    for id in ahead { try expectUntouched(id, world) }
    try world.advance(.seconds(3600))
    #expect(world.orders.count == 1 && world.core.claims.isEmpty)
    try world.finish(world.begun[1], .success, took: .seconds(3600))
    #expect(world.orders.count == 1)
  }

  @Test("a host of a fleet may have several times as many at hand, as long as its runs are short and none of them turns long")
  func atHand() throws {
    let world = try busy()
    world.core.fleet = 9
    func demand() throws -> LaneDemand { try #require(world.core.demand(for: [Lane(.sample())], now: world.now).first) }
    let short = try demand()
    #expect(short.room == 0 && short.spare == 4 * (short.busy - 1) && short.soon == 1000)
    try world.advance(.milliseconds(20))
    let stuck = try demand()
    #expect(stuck.room == 0 && stuck.busy == 1 && stuck.spare == 0 && stuck.soon == 0)
    try world.finish(world.begun[1], .success, took: .milliseconds(30))
    #expect(try demand().soon == 3 && demand().spare == 0)
    world.core.handlers[.sample()]?.heldUntil = .distantFuture
    #expect(try demand().soon == 0 && demand().busy == 1, "nothing begins, and what runs goes on")
  }

  @Test(
    "a drain, a suspension, a hold and a lost condition give back what is ahead", arguments: ["drain", "suspension", "hold", "condition"])
  func givesBack(_ what: String) throws {
    let world = try World(SchedulingPolicy(), handlers: [.sample()])
    try world.set(.all)
    try world.finish(try world.submit().id, .success, took: .microseconds(100))
    try world.turn { core, transaction in
      for _ in 0..<20 {
        var request = TaskRequest.sample()
        request.gates.conditions = .network
        _ = try core.submit(request, transaction, now: world.now)
      }
    }
    #expect(world.orders.count == 20)
    switch what {
    case "drain": world.core.isDraining = true
    case "suspension": world.core.handlers[.sample()]?.suspension = "for once"
    case "hold": world.core.handlers[.sample()]?.heldUntil = .distantFuture
    default: try world.set([])
    }
    if what != "condition" { #expect(world.core.hasDuty(now: world.now)) }
    try world.turn()
    #expect(!world.core.hasDuty(now: world.now))
    #expect(world.orders.count == 1)
    #expect(try world.store.counts() == [.succeeded: 1, .running: 1, .pending: 19])
  }

  @Test("after a crash of the host those ahead are pending again, and only what had begun is lost")
  func crash() throws {
    let world = try busy()
    try world.finish(world.begun[1], .success, took: .microseconds(100))
    let begun = world.begun[2]
    let ahead = Array(world.begun[3...])
    #expect(try world.record(begun).state == .claimed)
    #expect(world.hasBegun(begun))
    #expect(try world.restart() == 1)
    #expect(try world.runs(begun).map(\.outcome) == [.lost])
    #expect(try world.record(begun).losses == 1)
    for id in ahead where !world.isRunning(id) { try expectUntouched(id, world) }
  }

  @Test("one that took the host along has crashed, recorded as running or not")
  func crashedAhead() throws {
    let world = try busy()
    try world.finish(world.begun[1], .success, took: .microseconds(100))
    let guilty = world.begun[2]
    let run = try #require(world.orders[guilty]?.run)
    #expect(try world.restart(crashed: [run: "signal 11"], begun: []) == 0)
    #expect(try world.runs(guilty).map(\.outcome) == [.crashed])
  }

  @Test("what has limits of its own does not wait in a queue")
  func limited() throws {
    let world = try World(SchedulingPolicy())
    try world.finish(try world.submit().id, .success, took: .microseconds(100))
    try world.turn { core, transaction in
      for _ in 0..<20 {
        var request = TaskRequest.sample()
        request.gates.concurrencyKey = "k"
        _ = try core.submit(request, transaction, now: world.now)
      }
    }
    #expect(world.orders.count == 1 && world.core.claims.isEmpty)
  }

  @Test("a turn that fails takes back what it handed out, and what it learnt of begins is learnt again")
  func undone() throws {
    let world = try busy()
    let before = try world.store.counts()
    try world.finish(world.begun[1], .success, took: .microseconds(100))
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try world.tellBegin(world.begun[2]) }
    #expect(throws: StoreError.self) { try world.finish(world.begun[2], .success, took: .microseconds(100)) }
    world.store.fail(with: nil)
    #expect(world.core.live.isEmpty)
    try world.finish(world.begun[2], .success, took: .microseconds(100))
    #expect(try world.store.counts()[.succeeded] == (before[.succeeded] ?? 0) + 2)
    #expect(world.core.unrecorded.isEmpty)
  }

  // MARK: What the host lacks

  @Test("a shortage of the host spends nothing: the request is pending, and its launch is tried again after 1, 2, 4 … 60 s")
  func shortage() throws {
    let world = try World()
    let id = try world.submit().id
    var waits: [Int64] = []
    for _ in 0..<8 {
      let run = try #require(world.orders[id]?.run)
      let failed = world.now
      world.core.isShort(.sample(), "no threads", .resources, now: world.now)
      try world.turn { core, transaction in try core.release(run, transaction, now: world.now) }
      try expectSpentNothing(id, world)
      #expect(try world.health() == PluginHealth())
      #expect(try world.gates(id).contains { $0.contains("no threads") })
      try world.advance(to: try #require(world.core.nextTurn(now: world.now)))
      waits.append((world.now - failed).wholeMilliseconds / 1000)
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60])
    let overview = try #require(world.core.handlers[.sample()].map { world.core.overview(of: $0, now: world.now) })
    #expect(overview.shortage?.since == .testStart && overview.shortage?.failures == 8)
    try world.finish(id, .success)
    #expect(world.core.handlers[.sample()]?.shortage == nil)
  }

  private func expectSpentNothing(_ id: RequestID, _ world: World) throws {
    let record = try world.record(id)
    #expect(record.state == .pending && record.attemptsSpent == 0 && record.losses == 0)
    #expect(try world.runs(id).isEmpty)
  }

  @Test("one that was cancelled while its worker could not be started is cancelled")
  func cancelledInShortage() throws {
    let world = try World()
    let id = try world.submit().id
    let run = try #require(world.orders[id]?.run)
    try world.cancel(id)
    try world.turn { core, transaction in try core.release(run, transaction, now: world.now) }
    #expect(try world.record(id).state == .cancelled)
  }

  @Test("beyond its slots a handler is given nothing ahead of its time")
  func notBoth() throws {
    let world = try World(Self.policy)
    let first = try world.submit().id
    try world.finish(first, .success, took: .microseconds(20))
    let running = try world.submit().id
    let soon = try world.submit(.sample(begin: .ms(3))).id
    #expect(world.isRunning(running))
    #expect(!world.isRunning(soon))
    #expect(world.core.nextStart(now: world.now) == .ms(3))
    try world.advance(.milliseconds(3))
    #expect(world.begun == [first, running, soon])
  }
}
