import LauncherConformance
import TaskModel
import Testing
import WorkerProcesses

@Suite("A worker's output") struct OutputTests {
  private func lines(_ bench: WorkerBench, of run: RunID) -> [LogLine] {
    bench.recorder.all.compactMap { event in
      if case .log(let reference, let line) = event, reference.run == run { line } else { nil }
    }
  }

  /// Everything that any run or the plugin said.
  private func everything(_ events: [LauncherEvent]) -> [LogLine] {
    events.compactMap { event in
      switch event {
      case .log(_, let line), .output(_, let line): line
      default: nil
      }
    }
  }

  @Test("standard error is a warning a line, escaped, the last without an end too") func errors() async throws {
    let bench = try await WorkerBench()
    _ = try await bench.run("errors", try Probe())
    bench.worker.retire()
    try await bench.recorder.until("three lines") { events in everything(events).count >= 3 }
    let lines = everything(bench.recorder.all)
    #expect(lines.map(\.message) == ["first", "se\\u{1b}[31mcond", "no end"])
    #expect(lines.allSatisfy { $0.level == .warning })
  }

  @Test("lines beyond a burst of 500 are dropped and counted") func rate() async throws {
    let bench = try await WorkerBench()
    _ = try await bench.run("lines", try Probe())
    bench.worker.retire()
    try await bench.recorder.until("all 5,000 lines") { events in count(everything(events)) == 5000 }
    let kept = everything(bench.recorder.all).filter { $0.message.hasPrefix("line ") }
    #expect((500...2500).contains(kept.count))
    #expect(kept.prefix(500).map(\.message) == (0..<500).map { "line \($0)" })
    #expect(kept.allSatisfy { $0.level == .info })
  }

  /// Lines kept and lines said to be dropped.
  private func count(_ lines: [LogLine]) -> Int {
    lines.reduce(0) { sum, line in
      if line.message.hasPrefix("line ") { return sum + 1 }
      return sum + (line.message.split(separator: " ").first.flatMap { Int($0) } ?? 0)
    }
  }

  @Test("10 MiB without the end of a line are one line, cut at 8 KiB") func flood() async throws {
    let bench = try await WorkerBench()
    let end = try await bench.run("flood", try Probe())
    #expect(end.ending == .returned(.success, stop: nil))
    bench.worker.retire()
    try await bench.recorder.until("a line") { events in !everything(events).isEmpty }
    let lines = everything(bench.recorder.all)
    #expect(lines.map(\.message) == [String(repeating: "x", count: 8192) + " … (cut)"])
  }
}
