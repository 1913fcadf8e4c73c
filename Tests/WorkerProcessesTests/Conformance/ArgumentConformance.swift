import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: arguments and handles") struct ArgumentConformance {
  @Test("NULL, wrong sizes and numbers out of range are refused in every argument", arguments: Isolation.allCases)
  func hostile(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_null")
    let end = try await bench.run(contract, payload: [])
    #expect(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    #expect(end.report.output.isEmpty)
    #expect(end.report.progress == RunProgress(completed: 7, total: 7))
    // The largest number means for ever; over the link durations end at 292 years.
    #expect(end.report.retryAfter == (isolation == .threads ? .milliseconds(Int64.max) : .nanoseconds(Int64.max)))
    #expect(bench.services.submitted.map(\.payload.count).max() == 65_536)
  }

  @Test("log lines are escaped, cut at 8 KiB and marked, and the last 100 are kept", arguments: Isolation.allCases)
  func logs(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_log")
    let end = try await bench.run(contract, payload: [])
    #expect(end.ending == .returned(.retry, stop: nil), "\(end.report.message ?? "")")
    let lines = bench.recorder.all.compactMap { event -> LogLine? in if case .log(_, let line) = event { line } else { nil } }
    try #require(lines.count == 205)
    #expect(lines[0].message == "one\\ntwo\\u{1b}[31m\\r\\ttab")
    #expect(lines[0].level == .info)
    #expect(lines[1].message.hasPrefix("bad \u{FFFD}"))
    #expect(lines[1].message.hasSuffix("( end"))
    #expect(lines[2].message == String(repeating: "x", count: 8192))
    let mark = " … (cut at 8192 bytes)"
    #expect(lines[3].message == String(repeating: "x", count: 8192) + mark)
    #expect(lines[4].message.hasSuffix(mark))
    #expect(lines[4].message.utf8.count <= 8192 + mark.utf8.count)
    #expect(lines[4].level == .error)
    #expect(end.report.message == "x" + String(repeating: "é", count: 4095) + mark)
    #expect(end.report.log.count == Limits.keptLogLines)
    #expect(end.report.log.allSatisfy { $0.message == "many" })
  }

  @Test("stale, foreign and random handles are refused by every function and touch nothing", arguments: Isolation.allCases)
  func stale(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_stale", ["\(isolation)".uppercased()])
    for result in [TaskResult.noop, .success, .success] {
      let end = try await bench.run(contract, payload: [])
      #expect(end.ending == .returned(result, stop: nil), "\(end.report.message ?? "")")
      #expect(end.report.log.isEmpty)
      #expect(end.report.output.isEmpty)
    }
    #expect(bench.services.submitted.isEmpty)
  }

  @Test("a thread that a plugin left behind in the host's sleep wakes when the run is over", arguments: Isolation.allCases)
  func leftBehind(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_left_behind")
    let run = bench.start(contract, probe)
    try await probe.reached()
    probe.release()
    _ = try await bench.recorder.end(of: run)
    try await probe.reached()
    #expect(probe[0] == CallFailure.Status.stale.rawValue)
    #expect(probe[1] == CallFailure.Status.stale.rawValue)
  }
}
