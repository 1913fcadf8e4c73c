import HostThreads
import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@testable import TaskScheduler

@Suite("A plugin that takes the host along") struct HostCrashTests {
  private static let other = TaskIdentifier.sample("org.example.other")
  private static let handlers = [HandlerContract.sample(runs: 2), .sample(other)]

  @Test("its run has crashed, the others of that host are lost; it counts once")
  func crashed() throws {
    let world = try World(handlers: Self.handlers)
    let (guilty, second, bystander) = (try world.submit().id, try world.submit().id, try world.submit(.sample(Self.other)).id)
    let crashed = try [guilty, second].reduce(into: [RunID: String]()) {
      $0[try #require(world.orders[$1]).run] = "crashed: SIGSEGV at address 0x0\n#0 here\n#1 there"
    }
    #expect(try world.restart(handlers: Self.handlers, crashed: crashed) == 1)
    for id in [guilty, second] {
      let run = try #require(try world.runs(id).first)
      #expect(run.outcome == .crashed)
      #expect(run.report.message == "it ended the host, which crashed: SIGSEGV at address 0x0")
      #expect(try world.store.run(run.id)?.report.trouble == "crashed: SIGSEGV at address 0x0\n#0 here\n#1 there")
      #expect(try world.record(id).attemptsSpent == 1)
    }
    #expect(try world.runs(bystander).first?.outcome == .lost)
    #expect(try world.record(bystander).losses == 1)
    let health = try world.health()
    #expect((health.failures, health.hostCrashes) == (1, 1))
    #expect(health.heldUntil == world.now + .seconds(60))
    #expect(health.lastTrouble == "it ended the host, which crashed: SIGSEGV at address 0x0")
    #expect(try world.health(Self.other) == PluginHealth())
    #expect(world.isRunning(bystander))
    #expect(!world.isRunning(guilty))
  }

  @Test("the second demands a process, the third quarantines it, good runs between change nothing of that; a release does")
  func thirdTime() throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 100, initial: .milliseconds(100), maximum: .milliseconds(100)))).id
    for count in 1...3 {
      try world.advance(.seconds(1000))
      let run = try #require(world.orders[id]).run
      // What the host will find is known before it launches anything.
      let foreseen = try Scheduler.pluginHealth(in: world.store, crashed: [run: "signal 6"], retry: RetryPolicy(), now: world.now)
      try world.restart(crashed: [run: "signal 6"])
      #expect(try world.health() == foreseen[.sample()])
      #expect(try world.health().hostCrashes == count)
      #expect(try world.health().failures == 1)
      #expect(try world.health().demandsProcess == (count >= 2))
      #expect(try world.health().isQuarantined == (count >= 3))
      guard count < 3 else { break }
      try world.advance(.seconds(60))
      let good = try world.submit(.sample(priority: 10)).id
      try world.finish(id, .snooze, retryAfter: .zero)
      try world.finish(good, .success)
      #expect(try world.health().failures == 0)
      #expect(try world.health().heldUntil == nil)
    }
    try world.release()
    #expect(try world.health() == PluginHealth())
  }

  @Test("a run that the crash memory names and nobody knows changes nothing")
  func unknownRun() throws {
    let world = try World()
    let id = try world.submit().id
    #expect(try world.restart(crashed: [RunID(sequence: 1, origin: world.store.origin): "signal 11"]) == 1)
    #expect(try world.runs(id).first?.outcome == .lost)
    #expect(try world.health() == PluginHealth())
  }

  @Test("a scheduler that starts counts it, tells of it, shows it, and releases it")
  func scheduler() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("requests.sqlite")
    let request: RequestID
    let run: RunID
    do {
      let store = try SQLiteRequestStore(path: path)
      request = RequestID(sequence: 1, origin: store.origin)
      run = RunID(sequence: 2, origin: store.origin)
      try store.commit { transaction in
        try transaction.insert(.sample(1, origin: store.origin))
        try transaction.start(request, run: run, at: .testStart)
      }
      store.close()
    }
    let store = try SQLiteRequestStore(path: path)
    let launcher = RecordingLauncher(ending: nil)
    let (changes, changed) = AsyncStream<PluginHealth>.makeStream()
    let scheduler = try Scheduler(
      policy: SchedulingPolicy(retry: RetryPolicy(initial: .seconds(3600))), store: store, clock: SystemClock())
    launcher.report { [weak scheduler] in scheduler?.receive($0) }
    defer {
      scheduler.stop()
      store.close()
    }
    let (lost, _) = try scheduler.start(launcher, contracts: [.sample()], schedules: [:], crashed: [run: "signal 11"]) {
      if case .health(_, let health) = $0 { changed.yield(health) }
    }
    #expect(lost == 0)
    #expect(await changes.first { _ in true }?.hostCrashes == 1)
    let shown = await withCheckedContinuation { done in scheduler.health { done.resume(returning: $1) } }
    #expect(shown[.sample()]?.health.failures == 1)
    #expect(try store.request(request)?.state == .pending)
    let released = await withCheckedContinuation { done in scheduler.release(.sample()) { done.resume(returning: $0) } }
    #expect(try released.get().hostCrashes == 1)
    #expect(await changes.first { _ in true } == PluginHealth())
    #expect(try store.commit { try $0.pluginHealth() } == [:])
    let refused = await withCheckedContinuation { done in
      scheduler.release(.sample("org.example.unknown")) { done.resume(returning: $0) }
    }
    #expect(throws: RequestRefusal.self) { try refused.get() }
  }
}
