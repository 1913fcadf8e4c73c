import CTaskHost
import LauncherConformance
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Progress") struct ProgressTests {
  @Test("progress moves the deadline of continued work; without it the run expires as stalled") func stall() async throws {
    let bench = try Bench { services, recorder in
      try ThreadLauncher(services: services, stallLimit: { $0.stallLimit.map { _ in .milliseconds(400) } }, sink: { recorder.receive($0) })
    }
    let probe = try Probe()
    probe[20] = 50
    let contract = try await bench.load("runtime_progress", budget: nil)
    let end = try await bench.run(contract, payload: probe.payload)
    #expect(end.ending == .returned(.retry, stop: .stalled), "\(end.report.message ?? "")")
    #expect(probe[0] == TASKHOST_STOP_STALLED)
    // 50 steps of 20 ms, each before the 400 ms were over, and then 400 ms.
    #expect(probe[1] >= 1380)
    #expect((1...400).contains(probe[2]))
    #expect(end.report.progress == RunProgress(completed: 50, total: 0))
  }
}
