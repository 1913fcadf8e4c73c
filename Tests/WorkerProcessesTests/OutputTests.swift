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
    #expect(lines.allSatisfy { $0.level == .warning && $0.stream == .stderr })
  }

  @Test("what a run prints is its own, in time, the end of a line or not, and told apart from what it logs") func printed() async throws {
    let bench = try await WorkerBench(concurrent: 1)
    for _ in 0..<20 {
      let end = try await bench.run("print", try Probe())
      #expect(end.ending == .returned(.success, stop: nil))
      #expect(end.report.log.map(\.message) == ["a whole line", "half a line"])
      #expect(end.report.log.allSatisfy { $0.stream == .stdout && $0.level == .info })
    }
  }

  @Test("what a plugin prints while it launches is no run's, an unfinished line neither") func printedAtLaunch() async throws {
    let bench = try await WorkerBench(concurrent: 1)
    let watch = try ProcessWatch(try #require(bench.worker.processID))
    bench.worker.retire()
    try await watch.ended()
    try bench.setLaunch("print")
    let end = try await bench.run("print", try Probe())
    #expect(end.report.log.map(\.message) == ["a whole line", "half a line"])
    let printed = bench.recorder.all.compactMap { event -> LogLine? in
      if case .output(_, let line) = event { line } else { nil }
    }
    #expect(printed.map(\.message) == ["whole at launch", "half at launch"])
    #expect(printed.allSatisfy { $0.stream == .stdout })
  }

  @Test("what was printed reaches the log before a crash, and before an exit with a line that is not finished") func lastWords()
    async throws
  {
    let bench = try await WorkerBench(concurrent: 1)
    let crashed = try await bench.run("print+crash", try Probe())
    #expect(crashed.ending == .crashed)
    #expect(crashed.report.log.map(\.message) == ["a whole line"])
    let exited = try await bench.run("print+exit", try Probe())
    #expect(exited.ending == .crashed)
    #expect(exited.report.log.map(\.message) == ["a whole line", "half a line"])
  }

  @Test("where several runs are live, what one prints is the plugin's") func printedBySeveral() async throws {
    let bench = try await WorkerBench()
    let probe = try Probe()
    let held = bench.start("hold", probe)
    try await probe.reached()
    let end = try await bench.run("print", try Probe())
    #expect(end.report.log.isEmpty)
    let identifier = bench.contract.identifier
    try await bench.recorder.until("what it printed") { events in
      events.contains {
        if case .output(identifier, let line) = $0 { line.message == "a whole line" && line.stream == .stdout } else { false }
      }
    }
    #expect(lines(bench, of: held).isEmpty)
    probe.release()
  }

  @Test("lines beyond a burst of 500 are dropped and counted") func rate() async throws {
    let bench = try await WorkerBench()
    _ = try await bench.run("lines", try Probe())
    bench.worker.retire()
    try await bench.recorder.until("all 5,000 lines") { events in count(everything(events)) == 5000 }
    let kept = everything(bench.recorder.all).filter { $0.message.hasPrefix("line ") }
    #expect((500...2500).contains(kept.count))
    #expect(kept.prefix(500).map(\.message) == (0..<500).map { "line \($0)" })
    #expect(kept.allSatisfy { $0.level == .info && $0.stream == .stdout })
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
    #expect(lines.map(\.message) == [String(repeating: "x", count: 8192) + " … (cut at 8192 bytes)"])
  }
}
