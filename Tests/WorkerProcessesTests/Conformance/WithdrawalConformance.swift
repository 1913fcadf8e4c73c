import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: runs that are asked back") struct WithdrawalConformance {
  @Test("those that wait for a slot come back and never begin; one that has begun says so and goes on", arguments: Isolation.allCases)
  func withdrawn(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_thread", concurrent: 1)
    let probes = try (0..<4).map { _ in try Probe() }
    var orders = probes.map { bench.order(contract, payload: $0.payload) }
    for index in 1..<4 { orders[index].isAhead = true }
    bench.launcher.start(orders)
    try await probes[0].reached()
    bench.launcher.withdraw([orders[0].run, orders[2].run, orders[3].run])
    for order in orders[2...] { try await bench.recorder.withdrawal(of: order.run) }
    try await bench.recorder.until("the first one's answer") { [run = orders[0].run] events in
      events.contains { if case .began(run) = $0 { true } else { false } }
    }
    for probe in probes { probe.release() }
    #expect(try await bench.recorder.end(of: orders[0].run).ending == .returned(.success, stop: nil))
    #expect(try await bench.recorder.end(of: orders[1].run).ending == .returned(.success, stop: nil))
    // Who comes after them finds a launcher that works.
    let last = try Probe()
    last.release()
    #expect(try await bench.run(contract, payload: last.payload).ending == .returned(.success, stop: nil))
    for order in orders[2...] {
      #expect(!bench.recorder.all.contains { if case .ended(order.run, _, _) = $0 { true } else { false } })
    }
  }

  @Test("a run that was handed out ahead tells its begin before it ends", arguments: Isolation.allCases)
  func tells(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_thread", concurrent: 1)
    let probe = try Probe()
    var order = bench.order(contract, payload: probe.payload)
    order.isAhead = true
    bench.launcher.start([order])
    let run = order.run
    try await bench.recorder.until("its begin") { events in events.contains { if case .began(run) = $0 { true } else { false } } }
    probe.release()
    #expect(try await bench.recorder.end(of: run).ending == .returned(.success, stop: nil))
  }
}
