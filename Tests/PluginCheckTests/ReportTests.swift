import TestSupport
import Foundation
import Testing

@Suite("Report of plugins check", .timeLimit(.minutes(10)))
struct ReportTests {
  @Test("a good plugin passes everything; the report names the seed and what is registered")
  func passes() async throws {
    let fixture = try await CheckFixture("store", ["WELL_BEHAVED"])
    let result = try await fixture.check(["--json", "--seed", "11"])
    #expect(result.status == 0, "\(result.output)")
    let report = try result.report()
    #expect(report["passed"] as? Bool == true)
    #expect(report["seed"] as? Int == 11)
    let handlers = try #require(report["handlers"] as? [[String: Any]])
    #expect(handlers.map { $0["identifier"] as? String } == ["org.example.fixture"])
    #expect(handlers.first?["version"] as? String == "1.0.0")
    let verdicts = Set(try result.cases().values.compactMap { $0["verdict"] as? String })
    #expect(verdicts == ["passed", "skipped"])
  }

  @Test("the text has a line a case, in the order of the list, and a summary; no colours where it is not a terminal")
  func text() async throws {
    let fixture = try await CheckFixture("result", ["WELL_BEHAVED"])
    let result = try await fixture.check()
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first?.contains(", seed ") == true)
    #expect(lines.last?.hasPrefix("The check has passed: ") == true)
    #expect(!result.output.contains("\u{1B}"))
    let listed = try await CheckProcess.check(["--list"]).output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
    #expect(lines.dropFirst().dropLast().compactMap { $0.split(separator: " ").dropFirst().first } == listed)
  }

  @Test("a failure says what was seen, what the header says, and how to try it again")
  func failure() async throws {
    let fixture = try await CheckFixture("result")
    let result = try await fixture.check(["--case", "run", "--seed", "3"])
    #expect(result.status == 1)
    #expect(result.output.contains("✗ run"))
    #expect(result.output.contains("broken: the handler returned 17"))
    #expect(result.output.contains("The header: a handler returns a taskhost_result"))
    #expect(result.output.contains("taskhost plugins check \(fixture.file) --case run --seed 3"))
  }

  @Test("a seed repeats the random choices")
  func seed() async throws {
    let fixture = try await CheckFixture("payload_crash")
    func place(_ seed: String) async throws -> String {
      let result = try await fixture.check([
        "--case", "payload-damaged", "--payload", "{\"a\":{}}", "--seed", seed, "--json",
      ])
      let findings = try result.cases()["payload-damaged"]?["findings"] as? [[String: Any]]
      return findings?.first?["seen"] as? String ?? "none"
    }
    let places = try await [place("1"), place("1"), place("1")]
    #expect(Set(places).count == 1, "\(places)")
  }

  @Test("a file that the host would refuse fails, and nothing of it runs")
  func refused() async throws {
    let fixture = try await CheckFixture("result")
    try Data("no plugin".utf8).write(to: URL(filePath: fixture.file))
    let result = try await fixture.check(["--json"])
    #expect(result.status == 1)
    let cases = try result.cases()
    #expect(cases["file"]?["verdict"] as? String == "failed")
    #expect(cases["launch"]?["verdict"] as? String == "skipped")
  }

  @Test("a plugin that does not launch fails that case, and what needs a launch is not tried")
  func launchFailure() async throws {
    let fixture = try await CheckFixture("settings", ["WELL_BEHAVED"])
    let result = try await fixture.check(["--case", "run", "--json"])
    #expect(result.status == 1)
    let cases = try result.cases()
    #expect(cases["launch"]?["verdict"] as? String == "failed")
    #expect(cases["run"]?["verdict"] as? String == "skipped")
  }

  @Test("each handler of a plugin is tried, and the report says whose it is")
  func twoHandlers() async throws {
    let fixture = try await CheckFixture("two_handlers")
    let result = try await fixture.check(["--case", "run", "--json"])
    #expect(result.status == 1)
    let cases = try result.report()["cases"] as? [[String: Any]] ?? []
    let verdicts = cases.map { [$0["identifier"] as? String, $0["verdict"] as? String] }
    #expect(verdicts == [["org.example.fixture", "passed"], ["org.example.second", "failed"]])
  }

  @Test("a case that is never over is killed with everything it started")
  func timeout() async throws {
    let fixture = try await CheckFixture("ignores_expiration")
    let result = try await fixture.check(["--case", "expire-in-run", "--grace", "60s", "--timeout", "3s", "--json"])
    #expect(result.status == 1)
    let findings = try #require(try result.cases()["expire-in-run"]?["findings"] as? [[String: Any]])
    #expect(findings.contains { ($0["seen"] as? String)?.contains("had not ended after 3000 ms") == true }, "\(findings)")
  }

  @Test("a check that is interrupted dies of the signal and leaves neither a process nor its folder", arguments: [SIGINT, SIGTERM])
  func interruption(_ number: Int32) async throws {
    let fixture = try await CheckFixture("ignores_expiration")
    let folder = try fixture.write("", to: "unused") + "-tmp"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let check = try LineProgram(
      [try BuiltProgram.taskhost, "plugins", "check", fixture.file, "--case", "expire-in-run", "--grace", "60s"],
      environment: ["TMPDIR": folder])
    // The head of the report is printed before the cases begin.
    let status = try await onThread {
      try check.line()
      check.send(number)
      return try check.end().status
    }
    #expect(status == -number)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
  }

  @Test("a case that is misspelt is answered with the nearest")
  func nearest() async throws {
    let result = try await CheckProcess.check(["x.so", "--case", "expire-in-rnu"])
    #expect(result.status == 2)
    #expect(result.errors.contains("did you mean \"expire-in-run\"?"), "\(result.errors)")
  }

  @Test(
    "what was not understood exits 2",
    arguments: [
      [], ["x.so", "--case", "nonsense"], ["x.so", "--timeout", "soon"], ["x.so", "--jobs", "0"], ["x.so", "--seed", "-1"],
      ["x.so", "--settings", "/nonexistent.json"], ["x.so", "--payload", "@/nonexistent"],
    ])
  func usage(_ arguments: [String]) async throws {
    #expect(try await CheckProcess.check(arguments).status == 2)
  }

  @Test("a case process refuses to be started by hand")
  func byHand() async throws {
    let result = try await CheckProcess.run(try BuiltProgram.taskhost, ["plugins-check-case"])
    #expect(result.status == 2)
    #expect(result.errors.contains("only `taskhost plugins check` starts this"))
  }
}
