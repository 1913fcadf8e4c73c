import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import TaskStore
import Testing

@Suite("The scheduler's thread", .timeLimit(.minutes(10))) struct SchedulerTests {
  private let hour = WallTime(unixMilliseconds: SystemClock().wallTime.unixMilliseconds + 3_600_000)

  @Test("32 threads submit at once: every answer is durable, every request runs once")
  func concurrent() async throws {
    let host = try ScheduledHost(handlers: [.sample(runs: 8)], ending: .returned(.success, stop: nil))
    let (answers, answered) = AsyncStream<Result<[Submission], RequestRefusal>>.makeStream()
    for _ in 0..<32 {
      try HostThread.start("submitter") { for _ in 0..<20 { host.scheduler.perform(.submit([.sample()])) { answered.yield($0) } } }
    }
    var ids: Set<RequestID> = []
    for await answer in answers {
      let id = try #require(try answer.get().first).id
      #expect(try host.store.request(id) != nil)
      ids.insert(id)
      if ids.count == 640 { break }
    }
    let runs = await host.ended(640)
    #expect(Set(runs.map(\.request)) == ids)
    #expect(try host.store.counts() == [.succeeded: 640])
  }

  @Test("a batch is taken whole or not at all; the refusal names the place, and other submissions go on")
  func batch() async throws {
    let host = try ScheduledHost()
    let refusal = await #expect(throws: RequestRefusal.self) {
      try await host.submit(.sample(begin: hour), .sample(priority: 99), .sample(begin: hour))
    }
    #expect(refusal?.field == "[1].priority")
    #expect(try host.store.counts().isEmpty)
    #expect(try await host.submit(.sample(begin: hour), .sample(begin: hour)).count == 2)
    #expect(try host.store.counts() == [.pending: 2])
  }

  @Test("a request that is due later starts then, not before")
  func later() async throws {
    let host = try ScheduledHost()
    let due = SystemClock().wallTime + .milliseconds(150)
    let id = try await host.submit(.sample(begin: due))[0].id
    let order = try await host.nextOrder()
    #expect(SystemClock().wallTime >= due)
    #expect(order.request == id)
  }

  @Test("afterTurn answers when what was sent before has been carried out")
  func afterTurn() async throws {
    let host = try ScheduledHost()
    let answered = Answered()
    host.scheduler.perform(.submit([.sample(begin: hour)])) { _ in answered.note() }
    await host.afterTurn()
    await host.afterTurn()
    #expect(answered.count == 1)
  }

  @Test("observers see a request, its run, the run's end and then the request's end")
  func events() async throws {
    let host = try ScheduledHost(ending: .returned(.success, stop: nil))
    host.scheduler.observeEvents(true)
    let id = try await host.submit(.sample())[0].id
    var seen: [String] = []
    for await notice in host.notices {
      guard case .event(let event) = notice else { continue }
      switch event {
      case .request(let record):
        #expect(record.id == id)
        seen.append(record.state.rawValue)
      case .run(let run): seen.append(run.outcome.map { "run \($0.rawValue)" } ?? "run")
      case .progress, .work, .log, .assertion: Issue.record("the scheduler tells of none of these")
      }
      if seen.last == "succeeded" { break }
    }
    #expect(seen == ["pending", "running", "run", "run succeeded", "succeeded"])
  }

  @Test("a suspended handler takes no runs until it is resumed")
  func suspended() async throws {
    let host = try ScheduledHost()
    host.scheduler.receive(.suspended(.sample(), "overran its thread"))
    let id = try await host.submit(.sample())[0].id
    #expect(await host.liveRuns().isEmpty)
    host.scheduler.receive(.resumed(.sample()))
    #expect(try await host.nextOrder().request == id)
  }

  @Test("the expiration of live runs can be simulated")
  func simulatedExpiration() async throws {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    let order = try await host.nextOrder()
    let runs = await withCheckedContinuation { done in host.scheduler.simulateExpiration(.sample()) { done.resume(returning: $0) } }
    #expect(try runs.get() == [order.run])
    #expect(try await host.nextCall() == .expire(order.run, .budget))
  }

  @Test("the expiration of an identifier that no plugin has registered is refused; one without a live run has none")
  func simulatedExpirationOfNothing() async throws {
    let host = try ScheduledHost()
    func expire(_ identifier: TaskIdentifier) async throws -> [RunID] {
      try await withCheckedThrowingContinuation { done in host.scheduler.simulateExpiration(identifier) { done.resume(with: $0) } }
    }
    #expect(try await expire(.sample()).isEmpty)
    let refusal = await #expect(throws: RequestRefusal.self) { try await expire(.sample("org.example.nobody")) }
    #expect(refusal?.code == .notFound)
    #expect(refusal?.message == "no plugin has registered org.example.nobody: see taskhost plugins list")
  }

  @Test("what a run keeps and submits is refused once the run has ended")
  func fenced() async throws {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    let order = try await host.nextOrder()
    func keep() async throws {
      try await withCheckedThrowingContinuation { done in
        host.scheduler.setCheckpoint([1, 2], run: order.run, request: order.request) { done.resume(with: $0) }
      }
    }
    func set() async throws {
      try await withCheckedThrowingContinuation { done in
        host.scheduler.setState("k", to: [7], run: order.run, request: order.request, identifier: .sample()) { done.resume(with: $0) }
      }
    }
    func submit() async throws -> Submission {
      try await withCheckedThrowingContinuation { done in
        let run = RunReference(run: order.run, request: order.request, identifier: .sample())
        host.scheduler.perform(.submit(.sample(begin: hour), by: .sample()).onBehalf(of: run)) { done.resume(with: $0) }
      }
    }
    try await keep()
    try await set()
    #expect(try await submit().disposition == .created)
    #expect(try host.store.checkpoint(of: order.request) == [1, 2])
    #expect(try host.store.stateValue("k", of: .sample()) == [7])
    host.launcher.end(order.run, .returned(.success, stop: nil))
    await host.ended()
    for attempt in [keep, set, { _ = try await submit() }] {
      let refusal = await #expect(throws: RequestRefusal.self) { try await attempt() }
      #expect(refusal?.code == .conflict)
    }
  }

  @Test("stop refuses what comes later, and nobody waits for ever")
  func stop() async throws {
    let host = try ScheduledHost()
    host.scheduler.stop()
    let refusal = await #expect(throws: RequestRefusal.self) { try await host.submit(.sample()) }
    #expect(refusal?.code == .unavailable)
    #expect(await host.liveRuns().isEmpty)
    await host.drain(.seconds(60))
    host.scheduler.stop()
  }

  @Test("a run that ends after the scheduler has, or cannot be recorded until then, is told: nobody records it", arguments: [true, false])
  func unrecorded(_ isLate: Bool) async throws {
    let host = try ScheduledHost()
    let id = try await host.submit(.sample())[0].id
    let run = try await host.nextOrder().run
    if isLate {
      host.scheduler.stop()
      host.launcher.end(run, .returned(.success, stop: nil))
    } else {
      host.store.fail(with: .full("no space left"))
      host.launcher.end(run, .returned(.success, stop: nil))
      await host.afterTurn()
      host.scheduler.stop()
    }
    #expect(await host.unrecorded.first { _ in true } == run)
    host.store.fail(with: nil)
    #expect(try host.record(id).state == .running)
  }

  @Test("what a launcher tells before the start is nothing of the scheduler's")
  func early() async throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { store.close() }
    let scheduler = try Scheduler(policy: SchedulingPolicy(), store: store, clock: SystemClock())
    defer { scheduler.stop() }
    scheduler.receive(.misbehaved(.sample(), "while it launched", incident: 1))
    scheduler.receive(.suspended(.sample(), "while it launched"))
    _ = try scheduler.start(RecordingLauncher(ending: nil), contracts: [.sample()], schedules: [:])
    let shown = await withCheckedContinuation { done in scheduler.health { done.resume(returning: $1) } }
    #expect(shown[.sample()]?.health == PluginHealth())
    #expect(shown[.sample()]?.suspension == nil)
  }

  @Test("start says what was lost with the host before, and which launch submissions were refused")
  func start() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    defer { store.close() }
    let request = RequestRecord.sample(1, origin: store.origin)
    try store.commit { transaction in
      try transaction.insert(request)
      try transaction.start(request.id, run: RunID(sequence: 2, origin: store.origin), at: .testStart)
    }
    let scheduler = try Scheduler(policy: SchedulingPolicy(), store: store, clock: SystemClock())
    defer { scheduler.stop() }
    let (lost, refused) = try scheduler.start(
      RecordingLauncher(ending: nil), contracts: [.sample()], schedules: [:],
      changes: [LaunchChange.submit(.sample(begin: hour)), .submit(.sample(.sample("org.example.unknown")))].map {
        PluginLaunchChange($0, by: .sample())
      })
    #expect(lost == 1)
    #expect(refused.map(\.1.code) == [.unknownIdentifier])
    #expect(try store.requests(RequestQuery()).count == 2)
  }
}
