import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Cancelling") struct CancelTests {
  @Test("a pending request is cancelled at once and never starts")
  func pending() throws {
    let world = try World()
    let id = try world.submit(.sample(begin: .ms(1000))).id
    let record = try world.cancel(id)
    #expect(record.state == .cancelled)
    #expect(record.ended == world.now)
    try world.advance(.seconds(60))
    #expect(world.begun.isEmpty)
  }

  @Test(
    "a running request is cancelled whatever its handler returns; its output is kept",
    arguments: [
      RunEnding.returned(.success, stop: .cancelled), .returned(.success, stop: nil), .returned(.retry, stop: .cancelled),
      .returned(.failure, stop: .cancelled), .returned(.snooze, stop: nil), .forced(.cancelled), .forced(.budget), .crashed, .lost,
    ])
  func running(_ ending: RunEnding) throws {
    let world = try World()
    let id = try world.submit().id
    let run = try #require(world.orders[id]).run
    let record = try world.cancel(id)
    #expect(record.state == .running)
    #expect(record.stopRequested == .cancelled)
    #expect(world.expirations == [run: .cancelled])
    var report = RunReport()
    report.output = Array("half done".utf8)
    try world.end(id, ending, report)
    #expect(try world.record(id).state == .cancelled)
    #expect(try world.record(id).stopRequested == nil)
    let kept = try #require(try world.store.run(run))
    #expect(kept.outcome == .cancelled)
    #expect(kept.report.output == Array("half done".utf8))
    #expect(kept.report.stopReason == .cancelled)
  }

  /// The record said that the run was stopped because it was cancelled, when its handler had been told that its budget was spent.
  @Test(
    "a run that has expired when its request is cancelled keeps the reason that its handler was told",
    arguments: [RunEnding.returned(.retry, stop: .budget), .returned(.success, stop: .budget), .forced(.budget)])
  func expiredBefore(_ ending: RunEnding) throws {
    let world = try World()
    let id = try world.submit().id
    let run = try #require(world.orders[id]).run
    try world.cancel(id)
    var report = RunReport()
    report.stopReason = .budget
    try world.end(id, ending, report)
    #expect(try world.record(id).state == .cancelled)
    let kept = try #require(try world.store.run(run))
    #expect(kept.outcome == .cancelled && kept.report.stopReason == .budget && kept.isExpired)
  }

  @Test("a running request stays cancelled when the host dies before its run has ended")
  func lost() throws {
    let world = try World()
    let id = try world.submit().id
    try world.cancel(id)
    try world.restart()
    #expect(try world.record(id).state == .cancelled)
    #expect(!world.isRunning(id))
  }

  @Test("a repeating request ends when it is cancelled while it runs")
  func repeating() throws {
    let world = try World()
    let id = try world.submit(.sample(every: .seconds(900))).id
    try world.cancel(id)
    try world.finish(id, .success, stop: .cancelled)
    #expect(try world.record(id).state == .cancelled)
    try world.advance(.seconds(9000))
    #expect(world.begun == [id])
  }

  @Test("a request that waits for another's run is cancelled at once")
  func blocked() throws {
    let world = try World()
    let first = try world.submit(.sample(key: "k", onConflict: .replace)).id
    let second = try world.submit(.sample(key: "k", onConflict: .replace)).id
    #expect(try world.record(second).state == .blocked)
    #expect(try world.cancel(second).state == .cancelled)
    try world.finish(first, .success)
    #expect(world.begun == [first])
    #expect(try world.record(first).state == .cancelled)
  }

  @Test("what has ended cannot be cancelled", arguments: [TaskResult.success, .failure])
  func ended(_ result: TaskResult) throws {
    let world = try World()
    let id = try world.submit().id
    try world.finish(id, result)
    let refusal = #expect(throws: RequestRefusal.self) { try world.cancel(id) }
    #expect(refusal?.code == .conflict)
  }

  @Test("cancelling twice says so for a pending request and changes nothing for a running one")
  func twice() throws {
    let world = try World()
    let running = try world.submit().id
    let pending = try world.submit(.sample(begin: .ms(1000))).id
    try world.cancel(pending)
    #expect(throws: RequestRefusal.self) { try world.cancel(pending) }
    try world.cancel(running)
    #expect(try world.cancel(running).stopRequested == .cancelled)
    try world.finish(running, .success)
    #expect(try world.record(running).state == .cancelled)
  }

  @Test("an id that is unknown, or of another store, is not found")
  func unknown() throws {
    let world = try World()
    for id in [RequestID(sequence: 77, origin: world.store.origin), RequestID(sequence: 77, origin: ~world.store.origin)] {
      let refusal = #expect(throws: RequestRefusal.self) { try world.cancel(id) }
      #expect(refusal?.code == .notFound)
    }
  }

  @Test("a cancelled request makes room under max_pending")
  func room() throws {
    let world = try World(SchedulingPolicy(maxPending: 2))
    let later = TaskRequest.sample(begin: .ms(60_000))
    let id = try world.submit(later).id
    try world.submit(later)
    #expect(throws: RequestRefusal.self) { try world.submit(later) }
    try world.cancel(id)
    try world.submit(later)
    #expect(throws: RequestRefusal.self) { try world.submit(later) }
  }
}
