import StoreTestSupport
import TaskFilters
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A bulk action") struct BulkTests {
  private static let other = TaskIdentifier.sample("org.example.other")

  private func world() throws -> World {
    try World(SchedulingPolicy(maxConcurrentRuns: 16), handlers: [.sample(runs: 8), .sample(Self.other)])
  }

  private func order(_ action: BulkAction, _ text: String, _ world: World, delay: Duration? = nil) throws -> BulkOrder {
    try BulkOrder(action, try RequestFilter(text, now: world.now), until: delay.map { world.now + $0 }, limit: 1000)
  }

  /// Finds the requests and carries the order out, as the host does in one step.
  private func carryOut(_ order: BulkOrder, _ world: World) throws -> BulkResult {
    let found = try world.store.scan(order.scan, accepts: order.isFor)
    return try world.turn { core, transaction in
      try core.carryOut(order, on: found.records.map(\.id), transaction, now: world.now)
    }
  }

  /// What the order would do.
  private func rehearse(_ order: BulkOrder, _ world: World) throws -> BulkResult {
    let ids = try world.store.scan(order.scan, accepts: order.isFor).records.map(\.id)
    var result: Result<BulkResult, RequestRefusal>?
    let rehearsal = Write({ result = $0 }, isRehearsal: true) { core, transaction, now in
      try core.carryOut(order, on: ids, transaction, now: now)
    }
    try world.turn([.write(rehearsal)])
    return try #require(result).get()
  }

  private func tagged(_ tag: String, payload: String = "", begin: WallTime? = .ms(600_000)) -> TaskRequest {
    var request = TaskRequest.sample(begin: begin)
    (request.tags, request.payload) = ([tag], Array(payload.utf8))
    return request
  }

  @Test("cancels what waits and asks what runs to stop, by the payload too; others stay")
  func cancel() throws {
    let world = try world()
    let waiting = try world.submit(tagged("a", payload: #"{"account": "x"}"#)).id
    let other = try world.submit(tagged("a", payload: #"{"account": "y"}"#)).id
    let running = try world.submit(tagged("a", payload: #"{"account": "x"}"#, begin: nil)).id
    #expect(world.isRunning(running))
    let result = try carryOut(order(.cancel, "tag:a payload.account:x", world), world)
    #expect(result.done == [running, waiting])
    #expect(result.matched == 2)
    #expect(try world.record(waiting).state == .cancelled)
    #expect(try world.record(running).stopRequested == .cancelled)
    #expect(try world.record(other).state == .pending)
    #expect(try carryOut(order(.cancel, "tag:a payload.account:x", world), world).matched == 0)
  }

  @Test("retries dead letters, and what failed because of them; a refusal stops no other")
  func retry() throws {
    let world = try world()
    var keyed = tagged("a", begin: nil)
    (keyed.uniqueKey, keyed.onConflict) = ("k", .keep)
    let first = try world.submit(keyed).id
    try world.finish(first, .failure)
    let holder = try world.submit(keyed).id
    let second = try world.submit(tagged("a", begin: nil)).id
    var follower = tagged("a", begin: nil)
    follower.after = [Dependency(.request(second))]
    let third = try world.submit(follower).id
    try world.finish(second, .failure)
    #expect(try world.record(third).state == .failed)
    let result = try carryOut(order(.retry, "tag:a state:failed", world), world)
    #expect(result.done == [second, third])
    #expect(result.refused.map(\.id) == [first])
    #expect(result.refused.first?.message.contains("unique key") == true)
    #expect(world.isRunning(second) && world.isRunning(holder))
    #expect(try world.record(third).state == .blocked)
  }

  @Test("postpones and discards")
  func others() throws {
    let world = try world()
    let waiting = try world.submit(tagged("a")).id
    let failed = try world.submit(tagged("a", begin: nil)).id
    try world.finish(failed, .failure)
    #expect(try carryOut(order(.snooze, "tag:a", world, delay: .seconds(3600)), world).done == [waiting])
    #expect(try world.record(waiting).due == world.now + .seconds(3600))
    let again = try carryOut(order(.snooze, "tag:a", world, delay: .seconds(3600)), world)
    #expect(again.done.isEmpty && again.refused.map(\.id) == [waiting])
    #expect(again.refused.first?.message == "it is not postponed: it waits until then already")
    #expect(try carryOut(order(.discard, "tag:a", world), world).done == [failed])
    #expect(try world.record(failed).state == .cancelled)
  }

  @Test("a rehearsal says what the action then does, and changes nothing", arguments: BulkAction.allCases)
  func rehearsal(_ action: BulkAction) throws {
    let world = try world()
    var keyed = tagged("a", begin: nil)
    (keyed.uniqueKey, keyed.onConflict) = ("k", .keep)
    let failed = try world.submit(keyed).id
    try world.finish(failed, .failure)
    let holder = try world.submit(keyed).id
    let second = try world.submit(tagged("a", begin: nil)).id
    var follower = tagged("a", begin: nil)
    follower.after = [Dependency(.request(second))]
    let third = try world.submit(follower).id
    try world.finish(second, .failure)
    let waiting = try world.submit(tagged("a")).id
    var waitsForEvent = tagged("a", begin: nil)
    waitsForEvent.event = EventTrigger("e")
    let deaf = try world.submit(waitsForEvent).id
    let all = [failed, holder, second, third, waiting, deaf]
    let before = try all.map { try world.record($0) }
    let (events, expirations) = (world.events.count, world.expirations)

    let order = try order(action, "tag:a", world, delay: action == .snooze ? .seconds(7200) : nil)
    let expected = try rehearse(order, world)
    #expect(try all.map { try world.record($0) } == before)
    #expect(world.events.count == events && world.expirations == expirations && world.isRunning(holder))
    let result = try carryOut(order, world)
    #expect(expected == result && result.changes == result.done.count)
    switch action {
    case .retry:
      #expect(result.done == [second, third])
      #expect(result.reasons.map(\.reason) == ["another request now holds its unique key"])
    case .snooze:
      #expect(result.done == [waiting])
      #expect(result.reasons.map(\.reason) == ["it waits for an event, not for a time"])
    case .cancel: #expect(result.done == [deaf, waiting, holder] && result.refused.isEmpty)
    case .discard: #expect(result.done == [failed, second, third] && result.refused.isEmpty)
    }
  }

  @Test("refusals are counted by reason, the most frequent first")
  func reasons() {
    var result = BulkResult()
    for number in 0..<5 {
      let refusal = RequestRefusal(.conflict, "request \(number)", reason: number == 3 ? "rare" : "frequent")
      result.refused.append(RetriedRequests.Refused(id: RequestID(sequence: Int64(number), origin: 1), refusal))
    }
    result.refused.append(
      RetriedRequests.Refused(id: RequestID(sequence: 9, origin: 1), RequestRefusal(.conflict, "a message without a reason")))
    #expect(result.reasons.map(\.reason) == ["frequent", "a message without a reason", "rare"])
    #expect(result.reasons.map(\.count) == [4, 1, 1])
  }

  @Test("leaves what has changed since it was found")
  func changed() throws {
    let world = try world()
    let id = try world.submit(tagged("a")).id
    let order = try order(.cancel, "tag:a state:pending", world)
    let found = try world.store.scan(order.scan, accepts: order.isFor).records.map(\.id)
    try world.turn { core, transaction in _ = try core.cancel(id, transaction, now: world.now) }
    let result = try world.turn { core, transaction in try core.carryOut(order, on: found, transaction, now: world.now) }
    #expect(result == BulkResult())
  }

  @Test("is refused with an empty filter, states that do not fit, and a delay that does not belong")
  func refusals() throws {
    let world = try world()
    #expect(throws: RequestRefusal.self) { try order(.cancel, " ", world) }
    #expect(throws: RequestRefusal.self) { try order(.retry, "state:pending", world) }
    #expect(throws: RequestRefusal.self) { try order(.cancel, "state:failed tag:a", world) }
    #expect(throws: RequestRefusal.self) { try order(.snooze, "tag:a", world) }
    #expect(throws: RequestRefusal.self) { try order(.retry, "tag:a", world, delay: .seconds(1)) }
  }
}
