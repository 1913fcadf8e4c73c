import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Dead letters") struct DeadLetterTests {
  private static let other = TaskIdentifier.sample("org.example.other")

  private func world() throws -> World { try World(handlers: [.sample(runs: 8), .sample(Self.other, runs: 8)]) }

  private func retryAll(_ world: World, _ identifier: TaskIdentifier?) throws -> Int {
    try world.turn { core, transaction in try core.retryAll(identifier: identifier, transaction, now: world.now).retried.count }
  }

  @Test("what failed because of a request waits for it again when that is retried, and so on, in order and with its outputs")
  func chain() throws {
    let world = try world()
    let ids = try graph(world)
    try world.finish(ids[0], .failure)
    #expect(try states(world, ids) == [.failed, .failed, .failed, .failed])
    world.now = world.now + .seconds(60)
    let retried = try world.retry(ids[0])
    #expect(retried.lastMessage == "retried: 3 requests that failed because of it will run after it")
    #expect(try states(world, ids) == [.running, .blocked, .blocked, .blocked])
    #expect(try world.record(ids[3]).lastMessage == "\(ids[1]) was retried, and this request waits for it again")
    #expect(world.core.liveCounts[.sample()] == 4)
    var report = RunReport()
    report.output = Array("1".utf8)
    try world.end(ids[0], .returned(.success, stop: nil), report)
    #expect(try states(world, ids) == [.succeeded, .running, .running, .blocked])
    #expect(try #require(world.orders[ids[1]]).payload == Array("1".utf8))
    try world.finish(ids[2], .success)
    #expect(!world.isRunning(ids[3]))
    try world.finish(ids[1], .success)
    #expect(world.isRunning(ids[3]))
    #expect(world.begun == [ids[0], ids[0], ids[1], ids[2], ids[3]])
  }

  @Test("a root that fails again fails them again; one in the middle brings back what is below it only")
  func again() throws {
    let world = try world()
    let ids = try graph(world)
    try world.finish(ids[0], .failure)
    try world.retry(ids[0])
    try world.finish(ids[0], .failure)
    #expect(try states(world, ids) == [.failed, .failed, .failed, .failed])
    try world.retry(ids[0])
    try world.finish(ids[0], .success)
    try world.finish(ids[1], .failure)
    #expect(try states(world, ids) == [.succeeded, .failed, .running, .failed])
    try world.retry(ids[1])
    #expect(try states(world, ids) == [.succeeded, .running, .running, .blocked])
    try world.finish(ids[1], .success)
    try world.finish(ids[2], .success)
    #expect(world.isRunning(ids[3]))
  }

  @Test("a dependant by itself does not run ahead of its order: its retry is refused, and names what to retry")
  func dependantAlone() throws {
    let world = try world()
    let ids = try graph(world)
    try world.finish(ids[0], .failure)
    let refusal = #expect(throws: RequestRefusal.self) { try world.retry(ids[1]) }
    #expect(refusal?.code == .conflict)
    #expect(
      refusal?.message
        == "request \(ids[1]) runs only after \(ids[0]), which has failed: retry that one (taskhost tasks retry \(ids[0])), and this one runs after it"
    )
    #expect(try states(world, ids) == [.failed, .failed, .failed, .failed])
  }

  /// `why` recommended the retry of the dead letter itself, which is refused.
  @Test("what why recommends for a dead letter is what its retry would not refuse: the first of its chain that failed by itself")
  func remedy() throws {
    let world = try world()
    let ids = try graph(world)
    try world.finish(ids[0], .failure)
    for id in ids {
      #expect(try why(world, id).wouldRunIf == ["taskhost tasks retry \(ids[0])"])
      #expect(try why(world, id).gates.map(\.remedy) == ["taskhost tasks retry \(ids[0])"])
    }
    let refusal = #expect(throws: RequestRefusal.self) { try world.retry(ids[3]) }
    #expect(refusal?.message.contains("retry that one (taskhost tasks retry \(ids[0]))") == true)
    try world.retry(ids[0])
    #expect(try states(world, ids) == [.running, .blocked, .blocked, .blocked])
  }

  @Test("why says with what message a dead letter has failed")
  func message() throws {
    let world = try world()
    let id = try world.submit().id
    var report = RunReport()
    report.message = "exit code 3"
    try world.end(id, .returned(.failure, stop: nil), report)
    #expect(try why(world, id).gates.map(\.sentence) == ["it has failed: exit code 3"])
    let silent = try world.submit().id
    try world.finish(silent, .failure)
    #expect(try why(world, silent).gates.map(\.sentence) == ["it has failed"])
  }

  @Test("a dead letter whose predecessor was cancelled, or is gone, is to be submitted again with it")
  func noRemedy() throws {
    let world = try world()
    let first = try world.submit(.sample(begin: .ms(60_000))).id
    let second = try world.submit().id
    let last = try world.submit(.sample(after: [first, second])).id
    try world.finish(second, .failure)
    #expect(try why(world, last).wouldRunIf == ["taskhost tasks retry \(second)"])
    try world.cancel(first)
    #expect(try why(world, last).wouldRunIf == ["\(first) and \(last) are submitted again"])
    #expect(try why(world, first).wouldRunIf.isEmpty)
  }

  private func why(_ world: World, _ id: RequestID) throws -> RequestExplanation {
    let record = try world.record(id)
    let obstacle = try RetryObstacle.find(for: record, edges: world.store.edges(of:), request: world.store.request(_:))
    return world.core.explanation(of: record, edges: try world.store.edges(of: id), obstacle: obstacle, now: world.now)
  }

  @Test("one whose predecessor was cancelled, or is gone, cannot be retried, and says so")
  func cancelledPredecessor() throws {
    let world = try world()
    let first = try world.submit(.sample(begin: .ms(60_000))).id
    let second = try world.submit().id
    let last = try world.submit(.sample(after: [first, second])).id
    try world.finish(second, .failure)
    try world.cancel(first)
    #expect(throws: RequestRefusal.self) { try world.retry(last) }
    try world.retry(second)
    #expect(try world.record(last).state == .failed)
    let refusal = #expect(throws: RequestRefusal.self) { try world.retry(last) }
    #expect(refusal?.message.contains("\(first), which was cancelled: submit both again") == true)
  }

  @Test("one that failed because of two waits until both are retried, and for what still runs")
  func twoRoots() throws {
    let world = try world()
    let slow = try world.submit().id
    let bad = try world.submit().id
    let worse = try world.submit().id
    let last = try world.submit(.sample(after: [slow, bad, worse])).id
    try world.finish(bad, .failure)
    try world.finish(worse, .failure)
    #expect(try world.record(last).lastMessage?.hasPrefix("\(bad), which must succeed first,") == true)
    let retried = try world.retry(bad)
    #expect(try world.record(last).state == .failed)
    // It names the one that still keeps it from running.
    #expect(try world.record(last).lastMessage?.hasPrefix("\(worse), which must succeed first,") == true)
    #expect(retried.lastMessage?.contains("\(last) stays failed: \(worse), which must succeed first,") == true)
    try world.finish(bad, .success)
    try world.retry(worse)
    #expect(try world.record(last).state == .blocked)
    try world.finish(worse, .success)
    #expect(try world.record(last).blockedBy == slow)
    try world.finish(slow, .success)
    #expect(world.isRunning(last))
  }

  @Test("one whose key another holds by now stays a dead letter, and what is below it too")
  func heldKey() throws {
    let world = try world()
    let first = try world.submit().id
    var keyed = TaskRequest.sample(after: [first])
    (keyed.uniqueKey, keyed.onConflict) = ("k", .keep)
    let second = try world.submit(keyed).id
    let last = try world.submit(.sample(after: [second])).id
    try world.finish(first, .failure)
    try world.submit(.sample(begin: .ms(60_000), key: "k", onConflict: .keep))
    let retried = try world.retry(first)
    #expect(try states(world, [first, second, last]) == [.running, .failed, .failed])
    #expect(
      retried.lastMessage == "retried: \(second) stays failed: another request now holds the unique key \"k\": cancel it first")
  }

  @Test("one that runs whatever becomes of its predecessor, and still waits for another, waits for the retried one too")
  func ignoring() throws {
    let world = try world()
    let (first, slow) = (try world.submit().id, try world.submit().id)
    var request = TaskRequest.sample()
    request.after = [Dependency(.request(first), onFailure: .ignore), Dependency(.request(slow))]
    let last = try world.submit(request).id
    try world.finish(first, .failure)
    try world.retry(first)
    try world.finish(slow, .success)
    #expect(try world.record(last).state == .blocked)
    try world.finish(first, .success)
    #expect(world.isRunning(last))
  }

  @Test("retrying all goes through a graph in its order, counts each once, and survives a restart")
  func allOfAGraph() throws {
    let world = try world()
    let ids = try graph(world)
    let alone = try world.submit().id
    try world.finish(ids[0], .failure)
    try world.finish(alone, .failure)
    let result = try world.turn { core, transaction in try core.retryAll(identifier: nil, transaction, now: world.now) }
    #expect(result.retried == ids + [alone])
    #expect(result.refused.isEmpty)
    #expect(try states(world, ids) == [.running, .blocked, .blocked, .blocked])
    try world.restart(handlers: [.sample(runs: 8)])
    try world.turn()
    for id in ids {
      #expect(world.isRunning(id))
      try world.finish(id, .success)
    }
  }

  @Test("retrying those with a tag refuses what runs only after one without it")
  func tagBelow() throws {
    let world = try world()
    let first = try world.submit().id
    var tagged = TaskRequest.sample(after: [first])
    tagged.tags = ["nightly"]
    let second = try world.submit(tagged).id
    try world.finish(first, .failure)
    let result = try world.turn { core, transaction in
      try core.retryAll(identifier: nil, tag: "nightly", transaction, now: world.now)
    }
    #expect(result.retried.isEmpty && result.refused.map(\.id) == [second])
    #expect(try states(world, [first, second]) == [.failed, .failed])
  }

  @Test("a graph whose retry was not committed is as it was")
  func undone() throws {
    let world = try world()
    let ids = try graph(world)
    try world.finish(ids[0], .failure)
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try world.retry(ids[0]) }
    world.store.fail(with: nil)
    #expect(try states(world, ids) == [.failed, .failed, .failed, .failed])
    try world.retry(ids[0])
    for id in ids { try world.finish(id, .success) }
  }

  /// A diamond: the second and the third wait for the first, the fourth for both.
  private func graph(_ world: World) throws -> [RequestID] {
    let first = try world.submit().id
    let (left, right) = (try world.submit(.sample(after: [first])).id, try world.submit(.sample(after: [first])).id)
    return [first, left, right, try world.submit(.sample(after: [left, right])).id]
  }

  private func states(_ world: World, _ ids: [RequestID]) throws -> [RequestState] { try ids.map { try world.record($0).state } }

  @Test("one that is discarded is cancelled, keeps its reason, and cannot be retried; any other request is not discarded")
  func discard() throws {
    let world = try world()
    let (bad, live) = (try world.submit().id, try world.submit().id)
    try world.end(bad, .returned(.failure, stop: nil), RunReport())
    #expect(throws: RequestRefusal.self) { try world.turn { core, transaction in try core.discard(live, transaction, now: world.now) } }
    let record = try world.turn { core, transaction in try core.discard(bad, transaction, now: world.now) }
    #expect(record.state == .cancelled && record.lastMessage?.hasPrefix("discarded; it had failed") == true)
    #expect(throws: RequestRefusal.self) { try world.turn { core, transaction in try core.discard(bad, transaction, now: world.now) } }
    #expect(throws: RequestRefusal.self) { try world.retry(bad) }
  }

  @Test("all are discarded by identifier and tag, in pages")
  func discardAll() throws {
    let world = try world()
    let ids = try (0..<5).map { _ in try world.submit().id }
    for id in ids { try world.end(id, .returned(.failure, stop: nil), RunReport()) }
    func discard(_ tag: String?, after: RequestID?, limit: Int) throws -> DiscardedRequests {
      try world.turn { core, transaction in
        try core.discardAll(identifier: .sample(), tag: tag, after: after, limit: limit, transaction, now: world.now)
      }
    }
    #expect(try discard("none", after: nil, limit: 10).discarded == [])
    let page = try discard(nil, after: nil, limit: 3)
    #expect(page.discarded == Array(ids[..<3]) && page.last == ids[2])
    let rest = try discard(nil, after: page.last, limit: 3)
    #expect(rest.discarded == Array(ids[3...]) && rest.last == nil)
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
    #expect(try world.retry(last).lastMessage?.hasPrefix("retried: it runs with only the submitted payload") == true)
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
    #expect(try retryAll(world, .sample("org.example.unknown")) == 0)
    #expect(try retryAll(world, .sample()) == 3)
    for id in mine { #expect(world.isRunning(id)) }
    #expect(try world.record(keyed).state == .failed)
    #expect(try retryAll(world, nil) == 1)
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
        try core.retryAll(identifier: .sample(), tag: "nightly", after: after, limit: 2, transaction, now: world.now)
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
    #expect(throws: StoreError.self) { try retryAll(world, nil) }
    world.store.fail(with: nil)
    #expect(try world.record(id).state == .failed)
    #expect(try retryAll(world, nil) == 1)
  }
}
