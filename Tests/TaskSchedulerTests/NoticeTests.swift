import StoreTestSupport
import StrictText
import TaskModel
import Testing

@testable import TaskScheduler

/// Incidents become requests of the rule's target, in the commit in which they happen.
@Suite("Notifications") struct NoticeTests {
  private static let target = TaskIdentifier.sample("org.example.alert")
  private static let handlers = [HandlerContract.sample(runs: 1000), HandlerContract.sample(target)]

  private func policy(
    _ kinds: Set<Incident.Kind> = [.failed, .recovered, .overdue, .quarantined], perHour: Int = 20,
    _ change: (inout NoticeRule) -> Void = { _ in }
  ) -> SchedulingPolicy {
    var policy = SchedulingPolicy(maxConcurrentRuns: 2000, maxPending: 20_000, retry: RetryPolicy(attempts: 1))
    var rule = NoticeRule("ops", target: Self.target, kinds: kinds, perHour: perHour)
    change(&rule)
    policy.notices = NoticePolicy(host: "web1", rules: [rule])
    return policy
  }

  private func world(_ policy: SchedulingPolicy) throws -> World { try World(policy, handlers: Self.handlers) }

  private func restart(_ world: World) throws { try world.restart(handlers: Self.handlers) }

  /// The notifications, oldest first.
  private func notices(_ world: World) throws -> [(record: RequestRecord, document: JSONNode)] {
    var query = RequestQuery()
    (query.identifier, query.limit) = (Self.target, 1000)
    return try world.store.requests(query).reversed().map { record in
      let payload = try #require(try world.store.request(record.id)).request.payload
      return (record, try JSONReader.read(payload))
    }
  }

  private func fail(_ world: World, _ request: TaskRequest = .sample()) throws {
    try world.finish(try world.submit(request).id, .failure)
  }

  @Test("a request that fails for good is told of at once, with who, what and when")
  func failed() throws {
    let world = try world(policy())
    let id = try world.submit(.sample(key: "night", onConflict: .keep)).id
    var report = RunReport()
    report.message = "no space\nleft"
    try world.end(id, .returned(.failure, stop: nil), report)
    let notice = try #require(try notices(world).first)
    #expect(world.isRunning(notice.record.id), "it has a run already")
    #expect(notice.record.request.tags == ["notify:ops"])
    let document = notice.document
    #expect(document["event"]?.string == "failed" && document["host"]?.string == "web1" && document["rule"]?.string == "ops")
    #expect(document["title"]?.string == "\(TaskIdentifier.sample())/night")
    #expect(document["text"]?.string == "failed for good: no space\\nleft")
    #expect(document["request"]?.string == "\(id)" && document["outcome"]?.string == "failed" && document["count"]?.integer == 1)
    #expect(document["notices"]?.array?.count == 1 && document["omitted"]?.integer == 0)
  }

  @Test("an attempt that is retried, a success and a cancellation are told to nobody")
  func quiet() throws {
    let world = try world(policy())
    let retried = try world.submit(.sample(retry: RetryPolicy(attempts: 2))).id
    try world.finish(retried, .retry)
    try world.finish(try world.submit().id, .success)
    try world.cancel(try world.submit(.sample(begin: .ms(9_000_000))).id)
    #expect(try notices(world).isEmpty)
  }

  @Test("what happens within the window of a notification is told by one more at its end")
  func grouped() throws {
    let world = try world(policy())
    for _ in 0..<4 { try fail(world) }
    var told = try notices(world)
    #expect(told.count == 2 && told[1].record.due == .testStart + .seconds(30))
    #expect(told[1].document["count"]?.integer == 3 && told[1].document["title"]?.string == "3 failed")
    #expect(told[1].document["text"]?.string?.split(separator: "\n").count == 3)
    try world.finish(told[0].record.id, .success)
    try world.advance(.seconds(30))
    #expect(world.isRunning(told[1].record.id))
    // It may be on its way: what follows is told by another one.
    try fail(world)
    told = try notices(world)
    #expect(told.count == 3 && told[2].record.due == .testStart + .seconds(60) && told[1].document["count"]?.integer == 3)
  }

  @Test("10,000 dead letters in one commit are one notification, which fits a payload")
  func burst() throws {
    let world = try world(policy())
    let first = try world.submit(.sample(begin: .ms(1000))).id
    for part in 0..<10 {
      _ = try world.submit((0..<1000).map { .sample(.sample(), after: [.request(first)], key: "\(part)-\($0)") })
    }
    try world.advance(.seconds(1))
    try world.finish(first, .failure)
    let told = try notices(world)
    #expect(told.count == 1)
    #expect(told[0].document["count"]?.integer == 10_001 && told[0].document["omitted"]?.integer == 10_001 - 20)
    #expect(told[0].document["text"]?.string?.hasSuffix("and 9991 more") == true)
  }

  @Test("the longest words of twenty incidents fit a payload")
  func longWords() throws {
    let world = try world(policy())
    let identifier = TaskIdentifier.sample()
    for number in 0..<25 {
      let key = String(repeating: "\u{1}", count: 250) + "\(number)"
      let id = try world.submit(.sample(identifier, key: key, onConflict: .keep)).id
      var report = RunReport()
      report.message = String(repeating: "\u{1B}\"", count: 4000)
      try world.end(id, .returned(.failure, stop: nil), report)
    }
    let told = try notices(world)
    #expect(told.count == 2 && told[1].document["count"]?.integer == 24)
  }

  @Test("no more than per_hour begin in an hour; the rest is told together once the hour allows it")
  func perHour() throws {
    let world = try world(policy(perHour: 3))
    for minute in 0..<30 {
      try fail(world)
      for (record, _) in try notices(world) where world.isRunning(record.id) { try world.finish(record.id, .success) }
      if minute < 29 { try world.advance(.seconds(60)) }
    }
    let told = try notices(world)
    #expect(told.count == 4)
    #expect(told[3].record.due == .testStart + .seconds(3600))
    #expect(told.map { $0.document["count"]?.integer ?? 0 }.reduce(0, +) == 30)
  }

  @Test("a restart keeps what waits, the window and the hour")
  func restarts() throws {
    let world = try world(policy(perHour: 2))
    try fail(world)
    try world.finish(try notices(world)[0].record.id, .success)
    try restart(world)
    try fail(world)
    try restart(world)
    try fail(world)
    var told = try notices(world)
    #expect(told.count == 2 && told[1].document["count"]?.integer == 2 && told[1].record.due == .testStart + .seconds(30))
    try world.advance(.seconds(30))
    try world.finish(told[1].record.id, .success)
    try restart(world)
    try fail(world)
    told = try notices(world)
    #expect(told.count == 3 && told[2].record.due == .testStart + .seconds(3600))
  }

  @Test("a commit that fails tells nobody; the one that records the failure tells once")
  func undone() throws {
    let world = try world(policy())
    let id = try world.submit().id
    let full = StoreError.full("no space left")
    world.store.fail(with: full)
    #expect(throws: full) { try world.finish(id, .failure) }
    world.store.fail(with: nil)
    #expect(try notices(world).isEmpty)
    try world.turn()
    #expect(try notices(world).count == 1)
    try fail(world)
    #expect(try notices(world)[1].record.due == world.now + .seconds(30), "the window counts from the one that was told")
  }

  @Test("the first success after that is told once, also after a restart")
  func recovered() throws {
    let world = try world(policy())
    try fail(world, .sample(key: "a", onConflict: .keep))
    try restart(world)
    try world.finish(try world.submit(.sample(key: "b", onConflict: .keep)).id, .success)
    #expect(try notices(world).count == 1, "another key has had no trouble")
    for _ in 0..<2 { try world.finish(try world.submit(.sample(key: "a", onConflict: .keep)).id, .success) }
    let told = try notices(world)
    #expect(told.count == 2 && told[1].document["event"]?.string == "recovered" && told[1].document["count"]?.integer == 1)
    #expect(told[1].document["text"]?.string == "has succeeded again")
  }

  @Test("a rule without \"failed\" hears of no recovery from it")
  func notTold() throws {
    let world = try world(policy([.recovered]))
    try fail(world)
    try world.finish(try world.submit().id, .success)
    #expect(try notices(world).isEmpty)
  }

  @Test("N failed runs in a row are told once, counted over restarts; a success begins anew")
  func failing() throws {
    let world = try world(policy([.failing, .recovered]) { $0.failures = 3 })
    let retry = RetryPolicy(attempts: 100, initial: .seconds(1), maximum: .seconds(1))
    let request = TaskRequest.sample(key: "k", onConflict: .keep, retry: retry)
    let id = try world.submit(request).id
    func attempt(_ result: TaskResult) throws {
      try world.finish(id, result)
      try world.advance(.seconds(10))
    }
    for _ in 0..<2 { try attempt(.retry) }
    #expect(try notices(world).isEmpty)
    try restart(world)
    for _ in 0..<3 { try attempt(.retry) }
    var told = try notices(world)
    #expect(told.count == 1 && told[0].document["event"]?.string == "failing" && told[0].document["failures"]?.integer == 3)
    try attempt(.success)
    told = try notices(world)
    #expect(told.count == 2 && told[1].document["event"]?.string == "recovered")
  }

  @Test("however many keys of one plugin fail, schedules and other plugins are told of, when they fail and when they recover")
  func crowd() {
    var book = NoticeBook([NoticeRule("n", target: nil, kinds: [.failing, .failed], failures: 2)])
    let busy = TaskIdentifier.sample("org.example.busy")
    func subject(_ identifier: TaskIdentifier, _ key: String?) -> NoticeBook.Subject {
      NoticeBook.Subject(identifier: identifier, key: key)
    }
    for number in 0..<12_000 {
      _ = book.countFailure(of: subject(busy, "order \(number)"))
      book.note(.failed, of: subject(busy, "order \(number)"))
    }
    for one in [subject(busy, "config:\(busy)"), subject(busy, nil), subject(.sample(), "nightly"), subject(.sample(), nil)] {
      let counts = (1...2).map { _ in book.countFailure(of: one) }
      #expect(counts == [1, 2])
      book.note(.failing, of: one)
      #expect(book.isTold(.failing, of: one))
      let hasRecovered = book.recover(one)
      #expect(hasRecovered)
    }
  }

  @Test("an objective that is missed is told once in an episode, over restarts; a success ends the episode")
  func overdue() throws {
    var policy = policy([.overdue, .recovered])
    policy.limits[.sample()] = PluginLimits()
    policy.limits[.sample()]?.expectWithin = .seconds(3600)
    let world = try world(policy)
    try world.advance(.seconds(3600))
    #expect(world.core.hasDuty(now: world.now))
    try world.turn()
    #expect(!world.core.hasDuty(now: world.now))
    var told = try notices(world)
    #expect(told.count == 1 && told[0].document["event"]?.string == "overdue")
    #expect(told[0].document["text"]?.string?.hasPrefix("is overdue: no run has succeeded within ") == true)
    try restart(world)
    try world.turn()
    #expect(try notices(world).count == 1)
    try world.finish(told[0].record.id, .success)
    try world.finish(try world.submit().id, .success)
    told = try notices(world)
    #expect(told.count == 2 && told[1].document["event"]?.string == "recovered")
    try world.advance(.seconds(7200))
    try world.turn()
    #expect(try notices(world).map { $0.document["event"]?.string } == ["overdue", "recovered", "overdue"])
  }

  @Test("an overdue objective is told after a commit that failed")
  func overdueUndone() throws {
    var policy = policy([.overdue])
    policy.limits[.sample()] = PluginLimits()
    policy.limits[.sample()]?.expectWithin = .seconds(3600)
    let world = try world(policy)
    try world.advance(.seconds(3600))
    let full = StoreError.full("no space left")
    world.store.fail(with: full)
    #expect(throws: full) { try world.turn() }
    world.store.fail(with: nil)
    try world.turn()
    #expect(try notices(world).count == 1)
  }

  @Test("a quarantine is told once")
  func quarantined() throws {
    let world = try world(policy([.quarantined]))
    for _ in 0..<6 {
      let id = try world.submit(.sample(retry: RetryPolicy(attempts: 1))).id
      try world.advance(.seconds(86_400))
      if world.isRunning(id) { try world.end(id, .crashed) }
    }
    let told = try notices(world)
    #expect(told.count == 1 && told[0].document["event"]?.string == "quarantined")
  }

  @Test("a notification that fails is told to nobody")
  func noLoop() throws {
    var policy = policy()
    policy.notices.rules.append(NoticeRule("all", target: Self.target, kinds: Set(Incident.Kind.allCases), window: .zero))
    let world = try world(policy)
    try fail(world)
    #expect(try notices(world).count == 2)
    for (record, _) in try notices(world) {
      try world.turn()
      try world.finish(record.id, .failure)
    }
    #expect(try notices(world).count == 2)
    #expect(try notices(world).allSatisfy { $0.record.state == .failed }, "they are dead letters")
  }

  @Test("a rule tells of its identifiers alone")
  func identifiers() throws {
    var policy = policy()
    policy.notices.rules[0].identifiers = [try IdentifierPattern("com.other.*")]
    let world = try world(policy)
    try fail(world)
    #expect(try notices(world).isEmpty)
  }

  @Test("a refusal of a notification leaves the failure on record, and is reported")
  func refused() throws {
    var policy = policy(perHour: 1000) { $0.window = .zero }
    policy.maxPending = 2
    let world = try world(policy)
    var steps: [NoticeStep] = []
    for _ in 0..<3 {
      try fail(world)
      steps += world.lastTurn.told.map(\.step)
      // Waiting ones are not joined by what follows, because they were lost once.
      for (record, _) in try notices(world) where !world.isRunning(record.id) {
        try world.turn { core, transaction in
          var record = try #require(try transaction.request(record.id))
          record.losses = 1
          try transaction.update(record)
        }
      }
    }
    #expect(steps.count == 3 && steps.prefix(2).allSatisfy { $0 == .submitted })
    guard case .refused(let reason)? = steps.last else {
      Issue.record("it was not refused: \(steps)")
      return
    }
    #expect(reason.contains("max_pending"))
  }

  @Test("a calendar that is set back delays the next notification by no more than the window")
  func clockSetBack() throws {
    let world = try world(policy(perHour: 2))
    try fail(world)
    try world.finish(try notices(world)[0].record.id, .success)
    try world.moveCalendar(.seconds(-86_400))
    try fail(world)
    #expect(try notices(world)[1].record.due == world.now + .seconds(30))
  }
}

extension TaskRequest {
  fileprivate static func sample(_ identifier: TaskIdentifier, after: [Dependency.Predecessor], key: String) -> TaskRequest {
    var request = TaskRequest.sample(identifier, key: key, onConflict: .keep)
    request.after = after.map { Dependency($0) }
    return request
  }
}
