import Failpoints
import Foundation
import Glibc
import TestSupport
import Testing

/// `[[notify]]` about incidents: failures, recoveries, overdue work. They are requests, which no crash loses.
@Suite("Notifications of incidents", .timeLimit(.minutes(20)))
struct NotificationTests {
  /// A table whose command appends the notification, and a variable, to a file.
  private func table(_ on: String, told: String, _ more: String = "") -> String {
    """
    [[notify]]
    name = "ops"
    on = [\(on)]
    command = ["/bin/sh", "-c", "printf '%s|%s|' \\"$TASKHOST_EVENT\\" \\"$TASKHOST_COUNT\\" >> \(told); cat >> \(told); echo >> \(told)"]
    \(more)

    """
  }

  private func document(_ line: String?) throws -> JSON {
    try JSON(parsing: try #require(line?.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false).last))
  }

  private func with(_ table: (ToldFile) -> String, _ body: (HostProcess, ToldFile) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let told = ToldFile(path: host.directory("told"))
      try host.configure(table(told))
      try await host.start()
      try await body(host, told)
    }
  }

  @Test("a failure for good, the third in a row and the recovery reach the command, and nothing else does")
  func command() async throws {
    let more = "identifiers = [\"test.*\"]\nfailures = 3\ngroup_within = \"0s\"\nper_hour = 100"
    try await with({ table("\"failed\", \"failing\", \"recovered\"", told: $0.path, more) }) { host, told in
      _ = try await host.run("result 0")
      let id = try await host.run("message disk full;result 4", ["--key", "night"])["submission"]?["id"]?.string
      for _ in 0..<2 { _ = try await host.run("result 4", ["--key", "night"]) }
      _ = try await host.run("result 0", ["--key", "night"])
      let lines = try await told.lines(until: "recovered")
      let events = lines.map { String($0.prefix { $0 != "|" }) }
      #expect(Set(events).isSubset(of: ["failed", "failing", "several", "recovered"]), "\(lines)")
      let first = try document(lines.first)
      #expect(first["title"]?.string == "test.script/night" && first["request"]?.string == id, "\(first)")
      #expect(first["text"]?.string == "failed for good: disk full" && first["identifier"]?.string == "test.script")
      let failed = try lines.map { try document($0)["counts"]?["failed"]?.integer ?? 0 }.reduce(0, +)
      let failing = try lines.map { try document($0)["counts"]?["failing"]?.integer ?? 0 }.reduce(0, +)
      #expect(failed == 3 && failing == 1, "\(lines)")
    }
  }

  @Test("a host that is killed between a failure and its notification tells of it after its restart, once")
  func killed() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let told = ToldFile(path: host.directory("told"))
      try host.configure(table("\"failed\"", told: told.path))
      try host.spawn(through: ["/usr/bin/env", "\(FailpointTrigger.variable)=\(Failpoint.outcomeRecorded.rawValue):1"])
      try await host.current.line(with: "launched:")
      try await host.current.line(with: "control socket open")
      _ = try await host.cli("submit", "test.script", "--payload", "\"message lost;result 4\"")
      #expect(try await host.end().status == -SIGKILL)
      #expect(host.directory.text("told").isEmpty)
      try await host.start()
      let lines = try await told.lines(until: "failed for good: lost")
      #expect(lines.count == 1)
      #expect(try await host.terminate().status == 0)
      #expect(host.directory.text("told").split(separator: "\n").count == 1)
    }
  }

  @Test("a burst of 200 failures is two notifications, which tell of all")
  func burst() async throws {
    try await with({ table("\"failed\"", told: $0.path, "group_within = \"4s\"") }) { host, told in
      var requests = "["
      for number in 0..<200 { requests += (number > 0 ? "," : "") + #"{"identifier":"test.script","payload":"result 4"}"# }
      let socket = host.socket
      let answer = try await onThread { [requests] in
        try SocketClient(socket, limit: .seconds(60)).request("POST", "/v1/requests", body: requests + "]")
      }
      #expect(answer.status == 201 || answer.status == 200, "\(answer)")
      var counted: Int64 = 0
      var deliveries = 0
      while counted < 200 {
        deliveries += 1
        let lines = try await told.lines(deliveries)
        counted = try lines.map { try document($0)["count"]?.integer ?? 0 }.reduce(0, +)
      }
      #expect(counted == 200 && deliveries <= 6, "\(deliveries) deliveries")
    }
  }

  @Test("a delivery that fails is retried until it works, counted and logged; one that fails for good is a problem, and told to nobody")
  func retried() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let (gate, told) = (host.directory("gate"), host.directory("told"))
      try host.configure(
        """
        [[notify]]
        name = "pager"
        on = ["failed", "recovered"]
        command = ["/bin/sh", "-c", "test -e \(gate) || { echo no pager today >&2; exit 75; }; cat >> \(told); echo >> \(told)"]
        retry = { attempts = 500, initial = "100ms", maximum = "200ms" }
        [[notify]]
        on = ["failed"]
        command = ["/bin/false"]
        identifiers = ["test.*"]

        """)
      try await host.start()
      _ = try await host.run("result 4")
      try await host.current.line(with: "no pager today")
      try await host.current.line(with: "run retried")
      try host.directory.file("gate", "")
      try await ToldFile(path: told).lines(until: "failed for good")
      try await host.current.line(with: "run failed: exit code 1", "org.taskhost.notify.2")
      let problems = try await host.json("status")["problems"]?.array ?? []
      #expect(problems.contains { $0["kind"]?.string == "dead_letters" && $0["subject"]?.string == "org.taskhost.notify.2" }, "\(problems)")
      let socket = host.socket
      let text = try await onThread { try SocketClient(socket).request("GET", "/metrics") }.body
      #expect(text.contains("\ntaskhost_notifications_total{rule=\"pager\",outcome=\"submitted\"} 1\n"), "\(text)")
      #expect(text.contains("\ntaskhost_notifications_total{rule=\"2\",outcome=\"failed\"} 1\n"), "\(text)")
      #expect(text.contains("rule=\"pager\",outcome=\"retried\""), "\(text)")
    }
  }

  @Test("task: a request of that identifier has the notification as its payload; its own failure is told to nobody")
  func task() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let told = ToldFile(path: host.directory("told"))
      try host.configure(
        """
        [[notify]]
        on = ["failed"]
        task = "com.example.alert"
        group_within = "0s"
        [command."com.example.alert"]
        shell = "cat >> \(told.path); echo >> \(told.path); exit 1"

        """)
      try await host.start()
      _ = try await host.run("message first;result 4")
      try await told.lines(until: "failed for good: first")
      _ = try await host.run("message second;result 4")
      let lines = try await told.lines(until: "failed for good: second")
      #expect(lines.count == 2 && lines.allSatisfy { $0.contains("\"identifier\":\"test.script\"") }, "\(lines)")
    }
  }

  @Test("a task that nobody registered is a problem, and its notifications wait for it")
  func absentTask() async throws {
    try await with({ _ in "[[notify]]\non = [\"failed\"]\ntask = \"test.absent\"\n" }) { host, _ in
      _ = try await host.run("result 4")
      let problems = try await host.json("status")["problems"]?.array ?? []
      #expect(problems.contains { $0["subject"]?.string == "test.absent" && $0["needs_action"]?.bool == true }, "\(problems)")
      let waiting = try await host.json("tasks", "list", "--identifier", "test.absent")["requests"]?.array ?? []
      #expect(waiting.count == 1 && waiting[0]["state"]?.string == "pending", "\(waiting)")
    }
  }

  @Test("work without a success is overdue once, also over a restart, and recovers")
  func overdue() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let told = ToldFile(path: host.directory("told"))
      try host.configure(
        table("\"overdue\", \"recovered\"", told: told.path, "group_within = \"0s\"")
          + "[plugin.\"test.script\"]\nexpect_within = \"1s\"\n")
      try await host.start()
      try await told.lines(until: "overdue|1|", "no run has succeeded within 1 s")
      try await host.terminate()
      try await host.start()
      try await host.current.line(with: "no run of test.script has succeeded within expect_within")
      _ = try await host.run("result 0")
      let lines = try await told.lines(until: "has succeeded again")
      #expect(lines.count == 2, "\(lines)")
    }
  }

  @Test("a command that never ends is stopped and tried again, and holds up neither runs nor a shutdown")
  func hangs() async throws {
    let text = "drain_timeout = \"1s\"\n[[notify]]\non = [\"failed\"]\ncommand = [\"/bin/sleep\", \"600\"]\n"
    try await with({ _ in text }) { host, _ in
      for _ in 0..<3 { _ = try await host.run("result 4") }
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      #expect(try await host.terminate().status == 0)
    }
  }
}
