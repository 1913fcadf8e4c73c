import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Tags") struct TagTests {
  private static let other = TaskIdentifier.sample("org.example.other")

  private func world(_ runs: Int = 4) throws -> World {
    try World(SchedulingPolicy(maxConcurrentRuns: 16), handlers: [.sample(runs: runs), .sample(Self.other)])
  }

  private func tagged(_ tags: String..., of identifier: TaskIdentifier = .sample(), begin: WallTime? = .ms(60_000)) -> TaskRequest {
    var request = TaskRequest.sample(identifier, begin: begin)
    request.tags = tags
    return request
  }

  private func cancelAll(_ world: World, _ tag: String, _ identifier: TaskIdentifier? = nil) throws -> Int {
    try world.turn { core, transaction in try core.cancelAll(tag: tag, identifier: identifier, transaction, now: world.now) }
  }

  private func listed(_ world: World, _ tag: String) throws -> [RequestID] {
    var query = RequestQuery()
    query.tag = tag
    return try world.store.requests(query).map(\.id)
  }

  @Test("a listing by tag has those with it, the newest first, also after an update took or gave it")
  func listing() throws {
    let world = try world()
    let first = try world.submit(tagged("a", "b", "a")).id
    var keyed = tagged("b")
    (keyed.uniqueKey, keyed.onConflict) = ("k", .update)
    let second = try world.submit(keyed).id
    try world.submit(tagged("ab"))
    #expect(try listed(world, "a") == [first])
    #expect(try listed(world, "b") == [second, first])
    keyed.tags = ["a"]
    try world.submit(keyed)
    #expect(try listed(world, "a") == [second, first])
    #expect(try listed(world, "b") == [first])
    #expect(try listed(world, "c").isEmpty)
  }

  @Test("what waits is cancelled, what runs is asked to stop, others stay; the count says how many")
  func cancelling() throws {
    let world = try world()
    let running = try world.submit(tagged("x", begin: nil)).id
    let pending = try world.submit(tagged("x", "y")).id
    var blocked = TaskRequest.sample(after: [running])
    blocked.tags = ["x"]
    let waiting = try world.submit(blocked).id
    let others = try world.submit(tagged("x", of: Self.other)).id
    let untagged = try world.submit(tagged("y")).id
    #expect(try cancelAll(world, "x", .sample()) == 3)
    for id in [pending, waiting] { #expect(try world.record(id).state == .cancelled) }
    #expect(try world.record(pending).lastMessage == "cancelled by its tag \"x\"")
    #expect(try world.record(running).stopRequested == .cancelled)
    for id in [others, untagged] { #expect(try world.record(id).state == .pending) }
    // A second time only what is new counts.
    #expect(try cancelAll(world, "x", .sample()) == 0)
    #expect(try cancelAll(world, "x") == 1)
    #expect(try cancelAll(world, "nobody") == 0)
    #expect(try cancelAll(world, "x", .sample("org.example.unknown")) == 0)
  }

  @Test("more than a slice of them, in a chain: all are cancelled and counted once")
  func many() throws {
    let world = try world()
    var requests = [tagged("x")]
    for index in 0..<1200 {
      var request = TaskRequest.sample(after: [.position(index)])
      request.tags = ["x"]
      requests.append(request)
    }
    _ = try world.submit(requests)
    #expect(try cancelAll(world, "x") == 1201)
    #expect(try world.store.counts() == [.cancelled: 1201])
    #expect(world.core.liveCounts[.sample()] == 0)
    for _ in 0..<1100 { try world.submit(tagged("z")) }
    #expect(try cancelAll(world, "z") == 1100)
  }

  @Test("nothing is cancelled when the commit fails")
  func commitFails() throws {
    let world = try world()
    let id = try world.submit(tagged("x", begin: .ms(1000))).id
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try cancelAll(world, "x") }
    world.store.fail(with: nil)
    try world.advance(.seconds(1))
    #expect(world.begun == [id])
  }

  @Test("tags survive a restart, and are gone with their request")
  func pruned() throws {
    let world = try world()
    let id = try world.submit(tagged("x")).id
    try world.restart(handlers: [.sample()])
    #expect(try listed(world, "x") == [id])
    #expect(try cancelAll(world, "x") == 1)
    _ = try world.store.commit { try $0.prune(before: .ms(1), keeping: 10, limit: 10) }
    #expect(try world.store.request(id) == nil)
    #expect(try listed(world, "x").isEmpty)
  }
}
