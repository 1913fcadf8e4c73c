import CTaskHost
import HostThreads
import LauncherConformance
import TaskModel
import Testing
import WorkerProcesses

@Suite("Both launchers: expiration") struct ExpirationConformance {
  @Test("at the budget's end the expiration handler is called once, on another thread, in time", arguments: Isolation.allCases)
  func budget(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_expire", budget: .milliseconds(200))
    let begin = SystemClock.now
    let end = try await bench.run(contract, payload: probe.payload)
    #expect(end.ending == .returned(.retry, stop: .budget))
    #expect(end.report.stopReason == .budget)
    #expect(end.report.stopStage == .asked)
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

  @Test("the expiration handler sees an expired run in its grace, and cannot set a handler any more", arguments: Isolation.allCases)
  func seenFromInside(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_expire", budget: .milliseconds(200), grace: .seconds(50))
    _ = try await bench.run(contract, payload: probe.payload)
    #expect(probe[6] == 1)
    #expect(probe[7] <= 0)
    #expect((1...50_000).contains(probe[8]))
    #expect((1...200).contains(probe[9]))
    #expect(probe[10] == 50_000)
    #expect(probe[13] == TASKHOST_STOP_NONE)
    #expect(probe[14] == TASKHOST_EEXPIRED)
  }

  @Test(
    "the host's reason to stop reaches the handler, the first one", arguments: Isolation.allCases,
    [
      (StopReason.cancelled, TASKHOST_STOP_CANCELLED), (.conditions, TASKHOST_STOP_CONDITIONS), (.draining, TASKHOST_STOP_DRAINING),
      (.replaced, TASKHOST_STOP_REPLACED),
    ])
  func reasons(_ isolation: Isolation, _ told: (reason: StopReason, code: Int)) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_expire")
    let run = bench.start(contract, probe)
    try await probe.reached()
    bench.launcher.expire(run, reason: told.reason)
    bench.launcher.expire(run, reason: .draining)
    #expect(try await bench.recorder.end(of: run).ending == .returned(.retry, stop: told.reason))
    #expect(probe[2] == told.code)
    #expect(try await bench.recorder.expiration(of: run) == told.reason)
  }

  @Test("the descriptor becomes readable, and the host's sleep ends", arguments: Isolation.allCases)
  func pollAndSleep(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let (polling, sleeping) = (try Probe(), try Probe())
    let poll = try await bench.load("runtime_poll", budget: .milliseconds(50))
    let sleep = try await bench.load("runtime_sleep", budget: .milliseconds(50))
    let runs = [bench.start(poll, polling), bench.start(sleep, sleeping)]
    for run in runs { #expect(try await bench.recorder.end(of: run).ending == .returned(.retry, stop: .budget)) }
    #expect(polling[0] == 0)
    #expect(polling[1] != 0)
    #expect(polling[2] == 1)
    #expect(sleeping[0] == TASKHOST_OK)
    #expect(sleeping[1] == TASKHOST_EEXPIRED)
    #expect(sleeping[2] == TASKHOST_EEXPIRED)
  }

  @Test("20 expiration handlers that never return hold back neither outcomes nor other runs' deadlines", arguments: Isolation.allCases)
  func stuck(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let stuck = try await bench.load("runtime_stuck_expiration", budget: .milliseconds(300))
    let runs = (0..<20).map { _ in bench.order(stuck, payload: probe.payload) }
    bench.launcher.start(runs)
    for _ in runs { try await probe.reached(within: 60, "an expiration handler") }
    for order in runs {
      #expect(try await bench.recorder.end(of: order.run).ending == .returned(.retry, stop: .budget))
      #expect(try await bench.recorder.expiration(of: order.run) == .budget)
    }
    let other = try Probe()
    let obedient = try await bench.load("runtime_expire", budget: .milliseconds(50))
    #expect(try await bench.run(obedient, payload: other.payload).ending == .returned(.retry, stop: .budget))
    probe.release(20)
  }

  @Test(
    "a run that expires while it waits for a slot is told so, and its grace is not lengthened by its start", arguments: Isolation.allCases)
  func whileWaiting(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let (first, second) = (try Probe(), try Probe())
    let contract = try await bench.load("runtime_ignore", budget: nil, grace: .milliseconds(700), concurrent: 1)
    let holder = bench.start(contract, first)
    try await first.reached()
    let waiting = bench.start(contract, second)
    bench.launcher.expire(waiting, reason: .cancelled)
    #expect(try await bench.recorder.expiration(of: waiting) == .cancelled)
    first.release()
    #expect(try await bench.recorder.end(of: holder).ending == .returned(.success, stop: nil))
    // It ignores its expiration, so that only force ends it: at the end of the grace that began before it had a slot.
    #expect(try await bench.recorder.end(of: waiting).ending == .forced(.cancelled))
    second.release()
  }

  @Test("continued work with a budget expires at that, however it gets on", arguments: Isolation.allCases)
  func budgetOfContinuedWork(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    probe[20] = .max
    let contract = try await bench.load("runtime_progress", budget: .milliseconds(150))
    #expect(try await bench.run(contract, payload: probe.payload).ending == .returned(.retry, stop: .budget))
  }

  @Test("continued work that gets no further expires as stalled, at its limit after the last progress", arguments: Isolation.allCases)
  func stall(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    probe[20] = 50
    let contract = try await bench.load("runtime_progress", budget: nil)
    let limit = try #require(contract.kind.stallLimit)
    let end = try await bench.recorder.end(of: bench.start(contract, probe), within: 180)
    #expect(end.ending == .returned(.retry, stop: .stalled), "\(end.report.message ?? "")")
    #expect(probe[0] == TASKHOST_STOP_STALLED)
    #expect(probe[1] >= limit.wholeMilliseconds + 980)
    #expect(end.report.progress == RunProgress(completed: 50, total: 0))
  }

  // MARK: A handler that is set about when the run expires is called, or its setter is told: there is no third.

  // plugin:  reached        release → set = EEXPIRED
  // host:          expire ↑
  @Test("set after expiry: EEXPIRED, never called", arguments: Isolation.allCases) func setAfter(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_gated_set")
    let run = bench.start(contract, probe)
    try await probe.reached()
    bench.launcher.expire(run, reason: .draining)
    _ = try await bench.recorder.expiration(of: run)
    probe.release(2)
    #expect(try await bench.recorder.end(of: run).ending == .returned(.success, stop: .draining))
    #expect(probe[0] == TASKHOST_EEXPIRED)
    #expect(probe[1] == 0)
  }

  // plugin:  reached, release → set = OK, reached     release → clear = EEXPIRED
  // host:                                      expire ↑
  @Test("set before expiry: called once", arguments: Isolation.allCases) func setBefore(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_gated_set")
    let run = bench.start(contract, probe)
    try await probe.reached()
    probe.release()
    try await probe.reached()
    bench.launcher.expire(run, reason: .draining)
    _ = try await bench.recorder.expiration(of: run)
    probe.release()
    #expect(try await bench.recorder.end(of: run).ending == .returned(.success, stop: .draining))
    #expect(probe[0] == TASKHOST_OK)
    #expect(probe[1] == 1)
  }

  @Test("2,000 runs that set their handler about when they expire are each told or called", arguments: Isolation.allCases)
  func race(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let launched = try await bench.launch("runtime_set_at_expiry")
    let contract = try bench.add(launched, concurrent: 4)
    var told = 0
    // A budget goes with the contract, so that each has its own.
    for number in 0..<20 {
      var limited = contract
      limited.budget = .microseconds(1000 + 100 * number)
      launched.worker?.adopt(launched.registrations, contracts: [limited])
      let orders = (0..<100).map { index in
        // Around the budget, odd and even.
        let delay = Int64(1_000_000 + 100_000 * number) + Int64((number * 100 + index) * 7919 % 400_001) - 200_000
        return bench.order(limited, payload: withUnsafeBytes(of: delay) { Array($0) })
      }
      bench.launcher.start(orders)
      for order in orders {
        let end = try await bench.recorder.end(of: order.run, within: 120)
        guard case .returned(let result, _) = end.ending, result != .failure else {
          Issue.record("\(end.ending): \(end.report.message ?? "")")
          continue
        }
        if result == .noop { told += 1 }
      }
    }
    // Both orders came about, or the test has proved nothing.
    #expect((1..<2000).contains(told))
  }

  @Test("clearing from inside the handler returns at once, from the run it waits for the call", arguments: Isolation.allCases)
  func clearing(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_clear")
    let run = bench.start(contract, probe)
    try await probe.reached()
    bench.launcher.expire(run, reason: .draining)
    try await probe.reached()
    #expect(probe[0] == TASKHOST_EEXPIRED)
    probe.release()
    try await probe.reached()
    #expect(probe[1] == TASKHOST_EEXPIRED)
    #expect(probe[2] == 1)
    #expect(try await bench.recorder.end(of: run).ending == .returned(.success, stop: .draining))
  }
}
