import LauncherConformance
import TaskModel
import Testing
import WorkerLink
import WorkerProcesses

/// A launcher whose worker follows a script.
struct ScriptedBench {
  let bench: Bench

  init() throws { bench = try Bench(.processes) }

  func launch(_ script: Script) async throws -> PluginWorker {
    let worker = try bench.worker(try await script.spec())
    let launched = try await Bench.launch(worker)
    worker.adopt(launched.registrations, contracts: [.scripted])
    try bench.add(worker, .scripted)
    return worker
  }

  /// Launches the script, starts a run in it, and waits for the end of both.
  ///
  /// - Parameter tellsBegin: Whether its begin is to be told.
  func start(_ make: (inout Script, RunID) -> Void, payload: [UInt8] = [], tellsBegin: Bool = false) async throws -> Recorder.End {
    var order = bench.order(.scripted)
    (order.payload, order.tellsBegin) = (payload, tellsBegin)
    var script = Script.launched
    // The contracts and the start.
    script.receive(2)
    make(&script, order.run)
    let worker = try await launch(script)
    let watch = try ProcessWatch(try #require(worker.processID))
    bench.launcher.start([order])
    let end = try await bench.recorder.end(of: order.run)
    try await watch.ended()
    return end
  }
}

/// The worker was killed for that, and its run has crashed.
func expectViolation(_ end: Recorder.End, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(end.ending == .crashed, sourceLocation: sourceLocation)
  #expect(
    end.report.message?.hasPrefix("its worker was killed: \(what)") == true, "\(end.report.message ?? "")", sourceLocation: sourceLocation)
  #expect(end.report.incident != nil, sourceLocation: sourceLocation)
}
