import HostThreads
import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: runs whose begin counts") struct BeginConformance {
  @Test("tell once when their handler is called, before their end; others tell nothing", arguments: Isolation.allCases)
  func told(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_thread", concurrent: 2)
    let probes = [try Probe(), try Probe()]
    var orders = probes.map { bench.order(contract, payload: $0.payload) }
    orders[0].tellsBegin = true
    bench.launcher.start(orders)
    let run = orders[0].run
    try await bench.recorder.until("its begin") { events in events.contains { if case .began(run) = $0 { true } else { false } } }
    for probe in probes {
      try await probe.reached()
      probe.release()
    }
    for order in orders { #expect(try await bench.recorder.end(of: order.run).ending == .returned(.success, stop: nil)) }
    #expect(bench.recorder.all.compactMap(\.begun) == [run])
  }

  @Test("tell nothing while they wait for a slot, though they were handed over", arguments: Isolation.allCases)
  func waiting(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_thread", concurrent: 1)
    let probes = [try Probe(), try Probe()]
    var orders = probes.map { bench.order(contract, payload: $0.payload) }
    for index in orders.indices { orders[index].tellsBegin = true }
    bench.launcher.start(orders)
    try await probes[0].reached()
    try await bench.recorder.until("the first begin") { events in events.contains { $0.begun != nil } }
    #expect(bench.recorder.all.compactMap(\.begun) == [orders[0].run])
    for probe in probes { probe.release() }
    for order in orders { #expect(try await bench.recorder.end(of: order.run).ending == .returned(.success, stop: nil)) }
    #expect(bench.recorder.all.compactMap(\.begun) == orders.map(\.run))
  }

  @Test("do not begin before their time, though a warm thread has them earlier", arguments: Isolation.allCases)
  func time(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_thread", concurrent: 1)
    for _ in 1...5 {
      let probe = try Probe()
      var order = bench.order(contract, payload: probe.payload)
      let time = SystemClock.now + .milliseconds(1)
      order.notBefore = time
      bench.launcher.start([order])
      try await probe.reached()
      #expect(SystemClock.now >= time)
      probe.release()
      #expect(try await bench.recorder.end(of: order.run).ending == .returned(.success, stop: nil))
    }
  }
}

extension LauncherEvent {
  /// The run that has begun; nil: it tells of something else.
  fileprivate var begun: RunID? { if case .began(let run) = self { run } else { nil } }
}
