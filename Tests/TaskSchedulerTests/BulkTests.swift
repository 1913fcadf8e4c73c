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
