import CTaskHost
import TaskModel
import Testing

@Suite("Progress") struct ProgressTests {
  @Test("progress moves the deadline of continued work; without it the run expires as stalled") func stall() async throws {
    let bench = try Bench(stallLimit: .milliseconds(400))
    let probe = try Probe()
    probe[20] = 50
    let contract = try await bench.load("runtime_progress", budget: nil)
    let run = bench.start(contract, probe)
    let end = try await bench.recorder.end(of: run)
    #expect(end.ending == .returned(.retry, stop: .stalled), "\(end.report.message ?? "")")
    #expect(probe[0] == TASKHOST_STOP_STALLED)
    // 50 steps of 20 ms, each before the 400 ms were over, and then 400 ms.
    #expect(probe[1] >= 1380)
    #expect((1...400).contains(probe[2]))
    #expect(end.report.progress == RunProgress(completed: 50, total: 0))
  }

  @Test("continued work with a budget expires at that, however it gets on") func budget() async throws {
    let bench = try Bench(stallLimit: .seconds(60))
    let probe = try Probe()
    probe[20] = .max
    let contract = try await bench.load("runtime_progress", budget: .milliseconds(150))
    #expect(try await bench.recorder.end(of: bench.start(contract, probe)).ending == .returned(.retry, stop: .budget))
  }
}
