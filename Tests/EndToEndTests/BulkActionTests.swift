import Foundation
import TestSupport
import Testing

/// What an operator does to many requests by a filter, on the real host and command line.
@Suite("Bulk actions", .timeLimit(.minutes(20)))
struct BulkActionTests {
  /// Submits so many requests at once, which wait for an hour.
  private func submit(_ count: Int, _ host: HostProcess) async throws {
    let one = #"{"identifier": "test.script", "delay_ms": 3600000, "tags": ["many"], "payload": {"account": "x"}}"#
    let body = "[\(Array(repeating: one, count: count).joined(separator: ","))]"
    #expect(try await host.post("/v1/requests", body).status == 201)
  }

  private func count(_ filter: String, _ host: HostProcess) async throws -> Int {
    try await host.cli("tasks", "list", filter, "--limit", "100000", "--json").output.split(separator: "\n")
      .reduce(0) { try $0 + (JSON(parsing: String($1))["requests"]?.array.count ?? 0) }
  }

  @Test("a filter counts, cancels and postpones; what does not match stays")
  func actions() async throws {
    try await HostProcess.run { host in
      try await submit(250, host)
      let other = try await host.submit("result 0", ["--after", "1h", "--tag", "other"])
      let dry = try await host.cli("tasks", "cancel", "--filter", "tag:many payload.account:x", "--dry-run")
      #expect(dry.status == 0 && dry.output == "250 requests would be cancelled\n", "\(dry)")
      #expect(try await host.cli("tasks", "snooze", "--filter", "tag:other", "--for", "2h", "--yes").output == "1 request postponed\n")
      let refused = try await host.cli("tasks", "cancel", "--filter", "tag:many")
      #expect(refused.status == 2 && refused.errors.contains("add --yes"), "\(refused)")
      let done = try await host.cli("tasks", "cancel", "--filter", "tag:many payload.account:x", "--yes")
      #expect(done.status == 0 && done.output == "250 requests cancelled or asked to stop\n", "\(done)")
      #expect(try await count("state:cancelled tag:many", host) == 250)
      #expect(try await host.request(other, is: "pending")["due_unix_ms"]?.integer ?? 0 > 0)
    }
  }

  @Test("a dry run says how many would change, and how many would not and why; it changes nothing")
  func dryRun() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      for number in 0..<3 {
        let key = ["--tag", "keyed", "--key", "k\(number)"]
        try await host.request(host.submit("result 4", key), is: "failed")
        _ = try await host.submit("result 0", key + ["--after", "1h"])
      }
      let free = try await host.submit("result 4", ["--tag", "keyed"])
      try await host.request(free, is: "failed")
      let dry = try await host.cli("tasks", "retry", "--filter", "tag:keyed", "--dry-run")
      #expect(
        dry.status == 0
          && dry.output == "1 request would be retried\n3 requests would stay as they are: another request now holds its unique key\n",
        "\(dry)")
      #expect(try await count("tag:keyed state:failed", host) == 4)
      let done = try await host.cli("tasks", "retry", "--filter", "tag:keyed", "--yes")
      #expect(done.status == 6 && done.output == "1 request retried\n", "\(done)")
    }
  }

  @Test("a host that is killed in the middle has done a part, and the same command does the rest")
  func killed() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      try await submit(450, host)
      _ = try await host.terminate()
      // A host's first commits are its own. The first kill after them comes after one of the five that the action takes.
      var (hit, left) = (4, 450)
      repeat {
        try host.spawn(through: ["/usr/bin/env", "TASKHOST_FAILPOINT=after-commit:\(hit)"])
        // A kill after one of the first commits may come before the line.
        _ = try? await host.current.line(with: "launched:")
        let broken = try await host.cli("tasks", "cancel", "--filter", "tag:many", "--yes")
        #expect(broken.status == 5, "\(broken)")
        #expect(try await host.end().status == -SIGKILL)
        try await host.start()
        left = try await count("tag:many state:pending", host)
        hit += 1
        if left == 450 { _ = try await host.terminate() }
      } while left == 450 && hit < 20
      #expect(left == 350)
      let rest = try await host.cli("tasks", "cancel", "--filter", "tag:many", "--yes")
      #expect(rest.output == "\(left) requests cancelled or asked to stop\n", "\(rest)")
      #expect(try await count("tag:many state:cancelled", host) == 450)
    }
  }

  @Test("runs start and end while many requests are cancelled")
  func meanwhile() async throws {
    try await HostProcess.run { host in
      for _ in 0..<3 { try await submit(3000, host) }
      async let cancelled = host.cli("tasks", "cancel", "--filter", "tag:many", "--yes")
      for _ in 0..<5 { #expect(try await host.run("result 0")["outcome"]?.string == "succeeded") }
      let result = try await cancelled
      #expect(result.output == "9000 requests cancelled or asked to stop\n", "\(result)")
    }
  }
}
