import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A unique key: update") struct UpdateTests {
  private func keyed(_ change: (inout TaskRequest) -> Void = { _ in }) -> TaskRequest {
    var request = TaskRequest.sample(key: "k", onConflict: .update)
    change(&request)
    return request
  }

  @Test("a pending holder keeps its id and takes all fields; the notes name them")
  func pending() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let first = try world.submit(keyed { $0.earliestBegin = .ms(60_000) }).id
    let update = keyed {
      $0.earliestBegin = .ms(30_000)
      $0.payload = [1]
      $0.priority = 5
      $0.tags = ["x"]
      $0.deadline = .ms(90_000)
      $0.retry = RetryPolicy(attempts: 2)
      $0.gates.concurrencyKey = "c"
    }
    let second = try world.submit(update)
    #expect(second.id == first && second.disposition == .updated && second.nextStart == .ms(30_000))
    #expect(second.effective?.deadline == .ms(90_000))
    #expect(
      second.notes == ["the holder of the key takes: earliest_begin, deadline, concurrency_key, priority, retry, tags, payload"])
    let record = try world.record(first)
    #expect(record.request.payload == [1] && record.request.priority == 5 && record.request.tags == ["x"])
    #expect(record.submitted == .testStart)
    #expect(try world.submit(update).notes == ["the holder of the key already has these fields"])
    try world.advance(to: .ms(29_999))
    #expect(world.begun.isEmpty)
    try world.advance(to: .ms(30_000))
    #expect(try #require(world.orders[first]).payload == [1])
    #expect(try world.store.counts() == [.running: 1])
  }

  @Test("one that is due later, and in other lanes, is not started by what was remembered of it; one that is due earlier is")
  func lanes() throws {
    let world = try World()
    let id = try world.submit(keyed { $0.earliestBegin = .ms(10_000) }).id
    try world.submit(
      keyed {
        $0.earliestBegin = .ms(20_000)
        $0.gates.flex = .seconds(5)
      })
    try world.advance(to: .ms(15_000))
    #expect(world.begun.isEmpty)
    try world.submit(keyed())
    #expect(world.begun == [id])
  }

  @Test("a running holder goes on as it was; its next attempt has the new fields")
  func running() throws {
    let world = try World()
    let id = try world.submit(keyed { $0.payload = [1] }).id
    let second = try world.submit(
      keyed {
        $0.payload = [2]
        $0.retry = RetryPolicy(attempts: 2, initial: .seconds(10))
      })
    #expect(second.id == id && second.disposition == .updated)
    #expect(second.notes.last?.contains("this applies only if it is retried: if that run succeeds, no other follows") == true)
    #expect(world.expirations.isEmpty && world.begun == [id])
    try world.finish(id, .retry)
    try world.advance(.seconds(13))
    #expect(try #require(world.orders[id]).payload == [2])
    try world.finish(id, .retry)
    #expect(try world.record(id).state == .failed)
  }

  @Test("a running holder that is made to repeat comes again, also if the first commit of that failed")
  func runningRepeats() throws {
    let world = try World()
    let id = try world.submit(keyed()).id
    let repeating = keyed { $0.repetition = RepeatRule(every: .seconds(900)) }
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try world.submit(repeating) }
    world.store.fail(with: nil)
    #expect(try world.record(id).request.repetition == nil)
    let notes = try world.submit(repeating).notes
    #expect(notes.last == "it is running: its current run continues unchanged, and this applies to its later runs")
    try world.finish(id, .success)
    #expect(try world.record(id).state == .pending)
    #expect(try world.record(id).due == .ms(900_000))
    try world.submit(keyed())
    #expect(world.begun == [id, id])
    try world.finish(id, .success)
    #expect(try world.record(id).state == .succeeded)
  }

  @Test("an update that failed to be committed leaves one that ends as it was")
  func runningUndone() throws {
    let world = try World()
    let id = try world.submit(keyed()).id
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try world.submit(keyed { $0.repetition = RepeatRule(every: .seconds(900)) }) }
    world.store.fail(with: nil)
    try world.finish(id, .success)
    #expect(try world.record(id).state == .succeeded)
  }

  @Test("a repeating holder whose rule stays keeps its times; with another interval the next one comes after that at the latest")
  func repeating() throws {
    let world = try World()
    let id = try world.submit(keyed { $0.repetition = RepeatRule(every: .seconds(3600)) }).id
    try world.finish(id, .success)
    try world.advance(.seconds(60))
    let same = try world.submit(
      keyed {
        $0.repetition = RepeatRule(every: .seconds(3600))
        $0.payload = [7]
      })
    #expect(same.nextStart == .ms(3_600_000) && same.notes == ["the holder of the key takes: payload"])
    let faster = try world.submit(keyed { $0.repetition = RepeatRule(every: .seconds(900)) })
    #expect(faster.nextStart == .ms(960_000))
    let slower = try world.submit(keyed { $0.repetition = RepeatRule(every: .seconds(7200)) })
    #expect(slower.nextStart == .ms(960_000))
    let begun = try world.submit(
      keyed {
        $0.repetition = RepeatRule(every: .seconds(7200))
        $0.earliestBegin = .ms(500_000)
      })
    #expect(begun.nextStart == .ms(500_000))
    try world.advance(to: .ms(500_000))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(7_700_000))
    let cron = try world.submit(keyed { $0.repetition = RepeatRule(.cron(CronRule("30 * * * *", timeZone: "UTC"))) })
    #expect(cron.nextStart == .ms(1_800_000) && cron.effective?.clock == .wall)
  }

  @Test("an update during a backoff does not end it")
  func backoff() throws {
    let world = try World()
    let id = try world.submit(keyed()).id
    try world.finish(id, .retry)
    let due = try world.record(id).due
    let update = try world.submit(keyed { $0.payload = [1] })
    #expect(update.nextStart == due)
    #expect(update.notes.first?.hasPrefix("it is in its backoff after attempt 1") == true)
    #expect(try world.submit(keyed { $0.earliestBegin = .ms(900_000) }).nextStart == .ms(900_000))
  }

  @Test("a holder that waits for others keeps its place, and its new payload is merged when they have ended")
  func blocked() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let first = try world.submit().id
    let id = try world.submit(keyed { $0.after = [Dependency(.request(first))] }).id
    let update = try world.submit(keyed { $0.payload = Array(#"{"b":2}"#.utf8) })
    #expect(update.id == id && update.nextStart == .distantFuture)
    var report = RunReport()
    report.output = Array(#"{"a":1}"#.utf8)
    try world.end(first, .returned(.success, stop: nil), report)
    #expect(try #require(world.orders[id]).payload == Array(#"{"a":1,"b":2}"#.utf8))
    try world.finish(id, .snooze)
    // What it waited for still counts.
    try world.submit(keyed { $0.payload = Array(#"{"c":3}"#.utf8) })
    try world.advance(.seconds(1))
    #expect(try #require(world.orders[id]).payload == Array(#"{"a":1,"c":3}"#.utf8))
  }

  @Test("an update that names what to wait for, or would never let others begin, is refused")
  func refused() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let other = try world.submit().id
    let holder = try world.submit(keyed { $0.earliestBegin = .ms(1000) }).id
    #expect(#expect(throws: RequestRefusal.self) { try world.submit(keyed { $0.after = [Dependency(.request(other))] }) }?.field == "after")
    let dependant = try world.submit(.sample(after: [holder])).id
    let repeating = keyed { $0.repetition = RepeatRule(every: .seconds(900)) }
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit(repeating) }
    #expect(refusal?.message.hasPrefix("\(dependant) waits for the holder of the key") == true)
    try world.cancel(dependant)
    #expect(try world.submit(repeating).disposition == .updated)
  }

  @Test("a holder that is being cancelled is not updated: a new request starts after its run", arguments: [ConflictPolicy.update, .append])
  func cancelled(_ policy: ConflictPolicy) throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let first = try world.submit(.sample(key: "k", onConflict: policy)).id
    try world.cancel(first)
    let second = try world.submit(.sample(key: "k", onConflict: policy))
    #expect(second.disposition == .replaced && second.id != first)
    #expect(second.notes == ["the holder of the key, \(first), is being cancelled: this is a new request, which starts after its run"])
    #expect(!world.isRunning(second.id))
    try world.finish(first, .retry, stop: .cancelled)
    #expect(world.isRunning(second.id))
  }

  @Test("without a holder it is a new request")
  func created() throws {
    let world = try World()
    #expect(try world.submit(keyed()).disposition == .created)
  }

  @Test("an update outlasts a restart")
  func restart() throws {
    let world = try World()
    let id = try world.submit(keyed { $0.earliestBegin = .ms(60_000) }).id
    try world.submit(
      keyed {
        $0.payload = [3]; $0.earliestBegin = .ms(30_000)
      })
    try world.restart()
    try world.advance(to: .ms(30_000))
    #expect(try #require(world.orders[id]).payload == [3])
  }

  @Test("an update to wait for an event, and back to a time")
  func event() throws {
    let world = try World()
    let id = try world.submit(keyed { $0.earliestBegin = .ms(60_000) }).id
    #expect(try world.submit(keyed { $0.event = EventTrigger("e") }).nextStart == .distantFuture)
    try world.advance(to: .ms(60_000))
    #expect(world.begun.isEmpty)
    try world.submit(keyed())
    #expect(world.begun == [id])
  }
}
