import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("End of a run") struct RunEndTests {
  @Test("success ends the request and gives the slot back")
  func success() throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, .success)
    let record = try world.record(id)
    #expect(record.state == .succeeded)
    #expect(record.lastOutcome == .succeeded)
    #expect(try world.runs(id).map(\.outcome) == [.succeeded])
    #expect(world.core.live.isEmpty)
    #expect(world.core.occupiedSlots == 0)
  }

  @Test("a request that had nothing to do has succeeded, and its run says so")
  func noop() throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, .noop)
    #expect(try world.record(id).state == .succeeded)
    #expect(try world.runs(id).map(\.outcome) == [.noop])
  }

  @Test("failure, and a value out of range, are final at the first attempt", arguments: [TaskResult.failure, .outOfRange(77)])
  func failure(_ result: TaskResult) throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, result)
    #expect(try world.record(id).state == .failed)
    #expect(try world.runs(id).map(\.outcome) == [.failed])
  }

  @Test("each retry doubles the wait, moved by at most a fifth, until the attempts are spent")
  func backoff() throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 5, initial: .seconds(30)))).id
    for attempt in 1...4 {
      #expect(world.orders[id]?.attempt == attempt)
      try world.finish(id, .retry)
      let record = try world.record(id)
      #expect(record.state == .pending)
      #expect(record.attemptsSpent == attempt)
      let exact = Duration.seconds(30 << (attempt - 1))
      #expect(exact * 4 / 5 <= record.due - world.now && record.due - world.now <= exact * 6 / 5)
      try world.advance(to: WallTime(unixMilliseconds: record.due.unixMilliseconds - 1))
      #expect(!world.isRunning(id))
      try world.advance(.milliseconds(1))
    }
    try world.finish(id, .retry)
    #expect(try world.record(id).state == .failed)
    #expect(try world.runs(id).map(\.attempt) == [1, 2, 3, 4, 5])
  }

  /// A dead letter was shown with one attempt more than it had.
  @Test(
    "a dead letter's attempt is that of its last run, whether that spent one or not",
    arguments: [RunEnding.returned(.retry, stop: nil), .returned(.failure, stop: nil), .forced(.budget), .crashed])
  func lastAttempt(_ ending: RunEnding) throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 2))).id
    #expect(try world.record(id).attempt == 1)
    try world.finish(id, .retry)
    #expect(try world.record(id).attempt == 2)
    try world.advance(to: try world.record(id).due)
    try world.end(id, ending)
    #expect(try world.record(id).state == .failed)
    #expect(try world.record(id).attempt == 2)
    #expect(try world.retry(id).attempt == 1)
  }

  @Test("a request that is cancelled in its backoff has the attempt of the run before it; one that never ran has the first")
  func cancelledAttempt() throws {
    let world = try World()
    let (ran, waits) = (try world.submit().id, try world.submit(.sample(begin: .ms(60_000))).id)
    try world.finish(ran, .retry)
    #expect(try world.cancel(ran).attempt == 1)
    #expect(try world.cancel(waits).attempt == 1)
  }

  @Test("jitter spreads requests that failed together")
  func jitter() throws {
    let world = try World(handlers: [.sample(runs: 16)])
    let ids = try (0..<16).map { _ in try world.submit().id }
    for id in ids { try world.finish(id, .retry) }
    let dues = try Set(ids.map { try world.record($0).due })
    #expect(dues.count > 10)
  }

  @Test("retry_after decides instead of the backoff")
  func retryAfter() throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, .retry, retryAfter: .seconds(7))
    #expect(try world.record(id).due == .ms(7000))
    #expect(try world.record(id).attemptsSpent == 1)
  }

  @Test("snooze costs no attempt, however often")
  func snooze() throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 1))).id
    for _ in 1...8 {
      try world.finish(id, .snooze)
      #expect(try world.record(id).due == world.now + .seconds(1))
      try world.advance(.seconds(1))
      #expect(world.orders[id]?.attempt == 1)
    }
    try world.finish(id, .snooze, retryAfter: .seconds(90))
    #expect(try world.record(id).due == world.now + .seconds(90))
    #expect(try world.record(id).attemptsSpent == 0)
  }

  @Test(
    "stopped by force at the end of the budget counts as an attempt, as does a crash",
    arguments: [RunEnding.forced(.budget), .forced(.stalled), .crashed])
  func forced(_ ending: RunEnding) throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 2))).id
    try world.end(id, ending)
    #expect(try world.record(id).state == .pending)
    #expect(try world.record(id).attemptsSpent == 1)
    // Its plugin is held back for longer than its own backoff.
    try world.advance(to: max(try world.record(id).due, try #require(world.health().heldUntil)))
    try world.end(id, ending)
    #expect(try world.record(id).state == .failed)
  }

  @Test("a continued task that was stopped by force because it took too long is not tried again; one that crashed is")
  func forcedContinued() throws {
    var contract = HandlerContract.sample()
    contract.kind = .continued
    let world = try World(handlers: [contract])
    let forced = try world.submit().id
    try world.end(forced, .forced(.stalled))
    #expect(try world.record(forced).state == .failed)
    try world.release()
    let crashed = try world.submit().id
    try world.end(crashed, .crashed)
    #expect(try world.record(crashed).state == .pending)
  }

  @Test(
    "what the host's shutdown interrupts is pending at once, no attempt spent",
    arguments: [
      RunEnding.returned(.retry, stop: .draining), .returned(.snooze, stop: .draining), .forced(.draining),
      .returned(.retry, stop: .conditions),
      .forced(.conditions),
    ])
  func drained(_ ending: RunEnding) throws {
    let world = try World()
    let id = try world.submit().id
    world.core.isDraining = true
    try world.end(id, ending)
    let record = try world.record(id)
    #expect(record.state == .pending)
    #expect(record.due == world.now)
    #expect(record.attemptsSpent == 0)
    #expect(try world.runs(id).map(\.outcome) == [.stopped])
    #expect(!world.isRunning(id))
  }

  @Test(
    "results of a run that was asked to drain stand",
    arguments: [
      (TaskResult.success, RequestState.succeeded), (.noop, .succeeded), (.failure, .failed),
    ])
  func drainedWithResult(_ result: TaskResult, _ state: RequestState) throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, result, stop: .draining)
    #expect(try world.record(id).state == state)
  }

  @Test("runs of a host that died are pending at once; the fifth loss in a row fails the request")
  func losses() throws {
    let world = try World()
    let id = try world.submit().id
    for loss in 1...4 {
      world.now = world.now + .seconds(60)
      #expect(try world.restart() == 1)
      #expect(world.orders[id]?.attempt == 1)
      #expect(try world.record(id).losses == loss)
    }
    #expect(try world.restart() == 1)
    #expect(try world.record(id).state == .failed)
    #expect(try world.runs(id).map(\.outcome) == Array(repeating: .lost, count: 5))
    #expect(try world.record(id).lastMessage == "the host ended while it ran")
  }

  @Test("any other end ends the row of losses")
  func lossesInARow() throws {
    let world = try World()
    let id = try world.submit().id
    for _ in 1...4 { try world.restart() }
    try world.finish(id, .snooze)
    #expect(try world.record(id).losses == 0)
    try world.advance(.seconds(1))
    for _ in 1...4 { try world.restart() }
    #expect(world.isRunning(id))
  }

  @Test("a dead letter is revived with all its attempts")
  func retried() throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 1))).id
    try world.finish(id, .retry)
    #expect(try world.record(id).state == .failed)
    try world.retry(id)
    #expect(world.orders[id]?.attempt == 1)
    try world.finish(id, .success)
    #expect(try world.record(id).state == .succeeded)
    #expect(throws: RequestRefusal.self) { try world.retry(id) }
  }

  @Test("a dead letter is not revived while another request holds its key")
  func retriedKey() throws {
    let world = try World()
    let id = try world.submit(.sample(key: "k", onConflict: .keep)).id
    try world.finish(id, .failure)
    let other = try world.submit(.sample(begin: .ms(60_000), key: "k", onConflict: .keep)).id
    #expect(other != id)
    let refusal = #expect(throws: RequestRefusal.self) { try world.retry(id) }
    #expect(refusal?.code == .conflict)
    try world.cancel(other)
    try world.retry(id)
    #expect(world.isRunning(id))
  }

  @Test("observers learn of a run's end before its request's next state", arguments: [TaskResult.success, .retry, .failure])
  func order(_ result: TaskResult) throws {
    let world = try World()
    world.core.isObserved = true
    let id = try world.submit().id
    let before = world.events.count
    try world.finish(id, result)
    let kinds = world.events[before...].map { if case .run = $0 { "run" } else { "request" } }
    #expect(kinds == ["run", "request"])
  }
}
