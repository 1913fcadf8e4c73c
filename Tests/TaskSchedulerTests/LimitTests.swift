import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Limits") struct LimitTests {
  private let other = TaskIdentifier.sample("org.example.other")

  @Test("a handler is given as many runs as it allows, the next when one has ended", arguments: [1, 3])
  func perHandler(_ allowed: Int) throws {
    let world = try World(handlers: [.sample(runs: allowed)])
    let ids = try (0..<allowed + 2).map { _ in try world.submit().id }
    #expect(world.begun == Array(ids.prefix(allowed)))
    let why = world.core.gates(of: try world.record(ids[allowed]), now: world.now)
    #expect(why.count == 1 && why[0].hasPrefix("the plugin is busy: \(allowed) of \(allowed) runs"))
    try world.finish(ids[0], .success)
    #expect(world.begun == Array(ids.prefix(allowed + 1)))
  }

  @Test("the host has so many slots for all handlers, and gives them to what has waited longest")
  func perHost() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 3), handlers: [.sample(runs: 2), .sample(other, runs: 8)])
    var ids: [RequestID] = []
    for step in 0..<3 {
      ids.append(try world.submit(.sample(begin: .ms(Int64(100 + step * 2)))).id)
      ids.append(try world.submit(.sample(other, begin: .ms(Int64(101 + step * 2)))).id)
    }
    try world.advance(.seconds(1))
    #expect(world.begun == Array(ids.prefix(3)))
    #expect(world.core.gates(of: try world.record(ids[3]), now: world.now) == ["all 3 run slots of the host are taken"])
    try world.finish(ids[0], .success)
    #expect(world.begun.last == ids[3])
  }

  @Test("a handler that is suspended takes no runs and keeps nobody else from running")
  func suspended() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 1), handlers: [.sample(), .sample(other)])
    world.core.handlers[.sample()]?.suspension = "a thread is still in its hands"
    let id = try world.submit().id
    #expect(!world.isRunning(id))
    #expect(world.core.nextStart(now: world.now) == nil)
    #expect(world.core.gates(of: try world.record(id), now: world.now) == ["the plugin is suspended: a thread is still in its hands"])
    let second = try world.submit(.sample(other)).id
    #expect(world.isRunning(second))
    try world.finish(second, .success)
    world.core.handlers[.sample()]?.suspension = nil
    try world.turn()
    #expect(world.isRunning(id))
  }

  @Test("of requests that are due the higher priority goes first, among equals the older one")
  func priority() throws {
    let world = try World()
    let first = try world.submit().id
    let low = try world.submit(.sample(begin: .ms(1000), priority: -5)).id
    let middle = try world.submit(.sample(begin: .ms(1001))).id
    let younger = try world.submit(.sample(begin: .ms(1002), priority: 7)).id
    let older = try world.submit(.sample(begin: .ms(1001), priority: 7)).id
    world.now = .ms(2000)
    for id in [first, older, younger, middle, low] {
      #expect(world.isRunning(id))
      try world.finish(id, .success)
    }
  }

  @Test("a low priority is overtaken for so long only: five minutes for each step")
  func ageing() throws {
    let world = try World()
    let holder = try world.submit().id
    let old = try world.submit(.sample(priority: -1)).id
    world.now = .ms(299_999)
    let overtakes = try world.submit(.sample()).id
    world.now = .ms(300_001)
    let waits = try world.submit(.sample()).id
    try world.finish(holder, .success)
    try world.finish(overtakes, .success)
    #expect(world.isRunning(old))
    try world.finish(old, .success)
    #expect(world.isRunning(waits))
  }

  @Test("priorities order the handlers' requests when the host's slots are short")
  func priorityAcrossHandlers() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 1), handlers: [.sample(), .sample(other)])
    let first = try world.submit().id
    let low = try world.submit(.sample(priority: -1)).id
    let high = try world.submit(.sample(other, priority: 1)).id
    try world.finish(first, .success)
    #expect(world.begun == [first, high])
    try world.finish(high, .success)
    #expect(world.begun == [first, high, low])
  }

  @Test("max_pending counts what is pending, runs and waits for a run, of one identifier")
  func maxPending() throws {
    let world = try World(SchedulingPolicy(maxPending: 3), handlers: [.sample(), .sample(other)])
    let running = try world.submit(.sample(key: "k", onConflict: .replace)).id
    let blocked = try world.submit(.sample(key: "k", onConflict: .replace)).id
    #expect(try world.record(blocked).state == .blocked)
    try world.submit(.sample(begin: .ms(60_000)))
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit() }
    #expect(refusal?.code == .limit)
    #expect(try world.submit(.sample(other)).disposition == .created)
    try world.finish(running, .success)
    try world.submit()
    #expect(throws: RequestRefusal.self) { try world.submit() }
  }

  @Test("a replacement of a pending request needs no room; one of a running request does, and the run goes on")
  func replaceAtTheLimit() throws {
    let world = try World(SchedulingPolicy(maxPending: 1))
    let first = try world.submit(.sample(begin: .ms(1000), key: "k", onConflict: .replace)).id
    let second = try world.submit(.sample(key: "k", onConflict: .replace)).id
    #expect(try world.record(first).state == .cancelled)
    #expect(throws: RequestRefusal.self) { try world.submit(.sample(key: "k", onConflict: .replace)) }
    #expect(world.expirations.isEmpty)
    #expect(try world.record(second).stopRequested == nil)
    try world.finish(second, .success)
    #expect(try world.record(second).state == .succeeded)
  }

  @Test("an identifier that nobody registered is refused, or parked where the operator names it in full")
  func parked() throws {
    let policy = SchedulingPolicy(permitted: [try IdentifierPattern("org.example.parked"), try IdentifierPattern("org.*")])
    let parked = TaskIdentifier.sample("org.example.parked")
    let world = try World(policy, handlers: [])
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit() }
    #expect(refusal?.code == .unknownIdentifier)
    let submission = try world.submit(.sample(parked))
    #expect(submission.notes == ["no plugin has registered org.example.parked: the request is parked until one does"])
    try world.advance(.seconds(60))
    #expect(!world.isRunning(submission.id))
    try world.restart(handlers: [.sample(parked)])
    #expect(world.isRunning(submission.id))
  }

  @Test("a request beyond the contract's sizes is refused, naming the field")
  func sizes() throws {
    let world = try World()
    var tooBig = TaskRequest.sample()
    tooBig.payload = Array(repeating: 0, count: Limits.payloadBytes + 1)
    var tooManyTags = TaskRequest.sample()
    tooManyTags.tags = (0...Limits.tags).map { "t\($0)" }
    for (request, field) in [
      (tooBig, "payload"), (tooManyTags, "tags"), (.sample(priority: 11), "priority"),
      (.sample(key: String(repeating: "k", count: 257), onConflict: .keep), "unique_key"),
    ] {
      let refusal = #expect(throws: RequestRefusal.self) { try world.submit(request) }
      #expect(refusal?.field == field)
    }
  }

  @Test("a host that drains takes no submissions and starts nothing")
  func draining() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(1000))).id
    world.core.isDraining = true
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit() }
    #expect(refusal?.code == .unavailable)
    try world.advance(.seconds(2))
    #expect(!world.isRunning(id))
    #expect(world.core.nextStart(now: world.now) == nil)
  }
}
