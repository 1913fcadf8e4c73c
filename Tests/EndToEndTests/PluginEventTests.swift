import TestSupport
import Testing

/// `notify_event` of `org.taskhost.requests/2` under the real host.
@Suite("Plugins raise events", .timeLimit(.minutes(20)))
struct PluginEventTests {
  /// What a run of a script answers.
  private func output(_ host: HostProcess, _ script: String, of identifier: String = "test.script") async throws -> JSON {
    try #require(try await host.run(script, identifier: identifier)["run"]?["output"])
  }

  @Test("an event named after the plugin wakes who waits for it, with its payload or the request's own", arguments: Isolation.allCases)
  func wakes(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let nobody = try await output(host, "notify test.script")
      #expect(nobody["notify"]?.integer == 0)
      #expect(nobody["waiting"]?.integer == 0)
      let waiting = try await host.submit("output 1", ["--on-event", "test.script.done"])
      let other = try await host.submit("output 1", ["--on-event", "test.script"])
      let raised = try await output(host, "notify test.script.done output 2")
      #expect(raised["notify"]?.integer == 0)
      #expect(raised["waiting"]?.integer == 1)
      try await host.request(waiting, is: "succeeded")
      #expect(try await host.json("tasks", "show", other)["state"]?.string == "pending")
      #expect(try await output(host, "notify test.script")["waiting"]?.integer == 1)
      try await host.request(other, is: "succeeded")
      #expect(try await run(of: waiting, host)["output"]?.integer == 2)
      #expect(try await run(of: other, host)["output"]?.integer == 1)
    }
  }

  private func run(of request: String, _ host: HostProcess) async throws -> JSON {
    let id = try #require(try await host.json("runs", "list", "--request", request)["runs"]?.array.first?["id"]?.string)
    return try await host.json("runs", "show", id)
  }

  @Test("a plugin raises others' events only where its configuration says so", arguments: Isolation.allCases)
  func permission(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script")
      try await host.add("other.so", "script", ["-DIDENTIFIER=\"test.other\""])
      try host.configure("[plugin.\"test.other\"]\nmay_notify = [\"orders.*\"]\n")
      try await host.start()
      for event in ["orders.new", "test.other", "test.scripted", "host:launched", "condition:power", "task:test.script"] {
        #expect(try await output(host, "notify \(event)")["notify"]?.integer == -4, "\(event)")
      }
      for event in ["file:/etc/passwd", "condition:none", String(repeating: "x", count: 257)] {
        #expect(try await output(host, "notify \(event)")["notify"]?.integer == -1, "\(event)")
      }
      let waiting = try await host.submit("result 0", ["--on-event", "orders.new"])
      #expect(try await output(host, "notify orders.new", of: "test.other")["waiting"]?.integer == 1)
      try await host.request(waiting, is: "succeeded")
      #expect(try await output(host, "notify orders", of: "test.other")["notify"]?.integer == -4)
      #expect(try await output(host, "notify host:launched", of: "test.other")["notify"]?.integer == -4)
    }
  }
}
