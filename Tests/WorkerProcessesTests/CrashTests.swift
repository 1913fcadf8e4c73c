import Foundation
import HostThreads
import LauncherConformance
import TaskModel
import TestSupport
import Testing
import WorkerProcesses

@Suite("A worker that dies") struct CrashTests {
  private func held(_ bench: WorkerBench, _ count: Int) async throws -> (runs: [RunID], probes: [Probe]) {
    let probes = try (0..<count).map { _ in try Probe() }
    let runs = probes.map { bench.start("hold", $0) }
    for probe in probes { try await probe.reached() }
    return (runs, probes)
  }

  @Test("a crash is the run's that its thread served; its neighbours are lost; the next run has a new worker") func crash() async throws {
    let bench = try await WorkerBench()
    let neighbours = try await held(bench, 3)
    let process = try #require(bench.worker.processID)
    let probe = try Probe()
    let end = try await bench.run("crash", probe)
    #expect(end.ending == .crashed)
    #expect(end.report.message == "its worker crashed: SIGSEGV at address 0x8")
    #expect(end.report.trouble?.contains("SIGSEGV") == true)
    #expect(end.report.trouble?.contains("worker_actions") == true, "\(end.report.trouble ?? "none")")
    #expect((end.report.peakMemory ?? 0) > 0)
    for run in neighbours.runs {
      let other = try await bench.recorder.end(of: run)
      #expect(other.ending == .lost)
      #expect(other.report.incident == end.report.incident)
      #expect(other.report.trouble == nil)
    }
    #expect(end.report.incident != nil)
    #expect(try await bench.processOfNextRun() != process)
  }

  @Test("a plugin that ends the process is named by it", arguments: [("exit", 7), ("_exit", 8)])
  func exits(_ action: String, _ status: Int) async throws {
    let bench = try await WorkerBench()
    let neighbours = try await held(bench, 1)
    let end = try await bench.run(action, try Probe())
    #expect(end.ending == .crashed)
    #expect(end.report.message == "its worker called exit(\(status))")
    #expect(try await bench.recorder.end(of: neighbours.runs[0]).ending == .lost)
    _ = try await bench.processOfNextRun()
  }

  @Test("where no run is named all that had begun have crashed, by one incident; those that waited for a slot are given back")
  func unnamed() async throws {
    let bench = try await WorkerBench(concurrent: 2)
    let held = try await held(bench, 2)
    let waiting = bench.start("pid", try Probe())
    let process = try #require(bench.worker.processID)
    kill(process, SIGKILL)
    var incidents: Set<UInt64?> = []
    for run in held.runs {
      let end = try await bench.recorder.end(of: run)
      #expect(end.ending == .crashed)
      #expect(end.report.message == "its worker was killed by SIGKILL")
      incidents.insert(end.report.incident)
    }
    try await bench.recorder.withdrawal(of: waiting)
    #expect(incidents.count == 1)
    #expect(try await bench.processOfNextRun() != process)
    // The next mishap has another number.
    let other = try await bench.run("crash", try Probe())
    #expect(!incidents.contains(other.report.incident))
  }

  @Test("a run that was sent to a free place, and whose handler was not called, is given back")
  func sentAndNotBegun() async throws {
    let bench = try await WorkerBench(concurrent: 4)
    let held = try await held(bench, 1)
    let process = try #require(bench.worker.processID)
    try await stop(process)
    let sent = try (0..<2).map { _ in bench.start("pid", try Probe()) }
    kill(process, SIGKILL)
    #expect(try await bench.recorder.end(of: held.runs[0]).ending == .crashed)
    for run in sent { try await bench.recorder.withdrawal(of: run) }
    _ = try await bench.processOfNextRun()
    let told = bench.recorder.all.filter { if case .ended(let run, _, _) = $0 { sent.contains(run) } else { false } }
    #expect(told.isEmpty)
  }

  /// Stops all threads of a process.
  private func stop(_ process: pid_t) async throws {
    kill(process, SIGSTOP)
    try await onThread {
      let deadline = SystemClock.now + .seconds(60)
      let folder = "/proc/\(process)/task"
      while try !FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy({ thread in
        (try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8))?.contains(") T ") ?? true
      }) {
        guard SystemClock.now < deadline else { throw TestFailure("\(process) does not stop") }
        sched_yield()
      }
    }
  }

  @Test("a worker that is killed while it is idle costs nothing") func killedIdle() async throws {
    let bench = try await WorkerBench()
    for _ in 0..<5 {
      let process = try await bench.processOfNextRun()
      let watch = try ProcessWatch(process)
      kill(process, SIGKILL)
      try await watch.ended()
      // Before the host knows, and after.
      let end = try await bench.run("pid", try Probe())
      #expect(end.ending == .returned(.success, stop: nil) || end.ending == .lost || end.ending == .crashed, "\(end.ending)")
    }
    _ = try await bench.processOfNextRun()
  }

  @Test("a worker that is stopped by a signal is killed when the grace is over", arguments: [false, true])
  func stopped(expiredByHost: Bool) async throws {
    let bench = try await WorkerBench(grace: .milliseconds(100))
    let probe = try Probe()
    var order = bench.order("stop", probe)
    order.contract.budget = expiredByHost ? nil : .milliseconds(200)
    bench.bench.launcher.start([order])
    try await probe.reached()
    if expiredByHost { bench.bench.launcher.expire(order.run, reason: .cancelled) }
    let end = try await bench.recorder.end(of: order.run)
    #expect(end.ending == .forced(expiredByHost ? .cancelled : .budget))
    #expect(end.report.stopStage == .killed)
    _ = try await bench.processOfNextRun()
  }

  @Test("its children die with it, killed with the group before its number is free", arguments: ["crash", "force", "idle"])
  func group(_ cause: String) async throws {
    let bench = try await WorkerBench(exec: true)
    let probe = try Probe()
    let run = bench.start(cause == "force" ? "spawn+hold" : "spawn", probe)
    if cause == "force" {
      try await probe.reached()
    } else {
      let end = try await bench.recorder.end(of: run)
      try #require(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    }
    let child = try ProcessWatch(pid_t(truncatingIfNeeded: probe[1]))
    switch cause {
    case "crash": _ = try await bench.run("crash", try Probe())
    case "force": bench.bench.launcher.force(run, reason: .cancelled)
    default: bench.worker.retire()
    }
    try await child.ended("the child of a worker")
  }

  @Test("the end of a process that it forks is not taken for its own") func forked() async throws {
    let bench = try await WorkerBench(exec: true)
    let end = try await bench.run("fork", try Probe())
    try #require(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    let crash = try await bench.run("crash", try Probe())
    #expect(crash.report.message == "its worker crashed: SIGSEGV at address 0x8")
  }

  @Test("a program that it starts does not get its link") func inheritance() async throws {
    let bench = try await WorkerBench(exec: true)
    let probe = try Probe()
    let end = try await bench.run("spawn", probe)
    try #require(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    func sockets(of process: Int64) throws -> Int {
      let folder = "/proc/\(process)/fd"
      return try FileManager.default.contentsOfDirectory(atPath: folder).filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0))?.hasPrefix("socket:") == true
      }.count
    }
    #expect(try sockets(of: probe[1]) == 0)
    // The twin: the worker itself has its link.
    #expect(try sockets(of: probe[0]) == 1)
  }

  @Test("a worker that must not start programs cannot") func noChildren() async throws {
    let bench = try await WorkerBench()
    let end = try await bench.run("spawn", try Probe())
    #expect(end.ending == .returned(.failure, stop: nil))
    #expect(end.report.message?.contains("Operation not permitted") == true, "\(end.report.message ?? "")")
  }
}
