import CTaskHost
import HostThreads
import PluginRuntime
import TaskModel
import Testing

@Suite("Expiration") struct ExpirationTests {
  @Test("at the budget's end the expiration handler is called once, on another thread, in time") func budget() async throws {
    let bench = try Bench()
    let probe = try Probe()
    let contract = try await bench.load("runtime_expire", budget: .milliseconds(200))
    let begin = SystemClock.now
    let end = try await bench.recorder.end(of: bench.start(contract, probe))
    #expect(end.ending == .returned(.retry, stop: .budget))
    #expect(end.report.stopReason == .budget)
    #expect(!end.report.forced)
    #expect(probe[0] != probe[1])
    #expect(probe[2] == TASKHOST_STOP_BUDGET)
    #expect(probe[3] == TASKHOST_OK)
    #expect(probe[4] == TASKHOST_EEXPIRED)
    #expect(probe[5] == 1)
    // The budget begins before the handler's first instruction, so it is measured from before the start to the call.
    let milliseconds = (probe[12] - begin.nanoseconds) / 1_000_000
    #expect(milliseconds >= 200)
    #expect(milliseconds < 5000)
  }

  @Test("the expiration handler sees an expired run in its grace, and cannot set a handler any more") func seenFromInside() async throws {
    let bench = try Bench()
    let probe = try Probe()
    let contract = try await bench.load("runtime_expire", budget: .milliseconds(200), grace: .seconds(50))
    _ = try await bench.recorder.end(of: bench.start(contract, probe))
    #expect(probe[6] == 1)
    #expect(probe[7] <= 0)
    #expect((1...50_000).contains(probe[8]))
    #expect((1...200).contains(probe[9]))
    #expect(probe[10] == 50_000)
    #expect(probe[13] == TASKHOST_STOP_NONE)
    #expect(probe[14] == TASKHOST_EEXPIRED)
  }

  @Test(
    "the host's reason to stop reaches the handler",
    arguments: [
      (StopReason.cancelled, TASKHOST_STOP_CANCELLED), (.conditions, TASKHOST_STOP_CONDITIONS), (.draining, TASKHOST_STOP_DRAINING),
      (.replaced, TASKHOST_STOP_REPLACED),
    ])
  func reasons(_ reason: StopReason, _ code: Int) async throws {
    let bench = try Bench()
    let probe = try Probe()
    let contract = try await bench.load("runtime_expire")
    let run = bench.start(contract, probe)
    try await probe.reached()
    bench.launcher.expire(run, reason: reason)
    bench.launcher.expire(run, reason: .draining)
    #expect(try await bench.recorder.end(of: run).ending == .returned(.retry, stop: reason))
    #expect(probe[2] == code)
    #expect(try await bench.recorder.expiration(of: run) == reason)
  }

  @Test("the descriptor becomes readable, and the host's sleep ends") func pollAndSleep() async throws {
    let bench = try Bench()
    let (polling, sleeping) = (try Probe(), try Probe())
    let poll = try await bench.load("runtime_poll", budget: .milliseconds(50))
    let sleep = try await bench.load("runtime_sleep", budget: .milliseconds(50))
    let runs = [bench.start(poll, polling), bench.start(sleep, sleeping)]
    for run in runs { #expect(try await bench.recorder.end(of: run).ending == .returned(.retry, stop: .budget)) }
    #expect(polling[0] == 0)
    #expect(polling[1] != 0)
    #expect(polling[2] == 1)
    #expect(sleeping[1] == TASKHOST_EEXPIRED)
    #expect(sleeping[2] == TASKHOST_EEXPIRED)
  }

  @Test("20 expiration handlers that never return hold back neither outcomes nor other runs' deadlines") func stuck() async throws {
    let bench = try Bench()
    let probe = try Probe()
    let stuck = try await bench.load("runtime_stuck_expiration", budget: .milliseconds(30))
    let runs = (0..<20).map { _ in bench.order(stuck, payload: probe.payload) }
    bench.launcher.start(runs)
    for _ in runs { try await probe.reached(within: 60, "an expiration handler") }
    for order in runs {
      #expect(try await bench.recorder.end(of: order.run).ending == .returned(.retry, stop: .budget))
      #expect(try await bench.recorder.expiration(of: order.run) == .budget)
    }
    let other = try Probe()
    let obedient = try await bench.load("runtime_expire", budget: .milliseconds(50))
    #expect(try await bench.recorder.end(of: bench.start(obedient, other)).ending == .returned(.retry, stop: .budget))
    probe.release(20)
  }

  @Test("a run that expires while it waits for a thread is told so, and its grace is not lengthened by its start") func whileWaiting()
    async throws
  {
    let bench = try Bench()
    let (first, second) = (try Probe(), try Probe())
    let contract = try await bench.load("runtime_ignore", budget: nil, grace: .milliseconds(700), concurrent: 1)
    let holder = bench.start(contract, first)
    try await first.reached()
    let waiting = bench.start(contract, second)
    bench.launcher.expire(waiting, reason: .cancelled)
    #expect(try await bench.recorder.expiration(of: waiting) == .cancelled)
    first.release()
    #expect(try await bench.recorder.end(of: holder).ending == .returned(.success, stop: nil))
    // It ignores its expiration, so that only force ends it: at the end of the grace that began before it had a thread.
    #expect(try await bench.recorder.end(of: waiting).ending == .forced(.cancelled))
    second.release()
  }

  @Test("a run that is forced while it waits for a thread ends once and is never begun") func forcedWhileWaiting() async throws {
    let bench = try Bench()
    let (first, second) = (try Probe(), try Probe())
    let contract = try await bench.load("runtime_ignore", concurrent: 1)
    let holder = bench.start(contract, first)
    try await first.reached()
    let waiting = bench.start(contract, second)
    bench.launcher.force(waiting, reason: .draining)
    #expect(try await bench.recorder.end(of: waiting).ending == .forced(.draining))
    first.release()
    _ = try await bench.recorder.end(of: holder)
    let third = try Probe()
    let last = bench.start(contract, third)
    try await third.reached()
    third.release()
    _ = try await bench.recorder.end(of: last)
    #expect(bench.recorder.all.filter { if case .ended(waiting, _, _) = $0 { true } else { false } }.count == 1)
    #expect(!bench.recorder.all.contains { if case .suspended = $0 { true } else { false } })
  }
}
