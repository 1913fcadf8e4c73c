import TaskModel
import Testing

@Suite("Arguments") struct ArgumentTests {
  @Test("NULL, wrong sizes and numbers out of range are refused in every argument") func hostile() async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_null")
    let end = try await bench.recorder.end(of: bench.start(contract, payload: []))
    #expect(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    #expect(end.report.output.isEmpty)
    #expect(end.report.progress == RunProgress(completed: 7, total: 7))
    #expect(end.report.retryAfter == .milliseconds(Int64.max))
    #expect(bench.services.submitted.map(\.payload.count).max() == 65_536)
  }

  @Test("log lines are escaped, cut at 8 KiB and marked, and the last 100 are kept") func logs() async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_log")
    let end = try await bench.recorder.end(of: bench.start(contract, payload: []))
    #expect(end.ending == .returned(.retry, stop: nil), "\(end.report.message ?? "")")
    let lines = bench.recorder.all.compactMap { event -> LogLine? in if case .log(_, let line) = event { line } else { nil } }
    #expect(lines.count == 205)
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
}
