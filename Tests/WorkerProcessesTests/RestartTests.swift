import TestSupport
import Foundation
import LauncherConformance
import TaskModel
import Testing
import WorkerProcesses

@Suite("A worker that does not come back") struct RestartTests {
  @Test(
    "a launch that goes wrong when a run needs it costs the runs that waited for it, and the next run tries again",
    arguments: [
      ("crash", "its worker could not be started: its worker crashed: SIGSEGV at address 0x8 while it was loaded or launched"),
      ("exit", "its worker could not be started: its worker called exit(3) while it was loaded or launched"),
      ("_exit", "its worker could not be started: its worker called exit(4) while it was loaded or launched"),
      ("hang", "its worker could not be started: taskhost_plugin_launch took longer than the launch budget of 500 ms"),
      ("stop", "its worker could not be started: it did not answer within the launch budget of 500 ms"),
      (
        "other",
        "its worker could not be started: its registration was refused: it registered something else than at the host's launch"
      ),
    ])
  func launch(_ action: String, _ message: String) async throws {
    let bench = try await WorkerBench { $0.launchBudget = .milliseconds(500) }
    let watch = try ProcessWatch(try #require(bench.worker.processID))
    bench.worker.retire()
    try await watch.ended()
    try bench.setLaunch(action)
    let orders = [bench.order("pid", try Probe()), bench.order("pid", try Probe())]
    bench.bench.launcher.start(orders)
    var incidents: Set<UInt64?> = []
    for order in orders {
      let end = try await bench.recorder.end(of: order.run)
      #expect(end.ending == .crashed)
      #expect(end.report.message?.hasPrefix(message) == true, "\(end.report.message ?? "")")
      incidents.insert(end.report.incident)
    }
    #expect(incidents.count == 1)
    #expect(incidents.first != .some(nil))
    try bench.setLaunch("")
    // Whether the launch that failed is gone by now or not.
    _ = try await bench.processOfNextRun()
  }

  @Test("a first launch that goes wrong is a refusal that says how", arguments: ["crash", "exit", "hang", "stop"])
  func first(_ action: String) async throws {
    let file = TestFolder.newFile()
    try action.write(toFile: file, atomically: true, encoding: .utf8)
    do {
      _ = try await WorkerBench {
        $0.launchBudget = .milliseconds(500)
        $0.environment = ["LAUNCH_FILE=\(file)"]
      }
      Issue.record("it launched")
    } catch let failure as LaunchFailure {
      #expect(failure.step == (["crash", "exit"].contains(action) ? .crashed : .timeout), "\(failure)")
    }
  }

  @Test("a program that is not there is the host's trouble: runs are given back") func noProgram() async throws {
    let folder = TestFolder.newFile()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let program = folder + "/taskhost-worker"
    try FileManager.default.createSymbolicLink(atPath: program, withDestinationPath: try BuiltProgram.worker)
    let bench = try await WorkerBench { $0.executable = program }
    let watch = try ProcessWatch(try #require(bench.worker.processID))
    try FileManager.default.removeItem(atPath: program)
    bench.worker.retire()
    try await watch.ended()
    let shortage = try await bench.recorder.withdrawal(of: bench.start("pid", try Probe()))
    #expect(
      shortage == "its worker could not be started: \(program) could not be started: No such file or directory", "\(shortage ?? "")")
    try FileManager.default.createSymbolicLink(atPath: program, withDestinationPath: try BuiltProgram.worker)
    _ = try await bench.processOfNextRun()
    try await bench.recorder.until("relief") { events in events.contains { if case .relieved = $0 { true } else { false } } }
  }

  @Test("a run that is stopped while its worker starts ends once and is not begun", arguments: [false, true])
  func stoppedWhileStarting(forced: Bool) async throws {
    let bench = try await WorkerBench { $0.launchBudget = .seconds(2) }
    let watch = try ProcessWatch(try #require(bench.worker.processID))
    bench.worker.retire()
    try await watch.ended()
    try bench.setLaunch("hang")
    let probe = try Probe()
    let run = bench.start("pid", probe)
    if forced {
      bench.bench.launcher.force(run, reason: .cancelled)
    } else {
      bench.bench.launcher.expire(run, reason: .cancelled)
    }
    let end = try await bench.recorder.end(of: run)
    #expect(end.ending.outcome == .cancelled)
    #expect(probe[0] == 0)
    try bench.setLaunch("")
  }
}
