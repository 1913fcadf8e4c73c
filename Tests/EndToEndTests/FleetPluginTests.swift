import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// What plugins do with requests of the fleet from their runs.
@Suite("Fleet: plugins", .timeLimit(.minutes(10)))
struct FleetPluginTests {
  /// Two hosts with the plugin `script` for the fleet. Only `a` is told to run it at first: `b` submits.
  private func withHosts(
    script: [String] = [], _ body: (FleetGround, HostProcess, HostProcess) async throws -> Void
  ) async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { first in
      try await HostProcess.prepare { second in
        for (name, host) in [("a", first), ("b", second)] {
          try await host.add("script.so", "script", script)
          try host.configure("[fleet]\nurl = \"\(fleet.address)\"\nname = \"\(name)\"\n[plugin.\"test.script\"]\nscope = \"fleet\"\n")
        }
        try await FleetGround.joined(first, second)
        try await body(fleet, first, second)
      }
    }
  }

  private func output(_ host: HostProcess, _ script: String) async throws -> JSON {
    let run = try await host.run(script)
    return try #require(run["run"]?["output"], "\(run)")
  }

  @Test("what a run submits to its own identifier is a request of the fleet, which any host runs")
  func submits() async throws {
    try await withHosts { fleet, first, second in
      let told = try await output(second, "submit test.script result 0")
      #expect(told["submit"]?.integer == 0, "\(told)")
      let id = try #require(told["submitted"]?.string)
      try await first.request(id, is: "succeeded")
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.ended WHERE state = 'succeeded'", on: fleet.address) == "2")
    }
  }

  @Test("an event of a run wakes requests of the fleet at whichever host they run")
  func raises() async throws {
    try await withHosts { _, first, second in
      let waiting = try await second.submit("result 0", ["--on-event", "test.script.done"])
      let told = try await output(first, "notify test.script.done")
      #expect(told["notify"]?.integer == 0, "\(told)")
      try await first.request(waiting, is: "succeeded")
    }
  }

  @Test("a run sees, explains, postpones and counts requests of the fleet as of its host")
  func asks() async throws {
    try await withHosts { _, first, second in
      let later = try await second.submit("result 0", ["--after", "1h"])
      let shown = try await output(first, "show \(later)")
      #expect(shown["texts"]?.array.first?["state"]?.string == "pending", "\(shown)")
      let why = try await output(first, "why \(later)")
      #expect(why["texts"]?.array.isEmpty == false, "\(why)")
      let live = try await output(first, "live")
      #expect(live["texts"]?.array.contains { $0["id"]?.string == later } == true, "\(live)")
      let history = try await output(second, "history test.script 10")
      #expect((history["texts"]?.array.count ?? 0) >= 3, "\(history)")
    }
  }

  @Test("what a plugin submits with a key at its launch is there once, however many hosts launch it")
  func launches() async throws {
    try await withHosts(script: ["-DLAUNCH_SUBMIT", "-DLAUNCH_MS=0"]) { fleet, first, _ in
      let ids = try fleet.server.run(
        "SELECT count(*) FROM (SELECT id FROM taskhost.request UNION SELECT id FROM taskhost.ended) q", on: fleet.address)
      #expect((1...2).contains(Int(ids) ?? 0), "\(ids)")
      let listed = try await first.json("tasks", "list")["requests"]?.array ?? []
      #expect(listed.allSatisfy { $0["unique_key"]?.string == "launch" }, "\(listed)")
    }
  }
}
