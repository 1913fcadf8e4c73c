import TestSupport
import Foundation
import Glibc
import Testing

/// Runs that end by themselves: results, what a run leaves behind, what it learns.
@Suite("Runs", .timeLimit(.minutes(20)))
struct RunTests {
  @Test("55: each result gives its outcome, its request's state and its exit code")
  func results() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      let table: [(result: Int, outcome: String, state: String, exit: Int32)] = [
        (0, "succeeded", "succeeded", 0), (1, "noop", "succeeded", 0), (3, "retried", "failed", 1), (4, "failed", "failed", 1),
        (5, "failed", "failed", 1), (-1, "failed", "failed", 1), (2_147_483_647, "failed", "failed", 1),
      ]
      for row in table {
        let answer = try await host.cli("submit", "test.script", "--payload", "\"result \(row.result)\"", "--wait", "--json")
        #expect(answer.status == row.exit, "result \(row.result): \(answer.errors)")
        let json = try answer.json()
        #expect(json["run"]?["outcome"]?.string == row.outcome, "result \(row.result)")
        let id = try #require(json["submission"]?["id"]?.string)
        let request = try await host.json("tasks", "show", id)
        #expect(request["state"]?.string == row.state, "result \(row.result)")
        if !(0...4).contains(row.result) {
          #expect(json["run"]?["message"]?.string?.contains("\(row.result)") == true, "a result out of range has a message: \(json)")
        }
      }
    }
  }

  @Test("a snoozing run comes again and spends no attempt", arguments: Isolation.allCases)
  func snooze(_ isolation: Isolation) async throws {
    try await HostProcess.run("[retry]\nattempts = 2\n", isolation: isolation) { host in
      let answer = try await host.run("retry-after 20;snooze-times 3")
      #expect(answer["outcome"]?.string == "succeeded")
      let id = try #require(answer["submission"]?["id"]?.string)
      let runs = try await host.runs(of: id)
      #expect(runs.compactMap { $0["outcome"]?.string } == ["succeeded", "snoozed", "snoozed", "snoozed"])
      #expect(runs.allSatisfy { $0["attempt"]?.integer == 1 })
      #expect(try await host.json("tasks", "show", id)["attempts_spent"]?.integer == 0)
    }
  }

  @Test("a retrying run comes again with backoff and one attempt spent, and succeeds at last", arguments: Isolation.allCases)
  func retryThenSucceed(_ isolation: Isolation) async throws {
    try await HostProcess.run("[retry]\nattempts = 5\nbackoff = \"linear\"\ninitial = \"200ms\"\nmaximum = \"10s\"\n", isolation: isolation)
    { host in
      let answer = try await host.run("message not yet;result-until 3 3")
      #expect(answer["outcome"]?.string == "succeeded")
      let id = try #require(answer["submission"]?["id"]?.string)
      let runs = try await host.runs(of: id)
      #expect(runs.compactMap { $0["outcome"]?.string } == ["succeeded", "retried", "retried"])
      #expect(runs.compactMap { $0["attempt"]?.integer } == [3, 2, 1])
      #expect(runs.last?["message"]?.string == "not yet")
      // 200 ms and 400 ms, 20 % jitter either way.
      let starts = runs.reversed().compactMap { $0["started_unix_ms"]?.integer }
      let ends = runs.reversed().compactMap { $0["ended_unix_ms"]?.integer }
      #expect(starts[1] - ends[0] >= 160 && starts[2] - ends[1] >= 320, "\(starts) \(ends)")
    }
  }

  @Test(
    "a request whose attempts are spent is a dead letter, and tasks retry revives it with all its attempts", arguments: Isolation.allCases)
  func attemptsSpent(_ isolation: Isolation) async throws {
    try await HostProcess.run("[retry]\nattempts = 3\ninitial = \"100ms\"\nmaximum = \"100ms\"\n", isolation: isolation) { host in
      let answer = try await host.run("message never;result 3")
      #expect(answer["outcome"]?.string == "failed")
      let id = try #require(answer["submission"]?["id"]?.string)
      #expect(try await host.runs(of: id).count == 3)
      #expect(try await host.json("tasks", "show", id)["attempt"]?.integer == 3)
      #expect(try await host.json("tasks", "retry", id)["state"]?.string == "pending")
      try await host.request(id, is: "failed")
      #expect(try await host.runs(of: id).count == 6)
    }
  }

  @Test("retry_after wins over backoff", arguments: Isolation.allCases)
  func retryAfter(_ isolation: Isolation) async throws {
    try await HostProcess.run("[retry]\ninitial = \"1h\"\nmaximum = \"1h\"\n", isolation: isolation) { host in
      let answer = try await host.run("retry-after 30;result-until 2 3")
      #expect(answer["outcome"]?.string == "succeeded")
    }
  }

  @Test("a run knows its identifier, request, attempt, time and limits", arguments: Isolation.allCases)
  func facts(_ isolation: Isolation) async throws {
    try await HostProcess.run("[plugin.\"test.script\"]\nbudget = \"20s\"\ngrace = \"3s\"\n", isolation: isolation) { host in
      let answer = try await host.run("facts;sleep 20")
      let facts = try #require(answer["run"]?["output"])
      #expect(facts["identifier"]?.string == "test.script")
      #expect(facts["request_id"]?.string == answer["submission"]?["id"]?.string)
      #expect(facts["attempt"]?.integer == 1)
      #expect((1...20_000).contains(facts["remaining"]?.integer ?? 0))
      #expect(facts["grace"]?.integer == 3000)
      #expect(facts["is_expired"]?.integer == 0)
      #expect(facts["stop_reason"]?.integer == 0)
      #expect(abs((facts["now"]?.integer ?? 0) - Int64(Date.now.timeIntervalSince1970 * 1000)) < 60_000)
      #expect(facts["sleep"]?.integer == 0)
      #expect((answer["run"]?["duration_ms"]?.integer ?? 0) >= 20)
    }
  }

  @Test("68: output, message, log lines and progress are kept with the run", arguments: Isolation.allCases)
  func records(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let answer = try await host.run("log 2 first line;log 4 second line;progress 3 10;progress 50 10;message all is well;output {}")
      let run = try #require(answer["run"])
      #expect(run["message"]?.string == "all is well")
      #expect(run["output"] == .object([:]))
      #expect(run["progress"]?["completed"]?.integer == 10, "completed above total is recorded as total")
      #expect(run["progress"]?["total"]?.integer == 10)
      #expect(run["expired"]?.bool == false)
      #expect(run["ended"] != nil && run["started"] != nil)
      let id = try #require(run["id"]?.string)
      let lines = try await host.json("runs", "logs", id)["lines"]?.array ?? []
      #expect(lines.compactMap { $0["message"]?.string } == ["first line", "second line"])
      #expect(lines.compactMap { $0["level"]?.string } == ["info", "warning"])
      #expect(try await host.json("runs", "show", id)["message"]?.string == "all is well")
    }
  }

  @Test("67: control characters in a log line reach neither the host's log nor the listing", arguments: Isolation.allCases)
  func logInjection(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let payload = host.directory("payload")
      try Data("log 2 a\u{1B}[31mb\u{7}c".utf8).write(to: URL(filePath: payload))
      let answer = try await host.json("submit", "test.script", "--payload", "@" + payload, "--wait")
      let id = try #require(answer["run"]?["id"]?.string)
      let shown = try await host.cli("runs", "logs", id)
      #expect(!shown.output.contains("\u{1B}") && !shown.output.contains("\u{7}"), "\(shown.output)")
      #expect(shown.output.contains("a") && shown.output.contains("b"))
      #expect(!host.current.lines.contains { $0.contains("\u{1B}") || $0.contains("\u{7}") })
    }
  }

  @Test(
    "payload bytes reach the handler exactly",
    arguments: ["{ \"b\" : 1.50,\n \"a\":[ ] }", "not json at all", "\u{0}\u{1}\u{7F}zero and control", "\"\\u00e9 é 🙂\"", ""])
  func payloadBytes(_ text: String) async throws {
    try await HostProcess.prepare { host in
      try await host.add("echo.so", "script", ["-DIDENTIFIER=\"test.echo\"", "-DALWAYS_ECHO"])
      try host.configure("")
      try await host.start()
      let bytes = Data(text.utf8) + Data(text.isEmpty ? [] : [0x0A])
      let result = try await host.cli(["submit", "test.echo", "--payload", "@-", "--wait"], input: bytes)
      #expect(result.status == 0, "\(result.errors)")
      // The output is printed as written, with a line end behind it.
      let printed = Data(result.output.utf8)
      #expect(printed == bytes || printed == bytes + Data([0x0A]), "\(result.output.debugDescription)")
    }
  }

  @Test("70 76: 64 KiB of payload and output are taken, one byte more is refused", arguments: Isolation.allCases)
  func payloadLimit(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("echo.so", "script", ["-DIDENTIFIER=\"test.echo\"", "-DALWAYS_ECHO"])
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      let most = Data(repeating: UInt8(ascii: "x"), count: 65_536)
      let taken = try await host.cli(["submit", "test.echo", "--payload", "@-", "--wait"], input: most)
      #expect(taken.status == 0, "\(taken.errors)")
      #expect(taken.output.utf8.count >= 65_536 && taken.output.utf8.count <= 65_537)
      let refused = try await host.cli(["submit", "test.echo", "--payload", "@-"], input: most + Data([0x78]))
      #expect(refused.status == 6)
      #expect(refused.errors.contains("65537") || refused.errors.contains("65536"), "\(refused.errors)")
      // The same limit for a plugin's own submissions and its output: ETOOBIG.
      #expect(try await host.run("submit-bytes 65537")["run"]?["output"]?["submit"]?.integer == -7)
      #expect(try await host.run("output-bytes 65537")["run"]?["output"]?["output"]?.integer == -7)
    }
  }

  @Test("as many runs at once as the plugin allows are really at once, and the next one waits and says why", arguments: Isolation.allCases)
  func concurrency(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation, script: ["-DMAX_RUNS=16"]) { host in
      let gates = try (0..<16).map { try host.directory.fifo("gate\($0)") }
      var ids: [String] = []
      for gate in gates { ids.append(try await host.submit("gate \(gate.path)")) }
      for gate in gates { try await gate.arrival() }
      let status = try await host.json("status")
      #expect(status["running"]?.integer == 16)
      let next = try await host.submit("result 0")
      let why = try await host.json("tasks", "why", next)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains("busy: 16 of 16") }, "\(why)")
      #expect(try await host.json("tasks", "list", "--state", "running")["requests"]?.array.count == 16)
      for gate in gates { gate.release() }
      for id in ids + [next] { try await host.request(id, is: "succeeded") }
    }
  }

  @Test("56: a thread that a plugin left behind is answered ESTALE by every call, and the host lives", arguments: Isolation.allCases)
  func staleHandle(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let (gate, answer) = (try host.directory.fifo("gate"), try host.directory.fifo("answer"))
      let run = try await host.run("leave \(gate.path) \(answer.path)")
      #expect(run["outcome"]?.string == "succeeded")
      try await gate.pass()
      let told = try JSON(parsing: try await answer.read())
      let stale = [
        "payload", "handler", "progress", "log", "output", "message", "retry_after", "sleep", "state_get", "state_set", "checkpoint_get",
        "checkpoint_set", "submit", "cancel", "zero", "random",
      ]
      for call in stale { #expect(told[call]?.integer == -5, "\(call): \(told)") }
      #expect(told["identifier"]?.string == "" && told["request_id"]?.string == "")
      #expect(told["attempt"]?.integer == 0 && told["grace"]?.integer == 0 && told["now"]?.integer == 0)
      #expect(told["remaining_is_min"]?.integer == 1 && told["is_expired"]?.integer == 1)
      #expect(told["stop_reason"]?.integer == 0 && told["fd"]?.integer == -1)
      #expect(told["late"]?.integer == -2)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }
}
