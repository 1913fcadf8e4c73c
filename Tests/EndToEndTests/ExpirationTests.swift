import TestSupport
import Foundation
import Testing

/// Runs that are asked to end, and those that do not heed it.
@Suite("Expiration", .timeLimit(.minutes(20)))
struct ExpirationTests {
  private static let short = "[plugin.\"test.script\"]\nbudget = \"300ms\"\ngrace = \"5s\"\n"

  @Test("54: at the budget the handler is told by callback, descriptor, sleep and every question it can ask", arguments: Isolation.allCases)
  func told(_ isolation: Isolation) async throws {
    try await HostProcess.run(Self.short, isolation: isolation) { host in
      let answer = try await host.run("on-expire;wait-expired;poll 0;facts")
      let run = try #require(answer["run"])
      let facts = try #require(run["output"])
      #expect(answer["outcome"]?.string == "succeeded", "what it returns in grace stands")
      #expect(run["expired"]?.bool == true)
      #expect(run["stop_reason"]?.string == "budget")
      #expect(run["forced"]?.bool != true)
      #expect(facts["on_expire"]?.integer == 0)
      #expect(facts["expired_by"]?.integer == 1)
      #expect(facts["is_expired"]?.integer == 1)
      #expect((facts["remaining_after"]?.integer ?? 1) <= 0)
      #expect((1...5000).contains(facts["grace_after"]?.integer ?? 0))
      #expect(facts["set_after"]?.integer == -6, "set after expiry: EEXPIRED")
      #expect(facts["sleep_after"]?.integer == -6, "a sleep after expiry returns at once")
      #expect(facts["poll"]?.integer == 1)
      #expect(facts["stop_reason"]?.integer == 1)
      #expect((250...3000).contains(run["duration_ms"]?.integer ?? 0))
    }
  }

  @Test("77: the host's sleep ends when the run expires", arguments: Isolation.allCases)
  func sleepWakes(_ isolation: Isolation) async throws {
    try await HostProcess.run(Self.short, isolation: isolation) { host in
      let run = try await host.run("sleep 60000")["run"]
      #expect(run?["output"]?["sleep"]?.integer == -6)
      #expect((run?["duration_ms"]?.integer ?? 60_000) < 5000)
    }
  }

  @Test("the descriptor becomes readable when the run expires, not before", arguments: Isolation.allCases)
  func descriptor(_ isolation: Isolation) async throws {
    try await HostProcess.run(Self.short, isolation: isolation) { host in
      let early = try await host.run("poll 0")["run"]?["output"]
      #expect(early?["poll"]?.integer == 0)
      let late = try await host.run("poll 60000")["run"]?["output"]
      #expect(late?["poll"]?.integer == 1)
      #expect(late?["stop_reason"]?.integer == 1)
    }
  }

  @Test("a budget that the plugin registers shortens its kind's, and the configuration overrides it", arguments: Isolation.allCases)
  func budgets(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("short.so", "script", ["-DIDENTIFIER=\"test.short\"", "-DBUDGET_MS=1500"])
      try await host.add("long.so", "script", ["-DIDENTIFIER=\"test.long\"", "-DBUDGET_MS=99999999"])
      try await host.add("set.so", "script", ["-DIDENTIFIER=\"test.set\"", "-DBUDGET_MS=1500"])
      try await host.add("refresh.so", "script", ["-DIDENTIFIER=\"test.refresh\"", "-DKIND=TASKHOST_REFRESH"])
      try await host.add("continued.so", "script", ["-DIDENTIFIER=\"test.continued\"", "-DKIND=TASKHOST_CONTINUED"])
      try host.configure("[plugin.\"test.set\"]\nbudget = \"1h\"\n")
      try await host.start()
      #expect(try await host.plugin("short.so")["budget_ms"]?.integer == 1500)
      #expect(try await host.plugin("long.so")["budget_ms"]?.integer == 600_000)
      #expect(try await host.plugin("set.so")["budget_ms"]?.integer == 3_600_000)
      #expect(try await host.plugin("refresh.so")["budget_ms"]?.integer == 30_000)
      #expect(try await host.plugin("refresh.so")["grace_ms"]?.integer == 5000)
      #expect(try await host.plugin("continued.so")["budget_ms"] == nil)
      let remaining = try await host.run("facts", identifier: "test.continued")["run"]?["output"]?["remaining"]?.integer
      #expect((1...60_000).contains(remaining ?? 0))
    }
  }

  @Test(
    "51 52: a run that ignores its expiration is stopped when grace ends: its plugin is suspended, others go on, its late return is harmless"
  )
  func forced() async throws {
    try await HostProcess.prepare(isolation: .thread) { host in
      try await host.add("script.so", "script")
      try await host.addTwin()
      try host.configure("[plugin.\"test.script\"]\nbudget = \"200ms\"\ngrace = \"200ms\"\n")
      try await host.start()
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path);result 0")
      try await gate.arrival()
      try await host.current.line(with: "plugin suspended", "test.script")
      let request = try await host.request(id) { $0["last_outcome"] != nil }
      #expect(request["last_outcome"]?.string == "expired")
      #expect(request["state"]?.string == "pending", "an expiration by force is a retry")
      let run = try #require(try await host.runs(of: id).first)
      #expect(run["outcome"]?.string == "expired")
      #expect(run["forced"]?.bool == true)
      #expect(run["stop_reason"]?.string == "budget")
      // It is held back, too, for a moment.
      #expect(["suspended", "held"].contains(try await host.plugin("script.so")["standing"]?.string))
      let next = try await host.submit("result 0")
      let why = try await host.json("tasks", "why", next)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains("suspended") }, "\(why)")
      try await expectTwinRuns(host)
      // The thread returns after all: the plugin takes runs again, and the recorded outcome stays.
      let position = host.current.lines.count
      gate.release()
      try await host.current.line(with: "plugin takes runs again", from: position)
      try await host.request(next, is: "succeeded")
      #expect(try await host.runs(of: id).last?["outcome"]?.string == "expired")
      _ = try? await host.json("tasks", "cancel", id)
    }
  }

  @Test("52: a host with an abandoned thread ends with exit 0 all the same")
  func exitWithAbandonedThread() async throws {
    try await HostProcess.run("[plugin.\"test.script\"]\nbudget = \"100ms\"\ngrace = \"100ms\"\n", isolation: .thread) { host in
      let gate = try host.directory.fifo("gate")
      _ = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      try await host.current.line(with: "plugin suspended")
      let end = try await host.terminate()
      #expect(end.status == 0)
    }
  }

  @Test("simulate expire ends a live run as if its budget were spent", arguments: Isolation.allCases)
  func simulated(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("on-expire;gate \(gate.path);wait-expired")
      try await gate.pass()
      let runs = try await host.json("simulate", "expire", "test.script")["runs"]?.array ?? []
      #expect(runs.count == 1)
      try await host.request(id, is: "succeeded")
      let run = try await host.runs(of: id).first
      #expect(run?["id"] == runs.first)
      #expect(run?["stop_reason"]?.string == "budget")
    }
  }

  @Test(
    "71: a running request that is cancelled is told, and ends cancelled whatever it returns, its output kept", arguments: [0, 3, 4],
    Isolation.allCases)
  func cancelled(_ result: Int, isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let waiting = try host.startCLI(
        "submit", "test.script", "--payload", "\"on-expire;gate \(gate.path);wait-expired;result \(result)\"", "--wait", "--json")
      try await gate.arrival()
      let id = try #require(try await host.json("tasks", "list", "--state", "running")["requests"]?.array.first?["id"]?.string)
      #expect(try await host.json("tasks", "cancel", id)["stop_requested"]?.string == "cancelled")
      gate.release()
      let answer = try await waiting.result()
      #expect(answer.status == 4, "\(answer.errors)")
      let json = try answer.json()
      #expect(json["run"]?["outcome"]?.string == "cancelled")
      #expect(json["run"]?["stop_reason"]?.string == "cancelled")
      #expect(json["run"]?["output"]?["expired_by"]?.integer == 2)
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "cancelled")
    }
  }
}
