import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: threads and shutdown") struct ThreadConformance {
  @Test("16 runs at once have 16 threads, named, with 8 MiB of stack and asynchronous signals blocked", arguments: Isolation.allCases)
  func concurrent(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
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

  @Test("a thread serves one run after the other", arguments: Isolation.allCases) func reuse(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_thread", concurrent: 1)
    var threads: Set<Int64> = []
    for _ in 0..<20 {
      let probe = try Probe()
      probe.release()
      _ = try await bench.run(contract, payload: probe.payload)
      threads.insert(probe[0])
    }
    #expect(threads.count == 1)
  }

  @Test("two plugins never share a thread", arguments: Isolation.allCases) func separate(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contracts = [
      try await bench.load("runtime_thread"), try await bench.load("runtime_thread", ["LABEL=\"another\""]),
    ]
    var threads: [Set<Int64>] = [[], []]
    for number in 0..<20 {
      let probe = try Probe()
      probe.release()
      _ = try await bench.run(contracts[number % 2], payload: probe.payload)
      threads[number % 2].insert(probe[0])
      #expect(probe.text == ["thread-with-a-l", "another"][number % 2])
    }
    #expect(threads[0].isDisjoint(with: threads[1]))
  }

  @Test("a shutdown hook is called once", arguments: Isolation.allCases) func shutdown(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_shutdown", ["FOR_\(isolation)"])
    probe.release()
    _ = try await bench.run(contract, payload: probe.payload)
    try await probe.reached()
    #expect(try await bench.shutdown() == 0)
    try await probe.reached(within: 10, "the shutdown hook")
    #expect(probe[0] == 1)
  }
}
