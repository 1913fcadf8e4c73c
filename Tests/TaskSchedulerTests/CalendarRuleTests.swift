import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A request that repeats by the calendar") struct CalendarRuleTests {
  private func cron(_ expression: String, _ zone: String = "UTC", _ daylight: DaylightPolicy = DaylightPolicy()) -> TaskRequest {
    TaskRequest(identifier: .sample(), repetition: RepeatRule(.cron(CronRule(expression, timeZone: zone, daylight: daylight))))
  }

  @Test("first runs at its first time, and the answer says when that is")
  func first() throws {
    let world = try World()
    let submission = try world.submit(cron("30 8 * * *"))
    #expect(submission.nextStart == .utc("2026-01-01T08:30:00Z"))
    #expect(submission.effective?.nextStart == submission.nextStart)
    #expect(submission.effective?.clock == .wall)
    #expect(world.begun.isEmpty)
    try world.advance(to: submission.nextStart)
    #expect(world.begun == [submission.id])
  }

  @Test("a time that is now counts")
  func now() throws {
    let world = try World()
    #expect(try world.submit(cron("0 0 * * *")).nextStart == world.now)
  }

  @Test("runs of every length stay on its times, which follow the clocks of the place over a change")
  func daylight() throws {
    let world = try World()
    world.now = .utc("2026-03-28T00:00:00Z")
    let id = try world.submit(cron("30 2 * * *", "Europe/Berlin")).id
    var starts: [WallTime] = []
    for _ in 0..<3 {
      try world.advance(to: try world.record(id).due)
      starts.append(world.now)
      world.now = world.now + .seconds(7200)
      try world.finish(id, .success)
    }
    // On the 29th 02:30 is skipped and shifts to 03:30, which is 01:30 UTC.
    #expect(starts == [.utc("2026-03-28T01:30:00Z"), .utc("2026-03-29T01:30:00Z"), .utc("2026-03-30T00:30:00Z")])
  }

  @Test("a retry does not outlast its occurrence, and a run past the next time passes that over")
  func retries() throws {
    let world = try World()
    let id = try world.submit(cron("0 * * * *")).id
    try world.finish(id, .retry, retryAfter: .seconds(86_400))
    #expect(try world.record(id).due == .utc("2026-01-01T01:00:00Z"))
    try world.advance(to: .utc("2026-01-01T01:00:00Z"))
    #expect(world.orders[id]?.attempt == 1)
    world.now = .utc("2026-01-01T04:10:00Z")
    try world.finish(id, .success)
    #expect(try world.record(id).due == .utc("2026-01-01T05:00:00Z"))
  }

  @Test("survives a restart with everything it says")
  func restart() throws {
    let world = try World()
    let request = cron("15 3 * * 1-5", "Pacific/Apia", DaylightPolicy(gap: .skip, repeated: .both))
    let id = try world.submit(request).id
    try world.restart()
    #expect(try world.record(id).request.repetition == request.repetition)
  }

  private static let wrong = [
    ("61 * * * *", "UTC", "cron"), ("* * *", "UTC", "cron"), ("0 0 31 2 *", "UTC", "cron"), ("0 0 * * *", "Europe/Berlim", "time_zone"),
    ("0 0 * * *", "../etc/passwd", "time_zone"),
  ]

  @Test("an expression or a zone that says nothing is refused, naming the field", arguments: wrong)
  func refused(_ expression: String, _ zone: String, _ field: String) throws {
    let world = try World()
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit(cron(expression, zone)) }
    #expect(refusal?.field == field)
    #expect(try world.store.counts().isEmpty)
  }

  @Test("when the calendar is set back, a time that comes again runs again; set forward, what it passed runs once")
  func calendarSet() throws {
    let world = try World()
    try world.tellClocks(boot: "first", offset: 0)
    let id = try world.submit(cron("0 12 * * *")).id
    try world.advance(to: .utc("2026-01-01T12:00:00Z"))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .utc("2026-01-02T12:00:00Z"))
    try world.moveCalendar(.seconds(-7200))
    #expect(try world.record(id).due == .utc("2026-01-01T12:00:00Z"))
    try world.moveCalendar(.seconds(5 * 86_400))
    #expect(world.begun == [id, id])
    try world.finish(id, .success)
    #expect(try world.record(id).due == .utc("2026-01-06T12:00:00Z"))
  }

  @Test("what begins in a month does so, also if the calendar is set back")
  func begin() throws {
    let world = try World()
    try world.tellClocks(boot: "first", offset: 0)
    var request = cron("0 * * * *")
    request.earliestBegin = .utc("2026-02-01T00:00:00Z")
    let id = try world.submit(request).id
    try world.moveCalendar(.seconds(-7200))
    #expect(try world.record(id).due == .utc("2026-02-01T00:00:00Z"))
  }
}

@Suite("Waiting requests when the clock is set back") struct SetBackTests {
  private func world(_ start: String, handlers: [HandlerContract] = [.sample(runs: 4)]) throws -> World {
    let world = try World(handlers: handlers)
    world.now = .utc(start)
    try world.tellClocks(boot: "first", offset: 0)
    return world
  }

  private let hourly = TaskRequest(identifier: .sample(), repetition: RepeatRule(.cron(CronRule("0 * * * *", timeZone: "UTC"))))

  @Test("after a run that goes on meanwhile comes the next one by the new time")
  func running() throws {
    let world = try world("2026-01-01T12:00:00Z")
    let id = try world.submit(hourly).id
    world.now = .utc("2026-01-01T12:05:00Z")
    try world.moveCalendar(.seconds(-10_800))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .utc("2026-01-01T10:00:00Z"))
  }

  @Test("a backoff lasts as long as it would have")
  func backoff() throws {
    let world = try world("2026-01-01T12:00:00Z")
    let id = try world.submit(hourly).id
    try world.finish(id, .retry, retryAfter: .seconds(1800))
    world.now = .utc("2026-01-01T12:10:00Z")
    try world.moveCalendar(.seconds(-10_800))
    #expect(try world.record(id).due == .utc("2026-01-01T09:30:00Z"))
    try world.advance(to: .utc("2026-01-01T09:30:00Z"))
    #expect(world.orders[id]?.attempt == 2)
    try world.finish(id, .success)
    #expect(try world.record(id).due == .utc("2026-01-01T10:00:00Z"))
  }

  @Test("an interval that began at a time goes on at the times between, and not before it began")
  func interval() throws {
    let world = try world("2026-01-01T12:00:00Z")
    var request = TaskRequest.sample(begin: .utc("2026-01-01T12:30:00Z"), every: .seconds(3600))
    let id = try world.submit(request).id
    try world.advance(to: .utc("2026-01-01T15:30:00Z"))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .utc("2026-01-01T16:30:00Z"))
    request.earliestBegin = .utc("2026-01-02T00:30:00Z")
    let later = try world.submit(request).id
    try world.moveCalendar(.seconds(-7000))
    #expect(try world.record(id).due == .utc("2026-01-01T14:30:00Z"))
    try world.moveCalendar(.seconds(-86_400))
    #expect(try world.record(id).due == .utc("2026-01-01T12:30:00Z"))
    #expect(try world.record(later).due == .utc("2026-01-02T00:30:00Z"))
    try world.moveCalendar(.seconds(86_400))
    #expect(world.begun.count == 2)
  }

  @Test("an occurrence that somebody has postponed waits as long as before, and not before its own time")
  func postponed() throws {
    let world = try world("2026-01-01T12:00:00Z")
    var request = hourly
    request.repetition = RepeatRule(.cron(CronRule("0 13 * * *", timeZone: "UTC")))
    let id = try world.submit(request).id
    _ = try world.turn { core, transaction in
      try core.snooze(id, until: .utc("2026-01-01T15:00:00Z"), transaction, now: world.now)
    }
    try world.moveCalendar(.seconds(-60))
    #expect(try world.record(id).due == .utc("2026-01-01T14:59:00Z"))
    #expect(try world.record(id).occurrence == .utc("2026-01-01T13:00:00Z"))
    try world.moveCalendar(.seconds(-7200))
    #expect(try world.record(id).due == .utc("2026-01-01T13:00:00Z"))
  }

  @Test("missed occurrences that are caught up are not lost, and keep their distance")
  func caughtUp() throws {
    let world = try world("2026-01-01T08:30:00Z", handlers: [.sample(runs: 1)])
    var request = hourly
    request.repetition?.missed = .all(limit: 10, spread: .seconds(60))
    let id = try world.submit(request).id
    world.now = .utc("2026-01-01T12:30:00Z")
    try world.restart(handlers: [.sample(runs: 1)])
    try world.turn()
    #expect(world.isRunning(id))
    try world.finish(id, .success)
    let before = try world.record(id)
    #expect(before.occurrence == .utc("2026-01-01T10:00:00Z") && before.due == world.now + .seconds(60))
    try world.moveCalendar(.seconds(-10))
    let after = try world.record(id)
    #expect(after.occurrence == before.occurrence && after.due == before.due + .seconds(-10) && after.missedLeft == before.missedLeft)
  }

  @Test("one that an operator has begun before its time keeps its time")
  func early() throws {
    let world = try world("2026-01-01T12:00:00Z")
    var request = hourly
    request.earliestBegin = .utc("2026-02-01T00:00:00Z")
    let id = try world.submit(request).id
    _ = try world.turn { core, transaction in try core.simulateLaunch(.sample(), transaction, now: world.now) }
    #expect(world.isRunning(id))
    try world.moveCalendar(.seconds(-60))
    try world.finish(id, .success)
    #expect(try world.record(id).due >= .utc("2026-02-01T00:00:00Z"))
  }

  @Test("what has no time of its own is due as before, whether it waits for a slot, for a backoff, or because somebody postponed it")
  func once() throws {
    let world = try world("2026-01-01T12:00:00Z", handlers: [.sample(runs: 1)])
    let first = try world.submit().id
    let waiting = try world.submit().id
    let snoozed = try world.submit().id
    _ = try world.turn { core, transaction in
      try core.snooze(snoozed, until: world.now + .seconds(600), transaction, now: world.now)
    }
    try world.moveCalendar(.seconds(-10_800))
    try world.finish(first, .retry, retryAfter: .seconds(300))
    #expect(world.isRunning(waiting))
    try world.moveCalendar(.seconds(-86_400))
    try world.finish(waiting, .success)
    try world.advance(.seconds(300))
    #expect(world.orders[first]?.attempt == 2)
    try world.finish(first, .success)
    try world.advance(.seconds(300))
    #expect(world.isRunning(snoozed))
  }
}

@Suite("Occurrences that were missed") struct MissedTests {
  private func hourly(_ missed: MissedPolicy) -> TaskRequest {
    TaskRequest(identifier: .sample(), repetition: RepeatRule(.cron(CronRule("0 * * * *", timeZone: "UTC")), missed: missed))
  }

  /// The host is down from a minute after the first occurrence until half past five.
  private func downtime(_ world: World, _ request: TaskRequest) throws -> RequestID {
    let id = try world.submit(request).id
    try world.finish(id, .success)
    world.now = .utc("2026-01-01T05:30:00Z")
    try world.restart()
    try world.turn()
    return id
  }

  @Test("latest: one run stands for all, and is that of the latest")
  func latest() throws {
    let world = try World()
    let id = try downtime(world, hourly(.latest))
    #expect(world.isRunning(id))
    #expect(try world.record(id).occurrence == .utc("2026-01-01T05:00:00Z"))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .utc("2026-01-01T06:00:00Z"))
  }

  @Test("skip: none runs")
  func skip() throws {
    let world = try World()
    let id = try downtime(world, hourly(.skip))
    #expect(!world.isRunning(id))
    #expect(try world.record(id).due == .utc("2026-01-01T06:00:00Z"))
    try world.advance(to: .utc("2026-01-01T06:00:00Z"))
    #expect(world.isRunning(id))
  }

  @Test("all: each runs, the latest so many, one every so often, in their order")
  func all() throws {
    let world = try World()
    let id = try downtime(world, hourly(.all(limit: 3, spread: .seconds(60))))
    var occurrences: [WallTime?] = []
    var starts: [WallTime] = []
    for _ in 0..<3 {
      #expect(world.isRunning(id))
      occurrences.append(try world.record(id).occurrence)
      starts.append(world.now)
      try world.finish(id, .success)
      try world.advance(.seconds(59))
      #expect(!world.isRunning(id))
      try world.advance(.seconds(1))
    }
    #expect(occurrences == [.utc("2026-01-01T03:00:00Z"), .utc("2026-01-01T04:00:00Z"), .utc("2026-01-01T05:00:00Z")])
    #expect(starts[1] - starts[0] == .seconds(60))
    #expect(!world.isRunning(id))
    #expect(try world.record(id).due == .utc("2026-01-01T06:00:00Z"))
  }

  @Test("all: those of a short interval are caught up with, and then it goes on as before: none is left out")
  func shortInterval() throws {
    let world = try World(SchedulingPolicy(minimumInterval: .seconds(1)))
    let submission = try world.submit(
      TaskRequest(identifier: .sample(), repetition: RepeatRule(.every(.seconds(2)), missed: .all(limit: 10, spread: .seconds(60)))))
    let id = submission.id
    #expect(submission.notes.contains { $0.contains("missed_spread_ms was lowered to half the interval, 1000 ms") })
    let start = world.now
    try world.finish(id, .success)
    world.now = start + .seconds(21)
    try world.restart()
    try world.turn()
    var occurrences: [WallTime] = []
    while world.now < start + .seconds(66) {
      if world.isRunning(id) {
        occurrences.append(try #require(try world.record(id).occurrence))
        try world.finish(id, .success)
      } else {
        try world.advance(.milliseconds(100))
      }
    }
    // 2 s, 4 s, … 20 s were missed; 22 s and the others fell due later.
    #expect(occurrences == (1...32).map { start + .seconds($0 * 2) })
  }

  @Test("all: a downtime while it catches up adds to what was missed, within the limit")
  func missedAgain() throws {
    let world = try World()
    let id = try downtime(world, hourly(.all(limit: 3, spread: .seconds(60))))
    try world.finish(id, .success)
    world.now = .utc("2026-01-01T09:30:00Z")
    try world.restart()
    try world.turn()
    var occurrences: [WallTime?] = []
    for _ in 0..<3 {
      occurrences.append(try world.record(id).occurrence)
      try world.finish(id, .success)
      try world.advance(.seconds(60))
    }
    #expect(occurrences == [.utc("2026-01-01T07:00:00Z"), .utc("2026-01-01T08:00:00Z"), .utc("2026-01-01T09:00:00Z")])
    #expect(!world.isRunning(id))
  }

  @Test("all: a retry of a missed occurrence is still of that occurrence")
  func retryOfMissed() throws {
    let world = try World()
    let id = try downtime(world, hourly(.all(limit: 2, spread: .seconds(60))))
    try world.finish(id, .retry, retryAfter: .seconds(5))
    try world.advance(.seconds(5))
    #expect(world.orders[id]?.attempt == 2)
    #expect(try world.record(id).occurrence == .utc("2026-01-01T04:00:00Z"))
    try world.finish(id, .success)
    try world.advance(.seconds(60))
    #expect(try world.record(id).occurrence == .utc("2026-01-01T05:00:00Z"))
  }

  @Test("an occurrence that had begun when the host was stopped was not missed")
  func interrupted() throws {
    let world = try World()
    let id = try world.submit(hourly(.skip)).id
    #expect(world.isRunning(id))
    world.now = .utc("2026-01-01T00:05:00Z")
    try world.restart()
    try world.turn()
    #expect(world.isRunning(id))
    #expect(try world.record(id).occurrence == .utc("2026-01-01T00:00:00Z"))
  }

  @Test("an occurrence that is late because the plugin was busy is not missed, also if the clock is set meanwhile")
  func late() throws {
    let world = try World()
    try world.tellClocks(boot: "first", offset: 0)
    let id = try world.submit(hourly(.skip)).id
    world.now = .utc("2026-01-01T01:20:00Z")
    try world.finish(id, .success)
    let blocker = try world.submit().id
    #expect(world.isRunning(blocker))
    world.now = .utc("2026-01-01T02:30:00Z")
    try world.moveCalendar(.milliseconds(200))
    try world.finish(blocker, .success)
    #expect(world.isRunning(id))
  }
}
