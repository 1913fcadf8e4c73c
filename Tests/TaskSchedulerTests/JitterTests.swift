import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Jitter") struct JitterTests {
  private static let hour = Duration.seconds(3600)
  private static let other = TaskIdentifier.sample("org.example.other")
  private static let whole = Duration.zero ... .seconds(600)

  private static func hourly(_ jitter: Duration, key: String? = "k", missed: MissedPolicy = .latest) -> TaskRequest {
    var request = TaskRequest.sample(key: key, onConflict: key == nil ? .none : .keep)
    request.repetition = RepeatRule(.every(hour), missed: missed)
    request.jitter = jitter
    return request
  }

  /// How much later than its time a request with 10 minutes of jitter starts.
  private func offset(_ world: World, _ request: TaskRequest = hourly(.seconds(600))) throws -> Duration {
    let submission = try world.submit(request)
    return try world.record(submission.id).due - world.now
  }

  @Test("the share is the request's own: it stays with the key, and differs between keys, identifiers and hosts")
  func stable() throws {
    let world = try World(handlers: [.sample(), .sample(Self.other)])
    let first = try offset(world)
    #expect(Self.whole.contains(first))
    let id = try world.submit(Self.hourly(.seconds(600))).id
    try world.cancel(id)
    #expect(try offset(world) == first, "submitted again")
    var others = [try offset(world, Self.hourly(.seconds(600), key: "l")), try offset(World())]
    var other = Self.hourly(.seconds(600))
    other.identifier = Self.other
    others.append(try offset(world, other))
    #expect(!others.contains(first))
  }

  @Test("shares are spread over the whole jitter")
  func spread() throws {
    let world = try World()
    let offsets = try (0..<400).map { try offset(world, Self.hourly(.seconds(600), key: "key \($0)")) }
    for tenth in 0..<10 {
      let part = Duration.seconds(60) * tenth..<Duration.seconds(60) * (tenth + 1)
      let count = offsets.count { part.contains($0) }
      #expect((20...60).contains(count), "\(count) of 400 in tenth \(tenth)")
    }
    #expect(StableHash().share(of: 0) == 0)
    #expect(StableHash().share(of: .max) == 0, "no trap, and no share of more than there is")
  }

  @Test("each occurrence is late by the same share, and no time drifts, however long runs and retries take")
  func occurrences() throws {
    let world = try World()
    let start = world.now
    let retry = RetryPolicy(attempts: 3, backoff: .linear, initial: .seconds(1), maximum: .seconds(1))
    var request = Self.hourly(.seconds(600))
    request.retry = retry
    let id = try world.submit(request).id
    let offset = try world.record(id).due - start
    #expect(offset > .zero)
    for round in 0..<5 {
      let time = start + Self.hour * round + offset
      try world.advance(to: time + .milliseconds(-1))
      #expect(!world.isRunning(id))
      try world.advance(to: time)
      #expect(world.isRunning(id))
      world.now = world.now + .seconds(17)
      try world.finish(id, round == 2 ? .retry : .success)
      if round == 2 {
        try world.advance(.seconds(30))
        try world.finish(id, .success)
      }
      #expect(try world.record(id).due == start + Self.hour * (round + 1) + offset)
      #expect(try world.record(id).occurrence == start + Self.hour * (round + 1))
    }
  }

  @Test("the times of a cron expression are moved, not skipped, also by a jitter longer than their distance")
  func cron() throws {
    let world = try World()
    var request = TaskRequest.sample(key: "k", onConflict: .keep)
    request.repetition = RepeatRule(.cron(CronRule("*/10 * * * *", timeZone: "UTC")))
    request.jitter = Self.hour * 3
    let id = try world.submit(request).id
    let first = try #require(try world.record(id).occurrence)
    let offset = try world.record(id).due - first
    for round in 0..<6 {
      try world.advance(to: first + .seconds(600) * round + offset)
      try world.finish(id, .success)
      #expect(try world.record(id).occurrence == first + .seconds(600) * (round + 1))
    }
    #expect(try world.runs(id).count == 6)
  }

  @Test(
    "an occurrence whose jittered time comes after a downtime was not missed",
    arguments: [MissedPolicy.skip, .latest, .all(limit: 9, spread: .seconds(1))])
  func missed(_ policy: MissedPolicy) throws {
    let world = try World()
    let start = world.now
    let id = try world.submit(Self.hourly(.seconds(600), missed: policy)).id
    let offset = try world.record(id).due - start
    try world.advance(to: start + offset)
    try world.finish(id, .success)
    // The host is down at the schedule's time, and up again at the request's.
    world.now = start + Self.hour + offset + .milliseconds(-1)
    try world.restart()
    #expect(!world.isRunning(id))
    try world.advance(.milliseconds(1))
    #expect(world.isRunning(id))
    try world.finish(id, .success)
    #expect(try world.record(id).due == start + Self.hour * 2 + offset)
    world.now = start + Self.hour * 5 + offset + .seconds(1)
    try world.restart()
    #expect(world.isRunning(id) == (policy != .skip))
    #expect(try world.record(id).missedLeft == (policy == .skip || policy == .latest ? 0 : 3))
    if policy == .skip { #expect(try world.record(id).due == start + Self.hour * 6 + offset) }
  }

  @Test("one that runs once, or at events, is late by its share too; without jitter nothing changes")
  func once() throws {
    let world = try World(handlers: [.sample(runs: 9)])
    var request = TaskRequest.sample(begin: .ms(60_000), key: "once", onConflict: .keep)
    request.jitter = .seconds(600)
    let once = try world.submit(request)
    #expect(once.nextStart > .ms(60_000) && once.nextStart <= .ms(660_000))
    var waiting = TaskRequest(identifier: .sample(), repetition: RepeatRule(.event), event: EventTrigger("push"))
    waiting.jitter = .seconds(600)
    let id = try world.submit(waiting).id
    try world.notify("push")
    let due = try world.record(id).due
    #expect(due > world.now && due <= world.now + .seconds(600))
    try world.advance(to: due)
    #expect(world.isRunning(id))
    #expect(try world.submit(.sample(begin: .ms(999_000))).nextStart == .ms(999_000))
  }

  @Test("why says how much of the wait is jitter; an update of the jitter moves only the share")
  func explained() throws {
    let world = try World()
    let start = world.now
    let id = try world.submit(Self.hourly(.seconds(600))).id
    #expect(try world.gates(id).contains { $0.contains("later than its time because of its jitter") })
    let before = try world.record(id).due - start
    var request = Self.hourly(.seconds(60))
    request.onConflict = .update
    let update = try world.submit(request)
    #expect(update.notes.contains { $0.contains("takes: jitter_ms") }, "\(update.notes)")
    let after = try world.record(id).due - start
    #expect(after <= .seconds(60) && after < before)
    #expect(try world.record(id).occurrence == start)
  }

  @Test("a schedule of the configuration has it, and a change of it moves the next time")
  func schedules() throws {
    let world = try World()
    let start = world.now
    func restart(_ jitter: Duration) throws -> RequestRecord {
      try world.restart(schedules: [ScheduleName(.sample()): ScheduledRequest(RepeatRule(every: Self.hour), jitter: jitter)])
      return try #require(try world.store.requests(RequestQuery()).first)
    }
    let first = try restart(.seconds(600))
    #expect(first.due > start && first.due <= start + .seconds(600) && first.occurrence == start)
    let changed = try restart(.seconds(60))
    #expect(changed.id == first.id && changed.due <= start + .seconds(60) && changed.occurrence == start)
    #expect(try restart(.zero).started == start)
  }

  @Test("a forecast has the times with jitter")
  func forecast() throws {
    let world = try World()
    let id = try world.submit(Self.hourly(.seconds(600))).id
    let record = try world.record(id)
    let forecast = ForecastBasis(world.core, now: world.now).forecast(of: ForecastQueue([record]), to: world.now + Self.hour * 2, limit: 10)
    #expect(forecast.entries.map(\.at) == [record.due, record.due + Self.hour])
  }
}
