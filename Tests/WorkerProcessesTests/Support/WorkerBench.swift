import TestSupport
import Foundation
import LauncherConformance
import TaskModel
import WorkerProcesses

/// A launcher of processes with the plugin `worker_actions` in it, and its worker.
struct WorkerBench {
  let bench: Bench
  let worker: PluginWorker
  let contract: HandlerContract
  /// What the plugin does the next time it launches is in this file.
  let launchFile: String

  var recorder: Recorder { bench.recorder }

  init(
    concurrent: Int = 64, grace: Duration = .seconds(600), exec: Bool = false, change: (inout WorkerSpec) -> Void = { _ in }
  ) async throws {
    bench = try Bench(.processes)
    launchFile = TestFolder.newFile()
    var spec = try Bench.spec(try await CompiledFixtures.plugin("worker_actions"), exec: exec)
    spec.environment.append("LAUNCH_FILE=\(launchFile)")
    change(&spec)
    worker = try bench.worker(spec)
    contract = try bench.add(try await Bench.launch(worker), grace: grace, concurrent: concurrent)
  }

  func order(_ action: String, _ probe: Probe) -> RunOrder { bench.order(contract, payload: probe.payload(action)) }

  @discardableResult func start(_ action: String, _ probe: Probe) -> RunID { bench.start(contract, payload: probe.payload(action)) }

  func run(_ action: String, _ probe: Probe) async throws -> Recorder.End {
    try await bench.run(contract, payload: probe.payload(action))
  }

  /// The process that serves a run now.
  func processOfNextRun() async throws -> pid_t {
    let probe = try Probe()
    let end = try await run("pid", probe)
    guard end.ending == .returned(.success, stop: nil) else { throw TestFailure("\(end)") }
    return pid_t(truncatingIfNeeded: probe[0])
  }

  /// What the plugin does when it launches from now on.
  func setLaunch(_ action: String) throws { try action.write(toFile: launchFile, atomically: true, encoding: .utf8) }
}
