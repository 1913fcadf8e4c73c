import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A unique key: append, windows, chains") struct KeyTests {
  private func world() throws -> World { try World(handlers: [.sample(runs: 8)]) }

  private func keyed(_ policy: ConflictPolicy, begin: WallTime? = nil, window: Duration? = nil) -> TaskRequest {
    var request = TaskRequest.sample(begin: begin, key: "k", onConflict: policy)
    request.uniqueWindow = window
    return request
  }

  private func holder(_ world: World) throws -> RequestID? {
    try world.store.commit { try $0.holder(of: "k", identifier: .sample())?.id }
  }

  private func finish(_ world: World, _ id: RequestID, output: String) throws {
    var report = RunReport()
    report.output = Array(output.utf8)
    try world.end(id, .returned(.success, stop: nil), report)
  }

  // MARK: Append

  @Test("append: it starts when the holder has succeeded, is given its output, and holds the key from then on")
  func append() throws {
    let world = try world()
    let first = try world.submit(keyed(.append))
    #expect(first.disposition == .created)
    let second = try world.submit(keyed(.append))
    #expect(second.disposition == .appended && second.nextStart == .distantFuture)
    #expect(second.notes == ["it starts when \(first.id), which held the key, has succeeded"])
    let third = try world.submit(keyed(.append)).id
    #expect(try holder(world) == third)
    #expect(try world.record(third).blockedBy == second.id)
    try finish(world, first.id, output: "one")
    #expect(try #require(world.orders[second.id]).payload == Array("one".utf8))
    #expect(!world.isRunning(third))
    try world.finish(second.id, .success)
    try world.finish(third, .success)
    #expect(world.begun == [first.id, second.id, third])
    #expect(try world.submit(keyed(.append)).disposition == .created)
  }

  @Test("append: a failed or cancelled predecessor ends all that was appended, each naming the one before", arguments: [true, false])
  func appendedToFailed(_ fails: Bool) throws {
    let world = try world()
    let chain = try (0..<3).map { _ in try world.submit(keyed(.append)).id }
    if fails {
      try world.finish(chain[0], .failure)
    } else {
      try world.cancel(chain[0])
      try world.finish(chain[0], .retry, stop: .cancelled)
    }
    for index in 1..<3 {
      let record = try world.record(chain[index])
      #expect(record.state == (fails ? .failed : .cancelled))
      #expect(record.lastMessage == "\(chain[index - 1]), which must succeed first, \(fails ? "has failed" : "was cancelled")")
    }
    #expect(try holder(world) == nil)
  }

  @Test("append with after: both are waited for, the holder's output comes first")
  func appendAfter() throws {
    let world = try world()
    let holder = try world.submit(keyed(.append)).id
    let other = try world.submit().id
    var request = keyed(.append)
    request.after = [Dependency(.request(other)), Dependency(.request(holder))]
    let last = try world.submit(request).id
    try finish(world, other, output: #"{"b":2,"a":2}"#)
    #expect(!world.isRunning(last))
    try finish(world, holder, output: #"{"a":1}"#)
    #expect(String(decoding: try #require(world.orders[last]).payload, as: UTF8.self) == #"{"a":2,"b":2}"#)
  }

  @Test("append to a repeating holder, and of a repeating request, are refused")
  func appendRepeating() throws {
    let world = try world()
    try world.submit(.sample(key: "k", onConflict: .keep, every: .seconds(900)))
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit(keyed(.append)) }
    #expect(refusal?.code == .conflict && refusal?.field == "on_conflict")
    let other = #expect(throws: RequestRefusal.self) { try world.submit(.sample(key: "l", onConflict: .append, every: .seconds(900))) }
    #expect(other?.code == .invalid && other?.field == "on_conflict")
  }

  @Test("replace on a chain cancels all of it, and waits for the run at its head")
  func replaceChain() throws {
    let world = try world()
    let chain = try (0..<4).map { _ in try world.submit(keyed(.append)).id }
    let run = try #require(world.orders[chain[0]]).run
    let next = try world.submit(keyed(.replace))
    #expect(next.disposition == .replaced)
    #expect(
      next.notes == [
        "cancelled: 3 waiting requests with the key",
        "\(chain[0]) is running and was asked to stop: this one starts when its run has ended",
      ])
    #expect(world.expirations == [run: .replaced])
    for id in chain.dropFirst() {
      #expect(try world.record(id).state == .cancelled)
      #expect(try world.record(id).lastMessage == "replaced by a newer request")
    }
    #expect(try holder(world) == next.id)
    try world.finish(chain[0], .success, stop: .replaced)
    #expect(world.isRunning(next.id))
    #expect(try #require(world.orders[next.id]).payload.isEmpty)
  }

  @Test("replace does not touch what the chain waits for by after, nor wait for it")
  func replaceAfter() throws {
    let world = try world()
    let outside = try world.submit().id
    var request = keyed(.append)
    request.after = [Dependency(.request(outside))]
    let head = try world.submit(request).id
    let tail = try world.submit(keyed(.append)).id
    let next = try world.submit(keyed(.replace)).id
    for id in [head, tail] { #expect(try world.record(id).state == .cancelled) }
    #expect(try world.record(outside).state == .running)
    #expect(world.isRunning(next))
  }

  @Test(
    "replace of what it is to wait for is refused, and changes nothing; with ignore it waits for the run's end", arguments: [true, false])
  func replaceAwaited(isRunning: Bool) throws {
    let world = try world()
    let holder = try world.submit(keyed(.append, begin: isRunning ? nil : .ms(60_000))).id
    let dependant = try world.submit(.sample(after: [holder])).id
    for awaited in isRunning ? [holder] : [holder, dependant] {
      var request = keyed(.replace)
      request.after = [Dependency(.request(awaited))]
      let refusal = #expect(throws: RequestRefusal.self) { try world.submit(request) }
      #expect(refusal?.code == .conflict && refusal?.field == "after")
    }
    #expect(throws: RequestRefusal.self) {
      var second = keyed(.replace)
      second.after = [Dependency(.position(0))]
      _ = try world.submit([keyed(.append), second])
    }
    #expect(try self.holder(world) == holder)
    #expect(world.core.live.values.allSatisfy { $0.stopRequested == nil })
    var request = keyed(.replace)
    request.after = [Dependency(.request(holder), onFailure: .ignore)]
    let next = try world.submit(request).id
    if isRunning { try world.finish(holder, .success, stop: .replaced) }
    #expect(world.isRunning(next))
    #expect(try world.record(dependant).state == .cancelled)
  }

  @Test("a tail that is cancelled gives the key back to the one before it")
  func handBack() throws {
    let world = try world()
    let first = try world.submit(keyed(.append)).id
    let second = try world.submit(keyed(.append)).id
    try world.cancel(second)
    #expect(try holder(world) == first)
    #expect(try world.submit(keyed(.keep)).id == first)
    #expect(try world.submit(keyed(.append)).disposition == .appended)
  }

  @Test("a tail that ends because of one in the middle gives the key back to the one that still runs")
  func middle() throws {
    let world = try world()
    let first = try world.submit(keyed(.append)).id
    let chain = try (0..<3).map { _ in try world.submit(keyed(.append)).id }
    try world.cancel(chain[0])
    for id in chain { #expect(try world.record(id).state == .cancelled) }
    #expect(try holder(world) == first)
    #expect(try world.submit(keyed(.keep)).id == first)
  }

  @Test("a retry gives an appended request its key again, which had gone to the one that it was appended to")
  func retried() throws {
    let world = try world()
    let other = try world.submit().id
    let head = try world.submit(keyed(.append)).id
    var request = keyed(.append)
    request.after = [Dependency(.request(other))]
    let middle = try world.submit(request).id
    let tail = try world.submit(keyed(.append)).id
    try world.finish(other, .failure)
    for id in [middle, tail] { #expect(try world.record(id).state == .failed) }
    #expect(try holder(world) == head)
    _ = try world.retry(other)
    for id in [middle, tail] { #expect(try world.record(id).state == .blocked) }
    #expect(try holder(world) == tail)
    #expect(try world.submit(keyed(.keep)).id == tail)
    for id in [other, head, middle, tail] { try world.finish(id, .success) }
    #expect(try world.store.counts() == [.succeeded: 4])
  }

  @Test("a retry leaves what was appended dead if its key has gone to a new submission")
  func retriedTooLate() throws {
    let world = try world()
    let other = try world.submit().id
    let head = try world.submit(keyed(.append)).id
    var request = keyed(.append)
    request.after = [Dependency(.request(other))]
    let tail = try world.submit(request).id
    try world.finish(other, .failure)
    try world.finish(head, .success)
    let new = try world.submit(keyed(.append)).id
    _ = try world.retry(other)
    #expect(try world.record(tail).state == .failed)
    #expect(try holder(world) == new)
  }

  @Test("a chain goes on after restarts, and a failing commit leaves the key where it was")
  func restart() throws {
    let world = try world()
    let first = try world.submit(keyed(.append)).id
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try world.submit(keyed(.append)) }
    #expect(throws: StoreError.self) { try world.submit(keyed(.replace)) }
    world.store.fail(with: nil)
    #expect(try holder(world) == first)
    #expect(world.core.live.values.allSatisfy { $0.stopRequested == nil })
    let second = try world.submit(keyed(.append)).id
    try world.restart(handlers: [.sample(runs: 8)])
    let third = try world.submit(keyed(.append)).id
    try world.finish(first, .success)
    try world.restart(handlers: [.sample(runs: 8)])
    try world.finish(second, .success)
    try world.finish(third, .success)
    #expect(try world.store.counts() == [.succeeded: 3])
  }

  // MARK: Windows

  @Test("within its window the key is held by a request that has ended: keep answers with that one")
  func windowKeep() throws {
    let world = try world()
    let first = try world.submit(keyed(.keep, window: .seconds(3600))).id
    try world.finish(first, .success)
    try world.advance(.seconds(3599))
    let second = try world.submit(keyed(.keep, window: .seconds(3600)))
    #expect(second.id == first && second.disposition == .kept && second.nextStart == .distantFuture)
    #expect(second.notes == ["\(first), which has succeeded, holds the key until its unique_window ends: this submission is dropped"])
    try world.restart(handlers: [.sample(runs: 8)])
    #expect(try world.submit(keyed(.keep)).id == first)
    // From the submission on, not from the last attempt to take the key.
    try world.advance(.seconds(1))
    #expect(try world.submit(keyed(.keep)).disposition == .created)
  }

  @Test("a window of a request that is no longer on record holds the key all the same")
  func windowPruned() throws {
    let world = try world()
    let first = try world.submit(keyed(.keep, window: .seconds(3600))).id
    try world.finish(first, .success)
    _ = try world.store.commit { try $0.prune(before: .ms(1), keeping: 0, limit: 10) }
    try #require(try world.store.request(first) == nil)
    let second = try world.submit(keyed(.keep))
    #expect(second.id == first && second.disposition == .kept && second.effective == nil)
  }

  @Test(
    "replace, update and append within the window of one that has ended are new requests, and say so",
    arguments: [ConflictPolicy.replace, .update, .append])
  func windowOthers(_ policy: ConflictPolicy) throws {
    let world = try world()
    let first = try world.submit(keyed(.keep, window: .seconds(3600))).id
    try world.finish(first, .success)
    let second = try world.submit(keyed(policy))
    #expect(second.disposition == .created && second.id != first)
    #expect(
      second.notes.first?.hasPrefix("\(first), which has succeeded, holds the key until its unique_window ends; on_conflict") == true)
    try world.finish(second.id, .success)
    // It brought no window of its own.
    #expect(try world.submit(keyed(.keep)).disposition == .created)
  }

  @Test("a window needs a key that is held, and a length", arguments: [nil, "k"])
  func windowRefused(_ key: String?) throws {
    let world = try world()
    var request = TaskRequest.sample(key: key, onConflict: key == nil ? .none : .keep)
    request.uniqueWindow = key == nil ? .seconds(1) : .zero
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit(request) }
    #expect(refusal?.field == "unique_window_ms")
  }

  @Test("the key of the configuration's schedule is the operator's")
  func schedule() throws {
    let world = try world()
    let refusal = #expect(throws: RequestRefusal.self) {
      try world.submit(.sample(key: "config:org.example.task", onConflict: .replace))
    }
    #expect(refusal?.code == .conflict && refusal?.field == "unique_key")
  }
}
