import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Dead letters") struct DeadLetterTests {
  private static let other = TaskIdentifier.sample("org.example.other")

  private func world() throws -> World { try World(handlers: [.sample(runs: 8), .sample(Self.other, runs: 8)]) }

  private func reviveAll(_ world: World, _ identifier: TaskIdentifier?) throws -> Int {
    try world.turn { core, transaction in try core.reviveAll(identifier: identifier, transaction, now: world.now).retried.count }
  }

  @Test("a dependant that failed with its predecessor runs without it, and says so; the predecessor's retry does not bring it back")
  func dependant() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit().id
    let last = try world.submit(.sample(after: [first, second])).id
    var report = RunReport()
    report.output = Array("from second".utf8)
    try world.end(second, .returned(.success, stop: nil), report)
    try world.finish(first, .failure)
    let revived = try world.revive(last)
    #expect(revived.lastMessage == "retried: it runs without \(first), which has failed; its dependants stay as they are")
    #expect(try #require(world.orders[last]).payload == Array("from second".utf8))
    try world.revive(first)
    try world.finish(first, .success)
    #expect(world.begun == [first, second, last, first])
  }

  @Test("one that is discarded is cancelled, keeps its reason, and cannot be retried; any other request is not discarded")
  func discard() throws {
    let world = try world()
    let (bad, live) = (try world.submit().id, try world.submit().id)
    try world.end(bad, .returned(.failure, stop: nil), RunReport())
    #expect(throws: RequestRefusal.self) { try world.turn { core, transaction in try core.discard(live, transaction) } }
    let record = try world.turn { core, transaction in try core.discard(bad, transaction) }
    #expect(record.state == .cancelled && record.lastMessage?.hasPrefix("discarded; it had failed") == true)
    #expect(throws: RequestRefusal.self) { try world.turn { core, transaction in try core.discard(bad, transaction) } }
    #expect(throws: RequestRefusal.self) { try world.revive(bad) }
  }

  @Test("all are discarded by identifier and tag, in pages")
  func discardAll() throws {
    let world = try world()
    let ids = try (0..<5).map { _ in try world.submit().id }
    for id in ids { try world.end(id, .returned(.failure, stop: nil), RunReport()) }
    func discard(_ tag: String?, after: RequestID?, limit: Int) throws -> DiscardedRequests {
      try world.turn { core, transaction in
        try core.discardAll(identifier: .sample(), tag: tag, after: after, limit: limit, transaction)
      }
    }
    #expect(try discard("none", after: nil, limit: 10).discarded == [])
    let page = try discard(nil, after: nil, limit: 3)
    #expect(page.discarded == Array(ids[..<3]) && page.last == ids[2])
    let rest = try discard(nil, after: page.last, limit: 3)
    #expect(rest.discarded == Array(ids[3...]) && rest.last == nil)
  }

  @Test("after its predecessor was retried with success, a dependant is given its output")
  func retriedPredecessor() throws {
    let world = try world()
    let first = try world.submit().id
    let last = try world.submit(.sample(after: [first])).id
    try world.finish(first, .failure)
    try world.revive(first)
    var report = RunReport()
    report.output = [7]
    try world.end(first, .returned(.success, stop: nil), report)
    #expect(try world.record(last).state == .failed)
    #expect(try world.revive(last).lastMessage == nil)
    #expect(try #require(world.orders[last]).payload == [7])
  }

  @Test("one that failed while others still ran does not wait for them any more")
  func stillRunning() throws {
    let world = try world()
    let slow = try world.submit().id
    let bad = try world.submit().id
    let last = try world.submit(.sample(after: [slow, bad])).id
    try world.finish(bad, .failure)
    let message = try world.revive(last).lastMessage
    #expect(message?.contains("\(slow), which is running; \(bad), which has failed") == true)
    #expect(world.isRunning(last))
    try world.finish(slow, .success)
    #expect(world.isRunning(last))
    try world.finish(last, .success)
    #expect(try world.record(last).state == .succeeded)
  }

  @Test("one whose outputs could not be merged runs with what was submitted")
  func unmergeable() throws {
    let world = try world()
    let first = try world.submit().id
    var request = TaskRequest.sample(after: [first])
    request.payload = Array("{}".utf8)
    let last = try world.submit(request).id
    var report = RunReport()
    report.output = Array("5".utf8)
    try world.end(first, .returned(.success, stop: nil), report)
    #expect(try world.record(last).state == .failed)
    #expect(try world.revive(last).lastMessage?.hasPrefix("retried: it runs with what was submitted alone") == true)
    #expect(try #require(world.orders[last]).payload == Array("{}".utf8))
  }

  @Test("all of an identifier, or of all, are retried and counted, but not those whose key is held by now")
  func all() throws {
    let world = try world()
    let mine = try (0..<3).map { _ in try world.submit().id }
    let keyed = try world.submit(.sample(key: "k", onConflict: .keep)).id
    let others = try world.submit(.sample(Self.other)).id
    for id in mine + [keyed, others] { try world.finish(id, .failure) }
    try world.submit(.sample(begin: .ms(60_000), key: "k", onConflict: .keep))
    #expect(try reviveAll(world, .sample("org.example.unknown")) == 0)
    #expect(try reviveAll(world, .sample()) == 3)
    for id in mine { #expect(world.isRunning(id)) }
    #expect(try world.record(keyed).state == .failed)
    #expect(try reviveAll(world, nil) == 1)
    #expect(world.isRunning(others))
    #expect(world.core.liveCounts[.sample()] == 4)
  }

  @Test("those with a tag are retried, some at a time, and those that are refused are named with the reason")
  func some() throws {
    let world = try world()
    var tagged = TaskRequest.sample()
    tagged.tags = ["nightly"]
    let first = try world.submit(tagged).id
    let untagged = try world.submit().id
    let second = try world.submit(tagged).id
    var keyed = TaskRequest.sample(key: "k", onConflict: .keep)
    keyed.tags = ["nightly"]
    let held = try world.submit(keyed).id
    for id in [first, untagged, second, held] { try world.finish(id, .failure) }
    try world.submit(.sample(begin: .ms(60_000), key: "k", onConflict: .keep))
    func page(after: RequestID?) throws -> RetriedRequests {
      try world.turn { core, transaction in
        try core.reviveAll(identifier: .sample(), tag: "nightly", after: after, limit: 2, transaction, now: world.now)
      }
    }
    let one = try page(after: nil)
    #expect(one.retried == [first] && one.refused.isEmpty && one.last == untagged)
    let two = try page(after: one.last)
    #expect(two.retried == [second] && two.refused.map(\.id) == [held] && two.last == nil)
    #expect(two.refused.first?.message.contains("unique key \"k\"") == true)
    #expect(try world.record(untagged).state == .failed)
  }

  @Test("none is retried when the commit fails")
  func commitFails() throws {
    let world = try world()
    let id = try world.submit().id
    try world.finish(id, .failure)
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try reviveAll(world, nil) }
    world.store.fail(with: nil)
    #expect(try world.record(id).state == .failed)
    #expect(try reviveAll(world, nil) == 1)
  }
}
