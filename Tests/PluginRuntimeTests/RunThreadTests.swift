import TaskModel
import Testing

@testable import PluginRuntime

@Suite("A run's thread") struct RunThreadTests {
  @Test("16 runs at once have 16 threads, named, with 8 MiB of stack and asynchronous signals blocked") func concurrent() async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_thread", concurrent: 16)
    let probes = try (0..<16).map { _ in try Probe() }
    let runs = probes.map { bench.order(contract, payload: $0.payload) }
    bench.launcher.start(runs)
    for probe in probes { try await probe.reached() }
    #expect(Set(probes.map { $0[0] }).count == 16)
    for probe in probes {
      #expect(probe.text == "thread-with-a-l")
      #expect(probe[1] >= 8 << 20)
      #expect(probe[2] == 0)
      #expect(probe[3] == 0)
      probe.release()
    }
    for order in runs { #expect(try await bench.recorder.end(of: order.run).ending == .returned(.success, stop: nil)) }
  }

  @Test("a thread serves one run after the other") func reuse() async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_thread", concurrent: 1)
    var threads: Set<Int64> = []
    for _ in 0..<20 {
      let probe = try Probe()
      probe.release()
      _ = try await bench.recorder.end(of: bench.start(contract, probe))
      threads.insert(probe[0])
    }
    #expect(threads.count == 1)
  }

  @Test("two plugins never share a thread") func separate() async throws {
    let bench = try Bench()
    let contracts = [
      try await bench.load("runtime_thread"), try await bench.load("runtime_thread", ["LABEL=\"another\""]),
    ]
    var threads: [Set<Int64>] = [[], []]
    for number in 0..<20 {
      let probe = try Probe()
      probe.release()
      _ = try await bench.recorder.end(of: bench.start(contracts[number % 2], probe))
      threads[number % 2].insert(probe[0])
      #expect(probe.text == ["thread-with-a-l", "another"][number % 2])
    }
    #expect(threads[0].isDisjoint(with: threads[1]))
  }

  @Test("an idle thread ends after its idle time, and the next run gets a new one") func idle() async throws {
    let bench = try Bench()
    let contract = HandlerContract(identifier: try TaskIdentifier("idle"), kind: .refresh, budget: nil, grace: .zero)
    let served = Recorder()
    let threads = RunThreads(
      name: "idle", limit: 1, idleTime: .milliseconds(1),
      execute: { run in
        served.receive(.resumed(run.order.contract.identifier))
        return true
      }, refuse: { _, _ in })
    // Around the idle time: each run is served, whether it finds the thread idle, leaving or gone.
    for number in 1...300 {
      threads.start([LiveRun(order: bench.order(contract), stallLimit: nil, services: bench.services) { _ in }])
      try await served.until("run \(number)") { $0.count == number }
      if number % 3 == 0 { try await Task.sleep(for: .milliseconds(1)) }
    }
  }
}
