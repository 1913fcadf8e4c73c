import CTaskHost
import Synchronization
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Force") struct ForceTests {
  @Test("a handler that ignores expiration is abandoned when grace ends; its plugin is suspended, and resumed when it returns")
  func abandoned() async throws {
    let bench = try Bench()
    let probe = try Probe()
    let contract = try await bench.load("runtime_ignore", budget: .milliseconds(30), grace: .milliseconds(50))
    let run = bench.start(contract, payload: probe.payload + [42])
    let end = try await bench.recorder.end(of: run)
    #expect(end.ending == .forced(.budget))
    #expect(end.ending.outcome == .expired)
    #expect(end.report.forced)
    #expect(end.report.stopReason == .budget)
    #expect(suspensions(bench, contract) == ["suspended"])
    probe.release()
    try await bench.recorder.resumption(of: contract.identifier)
    #expect(suspensions(bench, contract) == ["suspended", "resumed"])
  }

  @Test("after force the payload, the texts and the descriptor are still there, and every call is stale") func memory() async throws {
    let bench = try Bench()
    let probe = try Probe()
    let contract = try await bench.load("runtime_ignore")
    let run = bench.start(contract, payload: probe.payload + [42])
    try await probe.reached()
    bench.launcher.force(run, reason: .cancelled)
    #expect(try await bench.recorder.end(of: run).ending == .forced(.cancelled))
    probe.release()
    try await bench.recorder.resumption(of: contract.identifier)
    #expect(probe[0] == 42)
    #expect(probe[1] == 0)
    #expect(probe[2] == 1)
    #expect(probe[3] == TASKHOST_ESTALE)
    #expect(probe.text == "the run is over, or never was|test.runtime.ignore|36|")
    #expect(probe[4] == 1)
    #expect(probe[5] == -1)
    #expect(probe[6] == 0)
    #expect(probe[7] == 1)
  }

  @Test("a plugin with two abandoned runs is resumed when both have returned") func twoAbandoned() async throws {
    let bench = try Bench()
    let probes = [try Probe(), try Probe()]
    let contract = try await bench.load("runtime_ignore")
    for probe in probes {
      let run = bench.start(contract, probe)
      try await probe.reached()
      bench.launcher.force(run, reason: .draining)
      _ = try await bench.recorder.end(of: run)
    }
    probes[0].release()
    let after = try Probe()
    let next = bench.start(contract, after)
    try await after.reached()
    after.release()
    _ = try await bench.recorder.end(of: next)
    #expect(!suspensions(bench, contract).contains("resumed"))
    probes[1].release()
    try await bench.recorder.resumption(of: contract.identifier)
  }

  @Test("a run that waits behind an abandoned one gets a new thread") func replacedThread() async throws {
    let bench = try Bench()
    let (first, second) = (try Probe(), try Probe())
    let contract = try await bench.load("runtime_ignore", concurrent: 1)
    let holder = bench.start(contract, first)
    try await first.reached()
    let waiting = bench.start(contract, second)
    bench.launcher.force(holder, reason: .draining)
    try await second.reached()
    second.release()
    #expect(try await bench.recorder.end(of: waiting).ending == .returned(.success, stop: nil))
    first.release()
    try await bench.recorder.resumption(of: contract.identifier)
  }

  @Test("force against return: each run ends once, and no plugin stays suspended") func forceAgainstReturn() async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_ignore", concurrent: 4)
    var runs: [RunID] = []
    for number in 0..<400 {
      let probe = try Probe()
      runs.append(bench.start(contract, probe))
      try await probe.reached()
      if number % 2 == 0 {
        probe.release()
        bench.launcher.force(runs[number], reason: .draining)
      } else {
        bench.launcher.force(runs[number], reason: .draining)
        probe.release()
      }
    }
    for run in runs { _ = try await bench.recorder.end(of: run) }
    var ends: [RunID: Int] = [:]
    for case .ended(let run, _, _) in bench.recorder.all { ends[run, default: 0] += 1 }
    #expect(ends.count == 400)
    #expect(ends.values.allSatisfy { $0 == 1 })
    // The last word is that it takes runs again, if it ever did not.
    try await bench.recorder.until("the last resumption") { events in
      events.last { event in
        switch event {
        case .suspended, .resumed: true
        default: false
        }
      }.map { event in if case .resumed = event { true } else { false } } ?? true
    }
  }

  @Test("the handle is stale before the end is told", arguments: [false, true]) func staleBeforeTold(forced: Bool) async throws {
    let handle = Mutex<taskhost_task?>(nil)
    let answers = Mutex<[Bool]>([])
    let recorder = Recorder { event in
      guard case .ended = event, let handle = handle.withLock({ $0 }) else { return }
      let isStale = (try? RunTable.shared.live(handle)) == nil
      answers.withLock { $0.append(isStale) }
    }
    let bench = try Bench(recorder: recorder)
    let probe = try Probe()
    let contract = try await bench.load("runtime_ignore")
    let run = bench.start(contract, probe)
    try await probe.reached()
    handle.withLock { $0 = taskhost_task(bitPattern: probe[8]) }
    if forced { bench.launcher.force(run, reason: .draining) } else { probe.release() }
    _ = try await recorder.end(of: run)
    #expect(answers.withLock { $0 } == [true])
    if forced { probe.release() }
  }

  private func suspensions(_ bench: Bench, _ contract: HandlerContract) -> [String] {
    bench.recorder.all.compactMap { event in
      switch event {
      case .suspended(contract.identifier, _): "suspended"
      case .resumed(contract.identifier): "resumed"
      default: nil
      }
    }
  }
}
