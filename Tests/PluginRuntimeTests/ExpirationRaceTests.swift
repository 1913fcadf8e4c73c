import CTaskHost
import PluginRuntime
import TaskModel
import Testing

/// Either a handler is set before expiry and then called, or its setter is told: there is no third.
@Suite("Expiration handler against expiry") struct ExpirationRaceTests {
  // plugin:  reached        release → set = EEXPIRED
  // host:          expire ↑
  @Test("set after expiry: EEXPIRED, never called") func setAfter() async throws {
    let bench = try Bench()
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
  @Test("set before expiry: called once") func setBefore() async throws {
    let bench = try Bench()
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

  @Test("2,000 runs that set their handler about when they expire are each told or called") func stress() async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_set_at_expiry", concurrent: 4)
    var orders: [RunOrder] = []
    for number in 0..<2000 {
      var limited = contract
      limited.budget = .microseconds(1000 + number % 2000)
      // Around the budget, odd and even.
      let delay = Int64(1_000_000 + 1000 * (number % 2000)) + Int64(number * 7919 % 400_001) - 200_000
      orders.append(bench.order(limited, payload: withUnsafeBytes(of: delay) { Array($0) }))
    }
    bench.launcher.start(orders)
    var told = 0
    for order in orders {
      let end = try await bench.recorder.end(of: order.run, within: 120)
      guard case .returned(let result, _) = end.ending, result != .failure else {
        Issue.record("\(end.ending): \(end.report.message ?? "")")
        continue
      }
      if result == .noop { told += 1 }
    }
    // Both orders came about, or the test has proved nothing.
    #expect((1..<2000).contains(told))
  }

  @Test("clearing from inside the handler returns at once, from the run it waits for the call", arguments: [false, true])
  func clearing(forced: Bool) async throws {
    let bench = try Bench()
    let probe = try Probe()
    let contract = try await bench.load("runtime_clear", budget: .milliseconds(20))
    let run = bench.start(contract, probe)
    try await probe.reached()
    #expect(probe[0] == TASKHOST_EEXPIRED)
    if forced {
      bench.launcher.force(run, reason: .draining)
      #expect(try await bench.recorder.end(of: run).ending == .forced(.budget))
    }
    probe.release()
    try await probe.reached()
    #expect(probe[1] == (forced ? Int64(TASKHOST_ESTALE) : Int64(TASKHOST_EEXPIRED)))
    #expect(probe[2] == 1)
    if forced {
      try await bench.recorder.resumption(of: contract.identifier)
    } else {
      #expect(try await bench.recorder.end(of: run).ending == .returned(.success, stop: .budget))
    }
  }
}
