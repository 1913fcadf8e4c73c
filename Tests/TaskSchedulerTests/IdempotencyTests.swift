import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("An idempotency key") struct IdempotencyTests {
  private func keyed(_ key: String = "i", _ change: (inout TaskRequest) -> Void = { _ in }) -> TaskRequest {
    var request = TaskRequest.sample()
    request.idempotencyKey = key
    change(&request)
    return request
  }

  @Test("the same submission again is answered as the first was, and does nothing")
  func again() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let first = try world.submit(keyed { $0.earliestBegin = .ms(1000) })
    #expect(!first.isRepeated)
    let second = try world.submit(keyed { $0.earliestBegin = .ms(1000) })
    #expect(second.id == first.id && second.disposition == .created && second.isRepeated && second.nextStart == .ms(1000))
    try world.advance(.seconds(1))
    try world.finish(first.id, .success)
    try world.restart()
    let third = try world.submit(keyed { $0.earliestBegin = .ms(1000) })
    #expect(third.id == first.id && third.isRepeated && third.nextStart == .distantFuture)
    #expect(third.notes == ["this was submitted before; its request has succeeded"])
    #expect(world.begun == [first.id])
    #expect(try world.store.counts() == [.succeeded: 1])
  }

  @Test("the same key with other content is refused, naming the first request")
  func conflict() throws {
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 1))
    let first = try world.submit(keyed()).id
    for change in Self.changes {
      let refusal = #expect(throws: RequestRefusal.self) { try world.submit(keyed("i", change)) }
      #expect(refusal?.code == .conflict && refusal?.field == "idempotency_key")
      #expect(refusal?.message.contains("\(first)") == true)
    }
    #expect(try world.submit(keyed("other")).isRepeated == false)
  }

  @Test("it keeps its disposition: of a submission that was kept, the answer is kept")
  func kept() throws {
    let world = try World()
    let holder = try world.submit(.sample(begin: .ms(1000), key: "k", onConflict: .keep)).id
    let request = keyed {
      $0.uniqueKey = "k"
      $0.onConflict = .keep
    }
    #expect(try world.submit(request).disposition == .kept)
    try world.cancel(holder)
    let again = try world.submit(request)
    #expect(again.disposition == .kept && again.id == holder && again.isRepeated)
  }

  @Test("a refused submission is not remembered, nor one whose commit failed")
  func refused() throws {
    let world = try World()
    #expect(throws: RequestRefusal.self) { try world.submit(keyed { $0.priority = 11 }) }
    world.store.fail(with: .full("no space"))
    #expect(throws: StoreError.self) { try world.submit(keyed()) }
    world.store.fail(with: nil)
    #expect(try world.submit(keyed()).isRepeated == false)
  }

  @Test("within one submission of several: the whole is repeated, or the rest is added; a conflict refuses all")
  func arrays() throws {
    let world = try World(handlers: [.sample(runs: 8)])
    let chain = [keyed("a"), keyed("b") { $0.after = [Dependency(.position(0))] }]
    let first = try world.submit(chain)
    let second = try world.submit(chain + [keyed("c") { $0.after = [Dependency(.position(1))] }])
    #expect(second.prefix(2).map(\.id) == first.map(\.id))
    #expect(second.map(\.isRepeated) == [true, true, false])
    #expect(try world.record(second[2].id).blockedBy == first[1].id)
    let refusal = #expect(throws: RequestRefusal.self) { try world.submit([keyed("d"), keyed("a") { $0.priority = 1 }]) }
    #expect(refusal?.field == "[1].idempotency_key")
    #expect(try world.submit([keyed("d")])[0].isRepeated == false)
    // Twice in one submission.
    #expect(try world.submit([keyed("e"), keyed("e")]).map(\.isRepeated) == [false, true])
  }

  @Test("it is known while its request is on record, and forgotten with it")
  func pruning() throws {
    let world = try World()
    let pending = try world.submit(keyed("p") { $0.earliestBegin = .ms(10_000_000_000) }).id
    let ended = try world.submit(keyed("e")).id
    try world.finish(ended, .success)
    try world.advance(.seconds(60))
    while try world.store.commit({ try $0.prune(before: .ms(30_000), keeping: 10, limit: 10) }) {}
    #expect(try world.submit(keyed("p") { $0.earliestBegin = .ms(10_000_000_000) }).id == pending)
    #expect(try world.submit(keyed("e")).isRepeated == false)
  }

  @Test("a delay is not compared, since the time it leads to is another each time")
  func delays() throws {
    let world = try World()
    let request = keyed {
      $0.clock = .boot
      $0.earliestBegin = .ms(60_000)
    }
    let first = try world.submit(request).id
    var again = request
    again.earliestBegin = .ms(60_017)
    #expect(try world.submit(again).id == first)
  }

  @Test("a submission that is sent again in another trace is the same submission")
  func traces() throws {
    let world = try World()
    let trace = try #require(TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    let other = try #require(TraceParent("00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-01"))
    let first = try world.submit(keyed { $0.traceparent = trace }).id
    let again = keyed { $0.traceparent = other }
    #expect(try world.submit(again).id == first)
  }

  @Test("a key has a size, and no NUL", arguments: ["", String(repeating: "x", count: 257), "a\0b"])
  func size(_ key: String) throws {
    let world = try World()
    #expect(#expect(throws: RequestRefusal.self) { try world.submit(keyed(key)) }?.field == "idempotency_key")
  }

  // MARK: Whose it is

  private func submit(_ world: World, _ request: TaskRequest, by plugin: TaskIdentifier?) throws -> Submission {
    try world.turn { core, transaction in
      try core.submit(request, by: plugin.map(SchedulerCore.Submitter.plugin) ?? .user, transaction, now: world.now)
    }
  }

  @Test("a plugin's key meets neither a client's nor another plugin's")
  func submitters() throws {
    let world = try World()
    let submitters: [TaskIdentifier?] = [nil, .sample("org.example.a"), .sample("org.example.b")]
    let ids = try submitters.map { try submit(world, keyed { $0.earliestBegin = .ms(60_000) }, by: $0).id }
    #expect(Set(ids).count == 3)
    for (submitter, id) in zip(submitters, ids) {
      let again = try submit(world, keyed { $0.earliestBegin = .ms(60_000) }, by: submitter)
      #expect(again.id == id && again.isRepeated)
      #expect(throws: RequestRefusal.self) { try submit(world, keyed(), by: submitter) }
    }
  }

  @Test("a plugin has 10,000 keys on record, then it is refused, and clients and other plugins are not")
  func keyLimit() throws {
    let world = try World()
    let plugin = TaskIdentifier.sample("org.example.a")
    let known = KnownSubmission(fingerprint: 1, request: try world.submit().id, disposition: .created, submitted: world.now)
    try world.turn { core, transaction in
      for number in 1..<Limits.idempotencyKeys { try transaction.remember(known, key: "known \(number)", by: plugin) }
    }
    #expect(try submit(world, keyed("last"), by: plugin).isRepeated == false)
    let refusal = #expect(throws: RequestRefusal.self) { try submit(world, keyed("too many"), by: plugin) }
    #expect(refusal?.code == .limit && refusal?.field == "idempotency_key")
    #expect(refusal?.message.contains("org.example.a has 10000 idempotency keys on record, the most of a plugin") == true)
    #expect(try submit(world, keyed("last"), by: plugin).isRepeated)
    #expect(try submit(world, .sample(), by: plugin).isRepeated == false)
    #expect(try submit(world, keyed("too many"), by: .sample("org.example.b")).isRepeated == false)
    #expect(try submit(world, keyed("too many"), by: nil).isRepeated == false)
    try world.restart()
    #expect(throws: RequestRefusal.self) { try submit(world, keyed("too many"), by: plugin) }
  }

  @Test("a plugin opens no unique window when 10,000 are open; once one is over, it may")
  func windowLimit() throws {
    let world = try World()
    let plugin = TaskIdentifier.sample("org.example.a")
    func windowed(_ key: String) -> TaskRequest {
      var request = TaskRequest.sample(begin: .ms(3_600_000), key: key, onConflict: .keep)
      request.uniqueWindow = .seconds(3600)
      return request
    }
    let holder = try world.submit().id
    try world.turn { core, transaction in
      for number in 1..<Limits.uniqueWindows {
        try transaction.hold("known \(number)", identifier: .sample(), for: holder, until: world.now + .seconds(number))
      }
    }
    _ = try submit(world, windowed("last"), by: plugin)
    let refusal = #expect(throws: RequestRefusal.self) { try submit(world, windowed("too many"), by: plugin) }
    #expect(refusal?.code == .limit && refusal?.field == "unique_window_ms")
    #expect(refusal?.message.hasPrefix("10000 unique keys of org.example.task are held for a unique_window") == true)
    _ = try submit(world, windowed("a client's"), by: nil)
    try world.advance(.seconds(10))
    _ = try submit(world, windowed("too many"), by: plugin)
  }

  // MARK: Fingerprints

  /// A change of each field that a submission has.
  private static let changes: [@Sendable (inout TaskRequest) -> Void] = [
    { $0.identifier = .sample("org.example.other") }, { $0.payload = [0] }, { $0.earliestBegin = .ms(0) }, { $0.clock = .boot },
    { $0.priority = -1 }, { $0.uniqueKey = "" }, { $0.onConflict = .keep }, { $0.uniqueWindow = .zero }, { $0.deadline = .ms(0) },
    { $0.gates.conditions = .idle }, { $0.gates.onLostCondition = .finish }, { $0.gates.window = "" }, { $0.gates.concurrencyKey = "" },
    { $0.gates.resources = ["a": 1] }, { $0.gates.resources = ["a": 2] }, { $0.gates.resources = ["b": 1] },
    { $0.gates.flex = .seconds(1) }, { $0.gates.wakes = true }, { $0.gates.prefer = "" },
    { $0.retry = RetryPolicy() }, { $0.retry = RetryPolicy(attempts: 1) }, { $0.retry = RetryPolicy(backoff: .linear) },
    { $0.retry = RetryPolicy(initial: .zero) }, { $0.retry = RetryPolicy(maximum: .zero) },
    { $0.repetition = RepeatRule(.event) }, { $0.repetition = RepeatRule(every: .seconds(900)) },
    { $0.repetition = RepeatRule(.every(.seconds(900)), missed: .skip) },
    { $0.repetition = RepeatRule(.every(.seconds(900)), missed: .all(limit: 1, spread: .zero)) },
    { $0.repetition = RepeatRule(.every(.seconds(900)), missed: .all(limit: 2, spread: .zero)) },
    { $0.repetition = RepeatRule(.every(.seconds(900)), missed: .all(limit: 1, spread: .seconds(1))) },
    { $0.repetition = RepeatRule(.cron(CronRule("* * * * *", timeZone: "UTC"))) },
    { $0.repetition = RepeatRule(.cron(CronRule("* * * * *", timeZone: "Europe/Berlin"))) },
    { $0.event = EventTrigger("e") }, { $0.event = EventTrigger("e", debounce: .seconds(1)) }, { $0.tags = ["a"] },
    { $0.tags = ["a", ""] }, { $0.isPaced = true }, { $0.delay = .zero }, { $0.delay = .seconds(1) },
    { $0.jitter = .seconds(1) }, { $0.jitter = .seconds(2) },
    { $0.after = [Dependency(.position(0))] }, { $0.after = [Dependency(.position(0), onFailure: .ignore)] },
    { $0.after = [Dependency(.request(RequestID(sequence: 0, origin: 0)))] },
  ]

  @Test("every field counts, alone and with all others, and no two give the same")
  func fields() {
    var fingerprints: Set<UInt64> = [RequestFingerprint(of: keyed()).value]
    for change in Self.changes { fingerprints.insert(RequestFingerprint(of: keyed("i", change)).value) }
    #expect(fingerprints.count == Self.changes.count + 1)
    #expect(RequestFingerprint(of: keyed("j")).value == RequestFingerprint(of: keyed("i")).value)
    // Whoever adds a field decides whether it counts, and says so here.
    // A trace does not count. A wish about lost conditions is in the gates as well. The payload names the tenant. Nobody submits whether a
    // deadline has passed, whether a pause holds the request, where it ran last, who owns it, whether its end is told, or whether a host has
    // checked it.
    #expect(Mirror(reflecting: TaskRequest.sample()).children.count == 24)
    #expect(Mirror(reflecting: RunConstraints.none).children.count == 13)
  }

  @Test("it is the same for ever, since it is stored: FNV-1a of the fields with their numbers and lengths")
  func stable() {
    // 01 10000000 "org.example.task" 02 00000000 04 04000000 "wall" 05 08000000 0 07 04000000 "none" 0a 08000000 0 0b 04000000 "stop"
    // 10 08000000 0
    #expect(RequestFingerprint(of: TaskRequest(identifier: .sample())).value == 10_430_766_912_302_383_886)
  }
}
