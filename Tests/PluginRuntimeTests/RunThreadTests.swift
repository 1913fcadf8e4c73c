import LauncherConformance
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("A run's thread") struct RunThreadTests {
  @Test("an idle thread ends after its idle time, and the next run gets a new one") func idle() async throws {
    let bench = try Bench(.threads)
    let contract = HandlerContract(identifier: try TaskIdentifier("idle"), kind: .refresh, budget: nil, grace: .zero)
    let served = Recorder()
    let threads = RunThreads(
      name: "idle", limit: 1, idleness: IdleAllowance(time: .milliseconds(1)),
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

  @Test("a few threads are kept for a while, those beyond them for a moment, whichever plugin's they are") func allowance() {
    let idleness = IdleAllowance(count: 2, time: .seconds(10), beyond: .milliseconds(200))
    #expect([idleness.enter(), idleness.enter(), idleness.enter()] == [.seconds(10), .seconds(10), .milliseconds(200)])
    idleness.leave()
    #expect(idleness.enter() == .milliseconds(200))
    for _ in 1...2 { idleness.leave() }
    #expect(idleness.enter() == .seconds(10))
    #expect(IdleAllowance(count: 0, time: .milliseconds(1)).enter() == .milliseconds(1))
  }
}
