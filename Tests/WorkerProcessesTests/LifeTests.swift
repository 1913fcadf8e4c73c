import TestSupport
import Foundation
import HostThreads
import LauncherConformance
import TaskModel
import Testing
import WorkerProcesses

@Suite("A worker's life") struct LifeTests {
  @Test("it is started by the launch, stays for the next run, and is not this process") func warm() async throws {
    let bench = try await WorkerBench()
    let first = try await bench.processOfNextRun()
    #expect(first != getpid())
    #expect(bench.worker.processID == first)
    for _ in 0..<20 { #expect(try await bench.processOfNextRun() == first) }
  }

  @Test("it is reaped when it has been idle, and the next run starts another") func idle() async throws {
    let bench = try await WorkerBench { $0.idleTime = .milliseconds(50) }
    // Asked of the run itself: the process may be gone as soon as it has ended.
    let process = try await bench.processOfNextRun()
    let watch = try? ProcessWatch(process)
    try await watch?.ended()
    let next = try await bench.processOfNextRun()
    #expect(next != process)
  }

  @Test("it is not idle while a run is live") func notIdle() async throws {
    let bench = try await WorkerBench { $0.idleTime = .milliseconds(1) }
    let probe = try Probe()
    let run = bench.start("hold", probe)
    try await probe.reached()
    let process = bench.worker.processID
    // Many times the idle time.
    try await onThread {
      let gate = Monitor()
      let end = SystemClock.now + .milliseconds(100)
      gate.locked { while gate.wait(until: end) {} }
    }
    #expect(bench.worker.processID == process)
    probe.release()
    #expect(try await bench.recorder.end(of: run).ending == .returned(.success, stop: nil))
  }

  @Test("the shutdown hook is called when it is reaped, and once however often contracts were given") func hookAtReaping() async throws {
    let bench = try Bench(.processes)
    var spec = try Bench.spec(try await CompiledFixtures.plugin("runtime_shutdown", ["REAPED"]))
    spec.idleTime = .milliseconds(50)
    let worker = try bench.worker(spec)
    let launched = try await Bench.launch(worker)
    let probe = try Probe()
    probe.release()
    var contract = try bench.add(launched)
    let run = bench.start(contract, probe)
    // As a reload does with a worker that it keeps.
    contract = try bench.add(launched)
    _ = try await bench.recorder.end(of: run)
    try await probe.reached()
    try await probe.reached(within: 30, "the shutdown hook")
    if let process = worker.processID { try? await ProcessWatch(process).ended() }
    #expect(probe[0] == 1)
  }

  @Test("a worker that is let go ends, and a run given meanwhile gets another process", arguments: [false, true])
  func retire(meanwhile: Bool) async throws {
    let bench = try await WorkerBench()
    for _ in 0..<10 {
      let process = try await bench.processOfNextRun()
      let watch = try ProcessWatch(process)
      bench.worker.retire()
      if !meanwhile { try await watch.ended() }
      #expect(try await bench.processOfNextRun() != process)
    }
  }

  @Test("a hook that hangs does not keep its worker for ever") func hangingHook() async throws {
    let bench = try Bench(.processes)
    let contract = try await bench.load("runtime_shutdown", ["HANGS", "IN_WORKER"])
    let processes = try #require(bench.launcher as? ProcessLauncher)
    let watch = try ProcessWatch(try #require(processes.processID(of: contract.identifier)))
    let begin = SystemClock.now
    #expect(try await bench.shutdown() == 0)
    // The hook gets 5 s, and its worker a little to end in.
    #expect(SystemClock.now - begin < .seconds(30))
    try await watch.ended()
  }

  @Test("40 workers at once start, serve and end") func many() async throws {
    let bench = try Bench(.processes)
    let spec = try Bench.spec(try await CompiledFixtures.plugin("runtime_result"))
    let policy = OpenPolicy()
    let identifier = try TaskIdentifier("test.runtime.result")
    let workers = try (0..<40).map { _ in try bench.worker(spec, policy: policy) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in workers {
        group.addTask {
          let launched = try await Bench.launch(worker)
          #expect(launched.registrations.map(\.identifier) == [identifier])
        }
      }
      try await group.waitForAll()
    }
    #expect(Set(workers.compactMap(\.processID)).count == workers.count)
    let watches = try workers.compactMap(\.processID).map { try ProcessWatch($0) }
    for worker in workers { worker.close() }
    for watch in watches { try await watch.ended() }
  }
}
