import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Requests that wait for others") struct GraphTests {
  private func world() throws -> World { try World(handlers: [.sample(runs: 8)]) }

  /// Ends the run of a request with an output.
  private func finish(_ world: World, _ id: RequestID, _ result: TaskResult = .success, output: String = "") throws {
    var report = RunReport()
    report.output = Array(output.utf8)
    try world.end(id, .returned(result, stop: nil), report)
  }

  private func payload(_ world: World, _ id: RequestID) throws -> String {
    String(decoding: try #require(world.orders[id]).payload, as: UTF8.self)
  }

  // MARK: Order

  @Test("it starts when all it waits for have succeeded, and never before")
  func order() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit().id
    let last = try world.submit(.sample(after: [first, second]))
    #expect(last.nextStart == .distantFuture && last.effective?.nextStart == .distantFuture)
    #expect(try world.record(last.id).state == .blocked)
    #expect(try world.record(last.id).blockedBy == first)
    try world.finish(first, .success)
    #expect(try world.record(last.id).blockedBy == second)
    #expect(!world.isRunning(last.id))
    try world.finish(second, .noop)
    #expect(world.begun == [first, second, last.id])
    try world.finish(last.id, .success)
    #expect(try world.record(last.id).state == .succeeded)
  }

  @Test("a retry of what it waits for keeps it waiting, and so do its own time and conditions afterwards")
  func times() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit(.sample(begin: .ms(3_600_000), after: [first])).id
    try world.finish(first, .retry)
    #expect(try world.record(second).state == .blocked)
    try world.advance(.seconds(60))
    try world.finish(first, .success)
    #expect(try world.record(second).state == .pending)
    #expect(!world.isRunning(second))
    try world.advance(to: .ms(3_600_000))
    #expect(world.isRunning(second))
  }

  @Test("what has succeeded already counts as settled, with its output")
  func settledBefore() throws {
    let world = try world()
    let first = try world.submit().id
    try finish(world, first, output: "done")
    let second = try world.submit(.sample(after: [first]))
    #expect(second.nextStart == world.now)
    #expect(try payload(world, second.id) == "done")
  }

  @Test("of what has succeeded and left the history, the output is missing, with a note")
  func pruned() throws {
    let world = try world()
    let first = try world.submit().id
    try finish(world, first, output: "done")
    // The last run of its identifier would be kept.
    try finish(world, try world.submit().id, output: "later")
    _ = try world.store.commit { try $0.prune(before: .ms(-1), keeping: 0, limit: 10) }
    // The request itself is kept for its age.
    try #require(try world.store.request(first) != nil)
    let second = try world.submit(.sample(after: [first]))
    #expect(second.notes == ["\(first) has succeeded, but its run is no longer on record: its output is not passed on"])
    #expect(try payload(world, second.id) == "")
  }

  // MARK: One submission

  @Test("elements of one submission wait for earlier ones by position; all are stored, or none")
  func positions() throws {
    let world = try world()
    let fan = try world.submit([
      .sample(), .sample(after: [.position(0)]), .sample(after: [.position(0)]), .sample(after: [.position(1), .position(2)]),
    ])
    .map(\.id)
    #expect(try world.record(fan[3]).request.after.map(\.predecessor) == [.request(fan[1]), .request(fan[2])])
    try world.finish(fan[0], .success)
    try world.finish(fan[2], .success)
    #expect(!world.isRunning(fan[3]))
    try world.finish(fan[1], .success)
    #expect(world.begun == fan)
  }

  @Test("a position that is not before its own is refused, naming the element", arguments: [1, 2, 7, -1])
  func wrongPosition(_ position: Int) throws {
    let world = try world()
    let refusal = #expect(throws: RequestRefusal.self) {
      try world.submit([.sample(), .sample(after: [.position(position)]), .sample()])
    }
    #expect(refusal?.code == .invalid && refusal?.field == "[1].after")
    #expect(refusal?.message.hasPrefix("[1]: @\(position) is not an earlier request of this submission") == true)
    #expect(try world.store.counts().isEmpty)
    #expect(try world.submit().disposition == .created)
  }

  @Test("what cannot be waited for is refused, and says why")
  func refused() throws {
    let world = try world()
    let repeating = try world.submit(.sample(every: .seconds(900))).id
    let failed = try world.submit().id
    try world.finish(failed, .failure)
    let cancelled = try world.submit(.sample(begin: .ms(1000))).id
    try world.cancel(cancelled)
    let unknown = RequestID(sequence: 4711, origin: world.store.origin)
    let wrong: [(RequestID, String)] = [
      (repeating, "\(repeating) repeats and never ends"),
      (failed, "\(failed) has failed, so a request that waits for its success would never run: retry it"),
      (cancelled, "\(cancelled) was cancelled"), (unknown, "there is no request \(unknown) to wait for"),
      (RequestID(sequence: failed.sequence, origin: failed.origin ^ 1), "there is no request"),
    ]
    for (id, message) in wrong {
      let refusal = #expect(throws: RequestRefusal.self) { try world.submit(.sample(after: [id])) }
      #expect(refusal?.code == .invalid && refusal?.field == "after")
      #expect(refusal?.message.hasPrefix(message) == true, "\(refusal?.message ?? "")")
    }
    var both = TaskRequest.sample(every: .seconds(900))
    both.after = [Dependency(.request(failed), onFailure: .ignore)]
    #expect(#expect(throws: RequestRefusal.self) { try world.submit(both) }?.field == "after")
    var ignoring = TaskRequest.sample()
    ignoring.after = [Dependency(.request(failed), onFailure: .ignore), Dependency(.request(cancelled), onFailure: .ignore)]
    #expect(world.isRunning(try world.submit(ignoring).id))
  }

  // MARK: Failures

  @Test("a failed one fails what waits for it, and so on, each naming the one before", arguments: [1, 2000])
  func failure(_ length: Int) throws {
    let world = try world()
    let chain = try world.submit([.sample()] + (0..<length).map { .sample(after: [.position($0)]) }).map(\.id)
    try world.finish(chain[0], .failure)
    for (before, id) in zip(chain, chain.dropFirst()) {
      let record = try world.record(id)
      #expect(record.state == .failed && record.blockedBy == nil && record.ended == world.now)
      #expect(record.lastMessage == "\(before), which must succeed first, has failed")
    }
    #expect(world.begun == [chain[0]])
    #expect(try world.store.counts() == [.failed: length + 1])
    #expect(world.core.liveCounts[.sample()] == 0)
  }

  @Test("a cancelled one cancels what waits for it, and so on, while it waits and while it runs", arguments: [true, false])
  func cancellation(isRunning: Bool) throws {
    let world = try world()
    let first = try world.submit(.sample(begin: isRunning ? nil : .ms(1000))).id
    let second = try world.submit(.sample(after: [first])).id
    let third = try world.submit(.sample(after: [second])).id
    try world.cancel(first)
    if isRunning { try world.finish(first, .success, stop: .cancelled) }
    #expect(try world.record(second).state == .cancelled)
    #expect(try world.record(second).lastMessage == "\(first), which must succeed first, was cancelled")
    #expect(try world.record(third).lastMessage == "\(second), which must succeed first, was cancelled")
  }

  @Test("with ignore it runs all the same, and without the output of what failed")
  func ignore() throws {
    let world = try world()
    let first = try world.submit().id
    var request = TaskRequest.sample()
    request.after = [Dependency(.request(first), onFailure: .ignore)]
    let second = try world.submit(request).id
    try finish(world, first, .failure, output: "half")
    #expect(try payload(world, second) == "")
  }

  @Test("the first failure decides, though others still run")
  func firstFailure() throws {
    let world = try world()
    let slow = try world.submit().id
    let bad = try world.submit().id
    let last = try world.submit(.sample(after: [slow, bad])).id
    try world.finish(bad, .failure)
    #expect(try world.record(last).state == .failed)
    try world.finish(slow, .success)
    #expect(try world.record(last).state == .failed)
    #expect(!world.isRunning(last))
  }

  @Test("attempts that are spent fail what waits")
  func attempts() throws {
    let world = try world()
    let first = try world.submit(.sample(retry: RetryPolicy(attempts: 1))).id
    let second = try world.submit(.sample(after: [first])).id
    try world.finish(first, .retry)
    #expect(try world.record(second).state == .failed)
  }

  // MARK: Outputs

  @Test("one output is the payload, byte for byte; several are merged in the order of after, and what was submitted wins")
  func outputs() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit().id
    let one = try world.submit(.sample(after: [first])).id
    var request = TaskRequest.sample(after: [second, first])
    request.payload = Array(#"{"c": 0}"#.utf8)
    let both = try world.submit(request).id
    try finish(world, first, output: #"{"a":1,"c":1, "b":[ 1 ]}"#)
    try finish(world, second, output: #"{"a": 2}"#)
    #expect(try payload(world, one) == #"{"a":1,"c":1, "b":[ 1 ]}"#)
    #expect(try payload(world, both) == #"{"a":1,"c": 0,"b":[ 1 ]}"#)
    // The next attempt is given the same.
    try world.finish(both, .snooze)
    try world.advance(.seconds(1))
    #expect(try payload(world, both) == #"{"a":1,"c": 0,"b":[ 1 ]}"#)
    #expect(String(decoding: try world.record(both).request.payload, as: UTF8.self) == #"{"a":1,"c": 0,"b":[ 1 ]}"#)
  }

  @Test("outputs that cannot be merged fail it, saying which")
  func noObject() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit().id
    let last = try world.submit(.sample(after: [first, second])).id
    let after = try world.submit(.sample(after: [last])).id
    try finish(world, first, output: "[1]")
    try finish(world, second, output: "{}")
    #expect(try world.record(last).state == .failed)
    #expect(try world.record(last).lastMessage?.contains("the output of \(first) is not a JSON object") == true)
    #expect(try world.record(after).lastMessage == "\(last), which must succeed first, has failed")
  }

  @Test("outputs that are too big together fail it, with the numbers")
  func tooBig() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit().id
    let last = try world.submit(.sample(after: [first, second])).id
    try finish(world, first, output: #"{"a":"\#(String(repeating: "x", count: 40_000))"}"#)
    try finish(world, second, output: #"{"b":"\#(String(repeating: "x", count: 40_000))"}"#)
    #expect(try world.record(last).lastMessage?.hasSuffix("has 80015 bytes, more than 65536") == true)
  }

  @Test("a typed handler's objection to the merged payload fails it; nothing is objected to while outputs are to come")
  func rejection() throws {
    let world = try world()
    world.core.rejection = { payload, _ in payload.isEmpty || payload.first == UInt8(ascii: "{") ? nil : "argument a: it is missing" }
    let first = try world.submit().id
    let second = try world.submit(.sample(after: [first])).id
    try finish(world, first, output: "5")
    #expect(try world.record(second).state == .failed)
    #expect(try world.record(second).lastMessage?.hasSuffix("argument a: it is missing") == true)
    world.core.rejection = { payload, _ in payload == [UInt8(ascii: "{"), UInt8(ascii: "}")] ? nil : "argument a: it is missing" }
    #expect(throws: RequestRefusal.self) { try world.submit() }
    world.core.rejection = { _, _ in nil }
    let third = try world.submit().id
    world.core.rejection = { payload, _ in payload == [UInt8(ascii: "{"), UInt8(ascii: "}")] ? nil : "argument a: it is missing" }
    let fourth = try world.submit(.sample(after: [third])).id
    try finish(world, third, output: "{}")
    #expect(world.isRunning(fourth))
    // One that has succeeded already is complete at once, and refused.
    let late = #expect(throws: RequestRefusal.self) { try world.submit(.sample(after: [first])) }
    #expect(late?.field == "payload")
  }

  // MARK: Restarts and failing commits

  @Test("a chain goes on after the host died in the middle of it")
  func restart() throws {
    let world = try world()
    let chain = try world.submit([.sample(), .sample(after: [.position(0)]), .sample(after: [.position(1)])]).map(\.id)
    try finish(world, chain[0], output: #"{"a":1}"#)
    #expect(world.isRunning(chain[1]))
    try world.restart(handlers: [.sample(runs: 8)])
    #expect(try payload(world, chain[1]) == #"{"a":1}"#)
    try world.restart(handlers: [.sample(runs: 8)])
    try finish(world, chain[1], output: #"{"b":2}"#)
    #expect(try payload(world, chain[2]) == #"{"b":2}"#)
    try world.finish(chain[2], .success)
    #expect(try world.store.counts() == [.succeeded: 3])
  }

  @Test("a request whose loss is the last one fails what waits for it, at the next start")
  func lostForGood() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit(.sample(after: [first])).id
    for _ in 0..<Limits.lossesInARow { try world.restart(handlers: [.sample(runs: 8)]) }
    #expect(try world.record(first).state == .failed)
    #expect(try world.record(second).state == .failed)
  }

  @Test("a commit that fails leaves no trace: the end is recorded later, and then it starts")
  func commitFails() throws {
    let world = try world()
    let first = try world.submit().id
    let second = try world.submit(.sample(after: [first])).id
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try finish(world, first, output: "x") }
    #expect(throws: StoreError.self) { try world.submit(.sample(after: [first])) }
    world.store.fail(with: nil)
    #expect(try world.record(second).state == .blocked)
    #expect(try world.store.counts() == [.running: 1, .blocked: 1])
    try finish(world, first, output: "x")
    #expect(try payload(world, second) == "x")
    try world.finish(second, .success)
    #expect(try world.store.commit { try $0.liveCount(of: .sample()) } == 0)
  }

  // MARK: Sizes

  @Test("it may wait for a hundred, not more")
  func sizes() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 1), handlers: [.sample()])
    let ids = try (0..<101).map { _ in try world.submit(.sample(begin: .ms(1000))).id }
    #expect(try world.submit(.sample(after: Array(ids.prefix(100)))).nextStart == .distantFuture)
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit(.sample(after: ids)) }
    #expect(refusal?.code == .invalid && refusal?.field == "after")
  }

  @Test("the same one named twice is waited for once, and must succeed if one of the two says so")
  func twice() throws {
    let world = try world()
    let first = try world.submit(.sample(key: "k", onConflict: .keep)).id
    var request = TaskRequest.sample()
    request.after = [Dependency(.request(first), onFailure: .ignore), Dependency(.request(first))]
    let second = try world.submit(request).id
    #expect(try world.record(second).request.after == [Dependency(.request(first))])
    try world.finish(first, .failure)
    #expect(try world.record(second).state == .failed)
  }
}
