import Foundation
import Glibc
import TestSupport
import Testing

/// What a host says needs a person, and the exit code of `taskhost status`.
@Suite("Problems", .timeLimit(.minutes(20)))
struct ProblemTests {
  private func kinds(_ host: HostProcess) async throws -> [String] {
    try await host.json("status")["problems"]?.array.compactMap { $0["kind"]?.string } ?? []
  }

  @Test("a dead letter is a problem until it is discarded")
  func deadLetter() async throws {
    try await HostProcess.run { host in
      #expect(try await host.cli("status").status == 0)
      #expect(try await host.run("message no disk;result 4")["outcome"]?.string == "failed")
      let status = try await host.cli("status")
      #expect(status.status == 1, "\(status.output)")
      #expect(status.output.contains("1 request of test.script has failed for good"), "\(status.output)")
      let problem = try #require(try await host.json("status")["problems"]?.array.first)
      #expect(problem["kind"]?.string == "dead_letters" && problem["subject"]?.string == "test.script" && problem["since"] != nil)
      #expect(try await host.cli("tasks", "discard", "--all", "--identifier", "test.script").status == 0)
      #expect(try await host.cli("status").status == 0)
      let request = try #require(try await host.json("tasks", "list")["requests"]?.array.first)
      #expect(request["state"]?.string == "cancelled" && request["last_message"]?.string == "discarded; it had failed: no disk")
    }
  }

  @Test("a schedule that fails is a problem though its next occurrence is to come; its failures and last success are in a row of its own")
  func failingSchedule() async throws {
    try await HostProcess.run("minimum_interval = \"1s\"\n[retry]\nattempts = 1\ninitial = \"100ms\"\nmaximum = \"200ms\"\n") { host in
      let bad = try await host.submit("message no disk;result 4", ["--every", "1d", "--key", "nightly"])
      let good = try await host.submit("result 0", ["--every", "1d", "--key", "daily"])
      for id in [bad, good] { try await host.request(id) { $0["last_outcome"] != nil } }
      let status = try await host.cli("status")
      #expect(status.status == 1, "\(status.output)")
      #expect(status.output.contains("! failing") && status.output.contains("no disk"), "\(status.output)")
      let json = try await host.json("status")
      let problem = try #require(json["problems"]?.array.first)
      #expect(problem["kind"]?.string == "failing" && problem["subject"]?.string == "test.script/nightly", "\(problem)")
      let tasks = json["tasks"]?.array ?? []
      #expect(tasks.map { $0["unique_key"]?.string } == ["daily", "nightly"], "\(tasks)")
      #expect(tasks.map { $0["failures_in_a_row"]?.integer } == [0, 1])
      #expect(tasks.map { $0["last_success"] != nil } == [true, false])
      #expect(tasks.allSatisfy { $0["next_start_unix_ms"]?.integer != nil && $0["every_ms"]?.integer == 86_400_000 })
      let listed = try await host.json("tasks", "list", "--problem")["requests"]?.array.compactMap { $0["id"]?.string }
      #expect(listed == [bad])
      #expect(try await host.cli("tasks", "cancel", bad).status == 0)
      #expect(try await host.cli("status").status == 0, "nothing is to run again")
    }
  }

  @Test("runs are listed by outcome and time, and page by page")
  func runs() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      for _ in 0..<3 { _ = try await host.run("result 0") }
      _ = try await host.run("result 4")
      func count(_ arguments: String...) async throws -> Int? {
        try (await host.cli(["runs", "list", "--json"] + arguments)).json()["runs"]?.array.count
      }
      #expect(try await count("--outcome", "failed") == 1)
      #expect(try await count("--outcome", "failed", "--outcome", "succeeded") == 4)
      #expect(try await count("--since", "1h") == 4)
      #expect(try await count("--until", "1h") == 0)
      let first = try await host.json("runs", "list", "--limit", "2")
      let next = try #require(first["next"]?.string)
      let rest = try await onThread { [socket = host.socket] in
        try SocketClient(socket, limit: .seconds(10)).request("GET", "/v1/runs?limit=10&after=\(next)").json()
      }
      let ids = ((first["runs"]?.array ?? []) + (rest["runs"]?.array ?? [])).compactMap { $0["id"]?.string }
      #expect(Set(ids).count == 4 && ids.count == 4 && rest["next"] == nil)
      #expect(try await host.cli("runs", "list", "--limit", "20000").output.split(separator: "\n").count == 5)
      #expect(try await host.cli("runs", "list", "--outcome", "faild").errors.contains("failed"))
      #expect(try await host.cli("runs", "list", "--since", "soon").status == 2)
    }
  }

  @Test("a plugin file that goes is a problem until it is back")
  func pluginGone() async throws {
    try await HostProcess.run { host in
      #expect(rename(host.plugins + "/script.so", host.directory("script.so")) == 0)
      try await host.current.line(with: "script.so is gone")
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("! plugin gone"), "\(status.output)")
      #expect(rename(host.directory("script.so"), host.plugins + "/script.so") == 0)
      try await host.current.line(with: "the plugin file is there again")
      #expect(try await host.cli("status").status == 0)
    }
  }

  @Test("work that has been due for longer than overdue_after and nobody runs is overdue")
  func overdue() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("permitted_identifiers = [\"test.*\", \"test.absent\"]\noverdue_after = \"1s\"\n")
      try await host.start(["--allow-missing"])
      let id = try await host.submit("result 0", identifier: "test.absent")
      // It becomes overdue by the clock alone.
      try await Task.sleep(for: .milliseconds(1100))
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("! overdue"), "\(status.output)")
      #expect(status.output.contains("no plugin has registered") && status.output.contains("taskhost tasks why \(id)"), "\(status.output)")
    }
  }

  @Test("an override is a warning and no problem for a person")
  func override() async throws {
    try await HostProcess.run { host in
      _ = try await host.cli("conditions", "set", "network=none")
      let status = try await host.cli("status")
      #expect(status.status == 0 && status.output.contains("- override"), "\(status.output)")
      #expect(try await kinds(host) == ["override"])
    }
  }
}
