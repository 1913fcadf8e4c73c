import TestSupport
import Foundation
import Testing

/// The commands of a person at a shell.
@Suite("Command line", .timeLimit(.minutes(20)))
struct CommandLineTests {
  @Test("submit prints the id alone; --wait prints message and output, and progress and log go to standard error")
  func submit() async throws {
    try await HostProcess.run { host in
      let submitted = try await host.cli("submit", "test.script", "--after", "1h")
      #expect(submitted.status == 0)
      let id = submitted.output.trimmingCharacters(in: .newlines)
      #expect(id.count == 36 && submitted.output == id + "\n")
      #expect(try await host.json("tasks", "show", id)["identifier"]?.string == "test.script")
      let waited = try await host.cli("submit", "test.script", "--payload", "\"log 3 a line;message done it;output {}\"", "--wait")
      #expect(waited.status == 0)
      #expect(waited.output == "done it\n{}\n")
      #expect(waited.errors.contains("notice: a line"))
    }
  }

  @Test("--wait on a request that has ended before answers at once", arguments: ["--idempotency-key", "--key"])
  func waitForEnded(_ option: String) async throws {
    try await HostProcess.run { host in
      func submit(_ script: String, _ key: String) async throws -> Program.Result {
        let window = option == "--key" ? ["--unique-window", "1h"] : []
        return try await host.cli(["submit", "test.script", "--payload", "\"\(script)\"", option, key, "--wait"] + window)
      }
      for _ in 1...2 {
        let done = try await submit("message done it", "a")
        #expect(done.status == 0 && done.output.hasPrefix("done it\n"), "\(done)")
        #expect(try await submit("message no luck;result 4", "b").status == 1)
      }
    }
  }

  @Test(
    "a terminal is sent a plugin's control characters escaped, a pipe as they are",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "util-linux has script(1)"))
  func controlCharacters() async throws {
    try await HostProcess.run { host in
      let escape = "\u{1B}[31m"
      let script = try host.directory.file("script", "\"message m\(escape)m;log 3 l\(escape)l;output o\(escape)o\"")
      let piped = try await host.cli("submit", "test.script", "--payload", "@\(script)", "--wait")
      #expect(piped.output == "m\\u{1b}[31mm\no\(escape)o\n")
      let taskhost = try BuiltProgram.taskhost
      let command = "\(taskhost) submit test.script --payload @\(script) --wait"
      let shown = try await Program.run(
        "/usr/bin/script", ["-qec", command, "/dev/null"], environment: ["TASKHOST_SOCKET": host.socket, "TERM": "dumb"],
        directory: host.directory.path)
      #expect(shown.status == 0, "\(shown.output)")
      #expect(shown.output.contains("o\\u{1b}[31mo"), "\(shown.output)")
      #expect(!shown.output.contains("\(escape)"), "\(shown.output)")
    }
  }

  @Test("submit --json says what was done and when it starts")
  func submitJSON() async throws {
    try await HostProcess.run { host in
      let answer = try await host.json("submit", "test.script")
      #expect(answer.names == ["id", "disposition", "next_start", "next_start_unix_ms", "notes", "effective"])
      #expect(answer["effective"]?["next_start_unix_ms"] == answer["next_start_unix_ms"])
      #expect(answer["disposition"]?.string == "created")
    }
  }

  @Test("a failed task exits with 1, a cancelled one with 4, and both say so")
  func waitExitCodes() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      let failed = try await host.cli("submit", "test.script", "--payload", "\"message no luck;result 4\"", "--wait")
      #expect(failed.status == 1)
      #expect(failed.output.hasPrefix("no luck\n"), "\(failed.output) \(failed.errors)")
      let gate = try host.directory.fifo("gate")
      let waiting = try host.startCLI("submit", "test.script", "--payload", "\"gate \(gate.path);sleep 60000\"", "--wait")
      try await gate.arrival()
      let id = try #require(try await host.json("tasks", "list", "--state", "running")["requests"]?.array.first?["id"]?.string)
      let cancelled = try await host.cli("tasks", "cancel", id)
      #expect(cancelled.status == 0)
      #expect(cancelled.output == "\(id) asked to stop\n")
      gate.release()
      #expect(try await waiting.result().status == 4)
    }
  }

  @Test("what the host refuses exits with 6 and says what, why and what to do")
  func refusals() async throws {
    try await HostProcess.run { host in
      let nothing = "01976c1e-0000-7000-8000-000000000000"
      let done = try await host.run("result 0")
      let id = try #require(done["submission"]?["id"]?.string)
      let table: [(arguments: [String], words: [String])] = [
        (["submit", "test.nobody"], ["test.nobody", "plugins list"]),
        (["submit", "not an identifier"], ["identifier"]),
        (["submit", "test.script", "--requires", "networc"], ["networc", "network"]),
        (["submit", "test.script", "--priority", "11"], ["priority", "11"]),
        (["submit", "test.script", "--on-conflict", "replace"], ["--key"]),
        (["tasks", "show", nothing], [nothing]),
        (["tasks", "show", "nonsense"], ["nonsense"]),
        (["tasks", "why", nothing], [nothing]),
        (["tasks", "cancel", nothing], [nothing]),
        (["tasks", "cancel", id], ["has already succeeded"]),
        (["tasks", "retry", id], ["succeeded", "failed"]),
        (["tasks", "list", "--state", "runing"], ["runing", "running"]),
        (["runs", "show", nothing], [nothing]),
        (["runs", "logs", nothing], [nothing]),
        (["simulate", "launch", "test.nobody"], ["no plugin has registered test.nobody: see taskhost plugins list"]),
        (["simulate", "expire", "test.nobody"], ["no plugin has registered test.nobody: see taskhost plugins list"]),
        (["submit", "test.script", "--cron", "61 * * * *"], ["cron", "61"]),
        (["submit", "test.script", "--cron", "0 0 30 2 *"], ["cron", "never"]),
        (["submit", "test.script", "--cron", "@daily", "--tz", "Europe/Berln"], ["Europe/Berln"]),
        (["submit", "test.script", "--resource", "gpu"], ["gpu", "[resources]"]),
        (["submit", "test.script", "--window", "night"], ["night", "[windows.night]"]),
        (["submit", "test.script", "--follows", nothing], [nothing]),
        (["tasks", "snooze", id, "--for", "1m"], ["succeeded"]),
        (["tasks", "snooze", nothing, "--for", "1m"], [nothing]),
        (["conditions", "set", "netwrok=none"], ["netwrok", "network"]),
        (["conditions", "set", "network=maybe"], ["maybe", "none"]),
        (["notify", "file:/etc/hosts"], ["file:"]),
        (["forecast", "--hours", "0"], ["hours"]),
      ]
      for row in table {
        let result = try await host.cli(row.arguments)
        #expect(result.status == 6, "\(row.arguments): \(result.errors)")
        #expect(result.errors.hasPrefix("taskhost: "), "\(row.arguments): \(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(result.output.isEmpty, "\(row.arguments): \(result.output)")
        for word in row.words { #expect(result.errors.contains(word), "\(row.arguments): \(result.errors)") }
      }
    }
  }

  @Test("a command line that is not understood exits with 2")
  func usage() async throws {
    try await HostProcess.run { host in
      let table = [
        ["nonsense"], ["submit"], ["submit", "test.script", "--nonsense"], ["submit", "test.script", "--after", "soon"],
        ["submit", "test.script", "--at", "tomorrow"], ["submit", "test.script", "--after", "1h", "--at", "2030-01-01T00:00:00Z"],
        ["submit", "test.script", "--every", "often"], ["tasks", "cancel"], ["tasks", "show"], ["tasks", "list", "--limit", "many"],
        ["submit", "test.script", "--cron", "@daily", "--every", "1h"], ["submit", "test.script", "--tz", "UTC"],
        ["submit", "test.script", "--on-event", "a", "--watch", "/b"], ["submit", "test.script", "--deadline", "soon"],
        ["submit", "test.script", "--resource", "gpu=x"], ["tasks", "retry"], ["tasks", "snooze"], ["conditions", "set", "network"],
        ["forecast", "--hours", "many"], ["notify"],
        ["submit", "test.script", "--priority", "high"], ["submit", "test.script", "--payload", "@/there/is/no/such/file"],
      ]
      for arguments in table {
        let result = try await host.cli(arguments)
        #expect(result.status == 2, "\(arguments): \(result.status) \(result.errors)")
        #expect(result.errors.hasPrefix("taskhost: "), "\(arguments): \(result.errors)")
        #expect(result.output.isEmpty)
      }
    }
  }

  @Test("without a host every command exits with 5 and says how to start one")
  func noHost() async throws {
    try await HostProcess.prepare { host in
      let id = "01976c1e-0000-7000-8000-000000000000"
      let table = [
        ["submit", "test.script"], ["submit", "test.script", "--wait"], ["tasks", "list"], ["tasks", "show", id], ["tasks", "why", id],
        ["tasks", "cancel", id], ["tasks", "retry", id], ["runs", "list"], ["runs", "show", id], ["runs", "logs", id], ["plugins", "list"],
        ["simulate", "launch", "test.script"], ["simulate", "expire", "test.script"], ["status"], ["shutdown"], ["shutdown", "--wait"],
        ["tasks", "cancel", "--tag", "x"], ["tasks", "retry", "--all"], ["tasks", "discard", id], ["tasks", "discard", "--all"],
        ["tasks", "snooze", id, "--for", "1m"], ["conditions"],
        ["conditions", "set", "network=none"], ["conditions", "clear"], ["notify", "x"], ["forecast"],
      ]
      for arguments in table {
        let result = try await host.cli(arguments)
        #expect(result.status == 5, "\(arguments): \(result.errors)")
        #expect(result.errors.contains("no host is running there (start one: taskhost run"), "\(result.errors)")
      }
    }
  }

  @Test("a host that was killed leaves a socket; commands say that it is gone, and the next host takes its place")
  func staleSocket() async throws {
    try await HostProcess.run { host in
      await host.kill()
      let result = try await host.cli("status")
      #expect(result.status == 5)
      #expect(result.errors.contains("its host is gone"), "\(result.errors)")
      try await host.start()
      #expect(try await host.cli("status").status == 0)
      try await host.terminate()
      #expect(!FileManager.default.fileExists(atPath: host.socket), "an orderly end removes the socket")
    }
  }

  @Test("the socket is the owner's alone")
  func socketMode() async throws {
    try await HostProcess.run { host in
      let attributes = try FileManager.default.attributesOfItem(atPath: host.socket)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
  }

  @Test("every command has help with examples")
  func help() async throws {
    try await HostProcess.prepare { host in
      let commands = [
        [], ["run"], ["submit"], ["tasks", "list"], ["tasks", "show"], ["tasks", "why"], ["tasks", "cancel"], ["tasks", "retry"],
        ["tasks", "discard"], ["runs", "list"], ["runs", "show"], ["runs", "logs"], ["plugins", "list"], ["simulate", "launch"],
        ["simulate", "expire"],
        ["status"], ["shutdown"], ["tasks"], ["tasks", "snooze"], ["runs"], ["plugins"], ["plugins", "check"],
        ["plugins", "new"], ["plugins", "inspect"], ["plugins", "release"], ["plugins", "keygen"], ["plugins", "sign"],
        ["plugins", "verify"], ["simulate"],
        ["conditions"], ["conditions", "show"], ["conditions", "set"], ["conditions", "clear"], ["notify"], ["forecast"],
      ]
      for command in commands {
        let result = try await host.cli(command + ["--help"])
        #expect(result.status == 0, "\(command)")
        #expect(result.output.contains("EXAMPLES\n  taskhost \(command.joined(separator: " "))"), "\(command): \(result.output)")
        #expect(result.errors.isEmpty, "\(command)")
        // None is so long that it is broken, which a shell would not forgive.
        let examples = result.output.split(separator: "EXAMPLES\n").last?.split(separator: "\n\n").first ?? ""
        #expect(examples.split(separator: "\n").allSatisfy { $0.hasPrefix("  ") }, "\(command): \(examples)")
      }
      #expect(try await host.cli("plugins", "check", "--help").output.contains("EXIT CODES\n  0 all cases passed, 1 a case failed"))
      #expect(try await host.cli("--version").output.split(separator: ".").count == 3)
    }
  }

  @Test("a unique key keeps its holder, and replace takes it over")
  func uniqueKey() async throws {
    try await HostProcess.run { host in
      let key = ["--key", "one", "--after", "1h"]
      let first = try await host.submit("result 0", key)
      let kept = try await host.json("submit", "test.script", "--key", "one")
      #expect(kept["disposition"]?.string == "kept")
      #expect(kept["id"]?.string == first)
      let replaced = try await host.json("submit", "test.script", "--key", "one", "--on-conflict", "replace", "--after", "1h")
      #expect(replaced["disposition"]?.string == "replaced")
      #expect(replaced["id"]?.string != first)
      #expect(try await host.json("tasks", "show", first)["state"]?.string == "cancelled")
      // The key is free again when its holder has ended.
      _ = try await host.json("tasks", "cancel", replaced["id"]?.string ?? "")
      #expect(try await host.json("submit", "test.script", "--key", "one")["disposition"]?.string == "created")
    }
  }

  @Test("keep while the holder runs drops the trigger and says so; replace asks it to stop and waits for its end")
  func uniqueKeyOfRunning() async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let first = try await host.submit("on-expire;gate \(gate.path);wait-expired", ["--key", "one"])
      try await gate.arrival()
      let kept = try await host.json("submit", "test.script", "--key", "one")
      #expect(kept["disposition"]?.string == "kept")
      #expect(kept["notes"]?.array.first?.string?.contains("dropped") == true)
      let second = try await host.json("submit", "test.script", "--key", "one", "--on-conflict", "replace")["id"]?.string ?? ""
      #expect(try await host.json("tasks", "show", second)["state"]?.string == "blocked")
      let why = try await host.json("tasks", "why", second)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains(first) }, "\(why)")
      gate.release()
      try await host.request(first, is: "cancelled")
      try await host.request(second, is: "succeeded")
      let old = try await host.runs(of: first).first
      #expect(old?["stop_reason"]?.string == "replaced")
      let new = try await host.runs(of: second).first
      #expect((new?["started_unix_ms"]?.integer ?? 0) >= (old?["ended_unix_ms"]?.integer ?? .max))
    }
  }

  @Test("--every is raised to minimum_interval and says so")
  func every() async throws {
    try await HostProcess.run { host in
      let answer = try await host.json("submit", "test.script", "--every", "1m", "--after", "1h")
      #expect(answer["notes"]?.array.first?.string?.contains("minimum_interval") == true, "\(answer)")
      let id = try #require(answer["id"]?.string)
      #expect(try await host.json("tasks", "show", id)["every_ms"]?.integer == 900_000)
      let person = try await host.cli("submit", "test.script", "--every", "1m", "--after", "1h")
      #expect(person.errors.contains("minimum_interval"))
    }
  }

  @Test("a repeating request keeps its id, is pending again after each occurrence, and only cancel ends it")
  func repeating() async throws {
    try await HostProcess.run("minimum_interval = \"1s\"\n[retry]\nattempts = 1\n") { host in
      let notes = try host.directory.shared("notes")
      let waited = try await host.run("note \(notes);result 4", ["--every", "1s"])
      #expect(waited["outcome"]?.string == "failed", "--wait follows one occurrence")
      let id = try #require(waited["submission"]?["id"]?.string)
      let again = try await host.request(id) { $0["state"]?.string == "pending" }
      #expect(again["attempts_spent"]?.integer == 0)
      _ = try await host.request(id) { ($0["run"]?.string ?? $0["last_outcome"]?.string) != nil && $0["state"]?.string == "running" }
      _ = try await host.request(id, is: "pending")
      #expect(host.directory.text("shared/notes").split(separator: "\n").count >= 2)
      #expect(try await host.json("tasks", "cancel", id)["state"] != nil)
      try await host.request(id, is: "cancelled")
    }
  }

  @Test("--after and --at hold a request back, and why says so")
  func notBefore() async throws {
    try await HostProcess.run { host in
      let start = Date.now.timeIntervalSince1970
      let after = try await host.json("submit", "test.script", "--after", "90m")
      let next = Double(after["next_start_unix_ms"]?.integer ?? 0) / 1000
      #expect(abs(next - start - 5400) < 30)
      let at = try await host.json("submit", "test.script", "--at", "2099-12-31T23:59:58Z")
      #expect(at["next_start"]?.string?.hasPrefix("2099-12-31T23:59:58") == true)
      let local = try await host.json("submit", "test.script", "--at", "2099-12-31 23:59:58")
      #expect(local["next_start_unix_ms"] == at["next_start_unix_ms"], "the tests' time zone is UTC")
      let why = try await host.json("tasks", "why", after["id"]?.string ?? "")["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains("not before") }, "\(why)")
      let short = try await host.json("submit", "test.script", "--after", "300ms", "--wait")
      let run = try #require(short["run"]?["started_unix_ms"]?.integer)
      #expect(run >= short["submission"]?["next_start_unix_ms"]?.integer ?? .max)
      // A moment that has passed is now.
      #expect(try await host.json("submit", "test.script", "--at", "2001-01-01T00:00:00Z", "--wait")["outcome"]?.string == "succeeded")
    }
  }

  @Test("higher priorities go first")
  func priority() async throws {
    try await HostProcess.run(script: ["-DMAX_RUNS=1"]) { host in
      let (gate, notes) = (try host.directory.fifo("gate"), try host.directory.shared("notes"))
      _ = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      let low = try await host.submit("note \(notes)", ["--priority", "-10"])
      let normal = try await host.submit("note \(notes)")
      let high = try await host.submit("note \(notes)", ["--priority", "10"])
      gate.release()
      for id in [low, normal, high] { try await host.request(id, is: "succeeded") }
      let order = host.directory.text("shared/notes").split(separator: "\n").map { String($0.prefix(36)) }
      #expect(order == [high, normal, low])
    }
  }

  @Test("tasks list filters by tag, state and identifier, newest first")
  func list() async throws {
    try await HostProcess.run { host in
      let one = try await host.submit("result 0", ["--after", "1h", "--tag", "nightly", "--tag", "with space"])
      let two = try await host.submit("result 0", ["--after", "1h", "--tag", "nightly"])
      let done = try await host.run("result 0")["submission"]?["id"]?.string ?? ""
      func ids(_ arguments: String...) async throws -> [String] {
        let result = try await host.cli(["tasks", "list", "--json"] + arguments)
        return try result.json()["requests"]?.array.compactMap { $0["id"]?.string } ?? []
      }
      #expect(try await ids() == [done, two, one])
      #expect(try await ids("--tag", "nightly") == [two, one])
      #expect(try await ids("--tag", "with space") == [one])
      #expect(try await ids("--tag", "other") == [])
      #expect(try await ids("--state", "succeeded") == [done])
      #expect(try await ids("--state", "succeeded", "--state", "pending") == [done, two, one])
      #expect(try await ids("--identifier", "test.script", "--limit", "1") == [done])
      #expect(try await ids("--identifier", "test.other") == [])
      let table = try await host.cli("tasks", "list").output
      #expect(table.contains("IDENTIFIER") && table.contains(one))
      #expect(!table.contains("\u{1B}"), "no colours where there is no terminal")
      let all = try await host.cli("tasks", "cancel", one, two)
      #expect(all.status == 0 && all.output.split(separator: "\n").count == 2)
    }
  }

  @Test("runs list, show and logs show a live run too, and logs -f follows it to its end")
  func liveRun() async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("log 2 before;progress 1 4;gate \(gate.path);log 2 after")
      try await gate.arrival()
      let run = try #require(try await host.runs(of: id).first)
      #expect(run["outcome"] == nil)
      let runID = try #require(run["id"]?.string)
      #expect(try await host.json("runs", "show", runID)["progress"]?["completed"]?.integer == 1)
      #expect(try await host.json("runs", "list")["runs"]?.array.first?["id"]?.string == runID)
      let follower = try host.startCLI("runs", "logs", "-f", runID)
      gate.release()
      let followed = try await follower.result()
      #expect(followed.status == 0, "\(followed.errors)")
      #expect(followed.output.contains("before") && followed.output.contains("after"))
      #expect(followed.output.split(separator: "\n").count == 2, "each line once: \(followed.output)")
    }
  }

  @Test("simulate launch starts a pending request ahead of its time, or a new one")
  func simulateLaunch() async throws {
    try await HostProcess.run { host in
      let id = try await host.submit("message early", ["--after", "1h"])
      let waited = try await host.json("simulate", "launch", "test.script", "--wait")
      #expect(waited["run"]?["request"]?.string == id)
      #expect(waited["outcome"]?.string == "succeeded")
      let new = try await host.json("simulate", "launch", "test.script")
      #expect(new["id"]?.string != id)
      try await host.request(new["id"]?.string ?? "", is: "succeeded")
      let none = try await host.cli("simulate", "expire", "test.script")
      #expect(none.status == 0 && none.errors.contains("no run of test.script is live"))
    }
  }

  @Test("status shows the host")
  func status() async throws {
    try await HostProcess.run { host in
      _ = try await host.run("result 0")
      _ = try await host.submit("result 0", ["--after", "1h"])
      let status = try await host.json("status")
      #expect(status["phase"]?.string == "launched")
      #expect(status["process_id"]?.integer == Int64(host.processID))
      #expect(status["requests"]?["succeeded"]?.integer == 1 && status["requests"]?["pending"]?.integer == 1)
      #expect(status["requests"]?.names == ["blocked", "pending", "running", "succeeded", "failed", "cancelled"])
      #expect(status["running"]?.integer == 0 && status["max_concurrent_runs"]?.integer == 16)
      #expect(status["next_due"] != nil && status["started"] != nil && status["version"] != nil)
      #expect(try await host.cli("status").output.contains("launched"))
    }
  }

  @Test("the socket is found by --socket, TASKHOST_SOCKET, the configuration and state/control.sock")
  func findsSocket() async throws {
    try await HostProcess.run { host in
      let binary = try BuiltProgram.taskhost
      let byOption = try await Program.run(binary, ["status", "--socket", host.socket], directory: "/")
      let byEnvironment = try await Program.run(binary, ["status"], environment: ["TASKHOST_SOCKET": host.socket], directory: "/")
      let byConfiguration = try await Program.run(binary, ["status", "--config", host.directory("taskhost.toml")], directory: "/")
      let byFile = try await Program.run(binary, ["status"], directory: host.directory.path)
      let byPreset = try await Program.run(binary, ["status"], directory: "/")
      #expect([byOption, byEnvironment, byConfiguration, byFile].map(\.status) == [0, 0, 0, 0])
      #expect(byPreset.status == 5)
    }
  }
}
