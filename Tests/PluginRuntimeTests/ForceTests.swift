import CTaskHost
import LauncherConformance
import Synchronization
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Force") struct ForceTests {
  @Test("after force the payload, the texts and the descriptor are still there, and every call is stale") func memory() async throws {
    let bench = try Bench(.threads)
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
    #expect(probe.text == "the run is over or never existed|test.runtime.ignore|36|")
    #expect(probe[4] == 1)
    #expect(probe[5] == -1)
    #expect(probe[6] == 0)
    #expect(probe[7] == 1)
  }

  @Test("a plugin with two abandoned runs is resumed when both have returned") func twoAbandoned() async throws {
    let bench = try Bench(.threads)
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
    let bench = try Bench(.threads)
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

  @Test("a run that is forced while it waits for a thread ends once and is never begun") func forcedWhileWaiting() async throws {
    let bench = try Bench(.threads)
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

  @Test("clearing an expiration handler waits for its call although the run was forced meanwhile") func clearing() async throws {
    let bench = try Bench(.threads)
    let probe = try Probe()
    let contract = try await bench.load("runtime_clear")
    let run = bench.start(contract, probe)
    try await probe.reached()
    bench.launcher.expire(run, reason: .cancelled)
    try await probe.reached()
    bench.launcher.force(run, reason: .draining)
    #expect(try await bench.recorder.end(of: run).ending == .forced(.cancelled))
    probe.release()
    try await probe.reached()
    #expect(probe[1] == TASKHOST_ESTALE)
    #expect(probe[2] == 1)
    try await bench.recorder.resumption(of: contract.identifier)
  }

  @Test("the handle is stale before the end is told", arguments: [false, true]) func staleBeforeTold(forced: Bool) async throws {
    let handle = Mutex<taskhost_task?>(nil)
    let answers = Mutex<[Bool]>([])
    let recorder = Recorder { event in
      guard case .ended = event, let handle = handle.withLock({ $0 }) else { return }
      let isStale = (try? RunTable.shared.live(handle)) == nil
      answers.withLock { $0.append(isStale) }
    }
    let bench = try Bench(.threads, recorder: recorder)
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
