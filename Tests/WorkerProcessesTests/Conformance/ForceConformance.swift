import CTaskHost
import LauncherConformance
import TaskModel
import Testing

/// A thread cannot be ended from outside, a process can: the launchers differ in what force does, not in what the run's end says.
@Suite("Both launchers: force") struct ForceConformance {
  @Test(
    "a handler that ignores expiration is stopped when its grace ends: its thread is abandoned and its plugin suspended until that returns, or its worker is killed",
    arguments: Isolation.allCases)
  func graceEnds(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let (probe, after) = (try Probe(), try Probe())
    let contract = try await bench.load("runtime_ignore", budget: .milliseconds(100), grace: .milliseconds(100))
    let run = bench.start(contract, payload: probe.payload + [42])
    let end = try await bench.recorder.end(of: run)
    #expect(end.ending == .forced(.budget))
    #expect(end.ending.outcome == .expired)
    #expect(end.report.forced)
    #expect(end.report.stopReason == .budget)
    #expect(try await bench.recorder.expiration(of: run) == .budget)
    // Where it hangs is told in both modes.
    let (thread, stack) = try await bench.recorder.first("stuck") { event in
      if case .stuck(let reference, let thread, let stack) = event, reference.run == run { (thread, stack) } else { nil }
    }
    #expect(thread.hasPrefix("ignore"))
    #expect(stack.contains("runtime_ignore-"), "\(stack)")
    #expect(end.report.trouble?.contains(thread) == true, "\(end.report.trouble ?? "none")")
    switch isolation {
    case .threads:
      #expect(end.report.stopStage == .abandoned)
      #expect(suspensions(bench, contract) == ["suspended"])
      probe.release()
      try await bench.recorder.resumption(of: contract.identifier)
      #expect(suspensions(bench, contract) == ["suspended", "resumed"])
    case .processes:
      #expect(end.report.stopStage == .killed)
      #expect(end.report.incident != nil)
    }
    let next = bench.start(contract, after)
    try await after.reached()
    after.release()
    // That its handler was reached is what counts: its budget is as short as the first one's.
    _ = try await bench.recorder.end(of: next)
    if isolation == .processes { #expect(suspensions(bench, contract).isEmpty) }
  }

  @Test("force ends a run at once, whatever is left of its grace", arguments: Isolation.allCases) func atOnce(_ isolation: Isolation)
    async throws
  {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_ignore")
    let run = bench.start(contract, payload: probe.payload + [42])
    try await probe.reached()
    bench.launcher.expire(run, reason: .cancelled)
    _ = try await bench.recorder.expiration(of: run)
    bench.launcher.force(run, reason: .draining)
    let end = try await bench.recorder.end(of: run)
    #expect(end.ending == .forced(.cancelled))
    #expect(end.report.stopStage == (isolation == .threads ? .abandoned : .killed))
    probe.release()
  }

  @Test(
    "the other runs of the plugin go on in a thread; with their worker those that have begun are lost, and the others are given back",
    arguments: Isolation.allCases)
  func neighbours(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probes = try (0..<3).map { _ in try Probe() }
    let contract = try await bench.load("runtime_ignore", concurrent: 2)
    let runs = [bench.start(contract, probes[0]), bench.start(contract, probes[1])]
    try await probes[0].reached()
    try await probes[1].reached()
    let waiting = bench.start(contract, probes[2])
    bench.launcher.force(runs[0], reason: .draining)
    #expect(try await bench.recorder.end(of: runs[0]).ending == .forced(.draining))
    for probe in probes { probe.release() }
    let neighbour = try await bench.recorder.end(of: runs[1])
    switch isolation {
    case .threads:
      #expect(neighbour.ending == .returned(.success, stop: nil))
      #expect(try await bench.recorder.end(of: waiting).ending == .returned(.success, stop: nil))
    case .processes:
      #expect(neighbour.ending == .lost)
      #expect(neighbour.report.message == "its worker was killed because another of its runs did not stop in its grace")
      try await bench.recorder.withdrawal(of: waiting)
    }
  }

  @Test("force against return: each run ends once, and no plugin stays suspended", arguments: Isolation.allCases)
  func forceAgainstReturn(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_ignore", concurrent: 4)
    let count = isolation == .threads ? 400 : 60
    var runs: [RunID] = []
    for number in 0..<count {
      let probe = try Probe()
      runs.append(bench.start(contract, probe))
      // A worker that is killed for the run before may take this one along, or die before it has begun it.
      for second in 1... {
        do { try await probe.reached(within: 1) } catch {
          guard isolation == .processes, second < 60 else { throw error }
          let last = runs[runs.count - 1]
          let isOver = bench.recorder.all.contains { event in
            switch event {
            case .ended(last, _, _), .withdrawn(last): true
            default: false
            }
          }
          if !isOver { continue }
        }
        break
      }
      if number % 2 == 0 {
        probe.release()
        bench.launcher.force(runs[number], reason: .draining)
      } else {
        bench.launcher.force(runs[number], reason: .draining)
        probe.release()
      }
    }
    for run in runs { _ = try await bench.recorder.endOrShortage(of: run) }
    var ends: [RunID: Int] = [:]
    for case .ended(let run, let ending, _) in bench.recorder.all {
      ends[run, default: 0] += 1
      if case .crashed = ending { Issue.record("\(run) crashed") }
    }
    let back = bench.recorder.all.compactMap { event -> RunID? in if case .withdrawn(let run) = event { run } else { nil } }
    for run in back { #expect(ends[run] == nil) }
    #expect(Set(back).count == back.count && ends.count + back.count == count)
    #expect(isolation == .processes || back.isEmpty)
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
