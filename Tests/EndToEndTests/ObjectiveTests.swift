import Foundation
import TestSupport
import Testing

/// `expect_within` and `start_within` on the real host.
@Suite("Lateness objectives", .timeLimit(.minutes(20)))
struct ObjectiveTests {
  private static let late = "has not begun within start_within (1s) of its time"

  private func metrics(_ host: HostProcess) async throws -> String {
    let socket = host.socket
    return try await onThread { try SocketClient(socket).request("GET", "/metrics") }.body
  }

  @Test("a host without a success says so in its log, status, why and metrics, also after a restart, until there is one")
  func overdue() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[plugin.\"test.script\"]\nexpect_within = \"1s\"\n")
      try await host.start()
      try await host.current.line(with: "no run of test.script has succeeded within expect_within (1s): there has been none since")
      try await host.terminate()
      try await host.start()
      try await host.current.line(with: "no run of test.script has succeeded within expect_within")
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("! overdue"), "\(status.output)")
      let text = try await metrics(host)
      #expect(text.contains("\ntaskhost_overdue_schedules 1\n"), "\(text)")
      #expect(text.contains("\ntaskhost_objective_met{identifier=\"test.script\",objective=\"expect_within\"} 0\n"), "\(text)")
      let id = try await host.submit("result 0", ["--after", "1h"])
      let why = try await host.cli("tasks", "why", id).output
      #expect(why.contains("expected: a success is expected within 1 s: there was none in") && why.contains("overdue by"), "\(why)")
    }
  }

  @Test("a success is expected anew after each one")
  func again() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[plugin.\"test.script\"]\nexpect_within = \"2s\"\n")
      try await host.start()
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      try await host.current.line(with: "has succeeded within expect_within (2s): the last success was")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let problems = try await host.json("status")["problems"]?.array.map { $0["kind"]?.string }
      #expect(problems == [], "\(problems ?? [])")
    }
  }

  @Test("a request that does not begin in time is a problem until it begins; while somebody pauses it, it is none")
  func late() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[plugin.\"test.script\"]\nstart_within = \"1s\"\n")
      try await host.start()
      _ = try await host.cli("conditions", "set", "power=none")
      let id = try await host.submit("result 0", ["--requires", "power"])
      try await host.current.line(with: Self.late)
      #expect(try await host.cli("status").output.contains(Self.late))
      #expect(try await host.cli("pause").status == 0)
      #expect(try await !host.cli("status").output.contains(Self.late))
      #expect(try await host.cli("resume").status == 0)
      _ = try await host.cli("conditions", "set", "power=held")
      try await host.request(id, is: "succeeded")
      #expect(try await !host.cli("status").output.contains(Self.late))
    }
  }

  @Test("an objective that every interval would miss is refused")
  func tooShort() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[plugin.\"test.script\"]\nschedule = \"every 6h\"\nexpect_within = \"1h\"\n")
      let failure = try await host.failure()
      #expect(
        failure.status == 78 && failure.errors.contains("expect_within (1h) is not longer than the schedule's interval (6h)"), "\(failure)")
    }
  }
}
