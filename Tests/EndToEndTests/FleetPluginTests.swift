import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// What plugins do with requests of the fleet from their runs.
@Suite("Fleet: plugins", .timeLimit(.minutes(10)))
struct FleetPluginTests {
  /// Two hosts with the plugin `script` for the fleet.
  private func withHosts(_ body: (FleetGround, HostProcess, HostProcess) async throws -> Void) async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { first in
      try await HostProcess.prepare { second in
        for (name, host) in [("a", first), ("b", second)] {
          try await host.add("script.so", "script")
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

  @Test("what a plugin submits while it launches is a request of the fleet, also if the database is away then")
  func launches() async throws {
    let fleet = try await FleetGround(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script", ["-DLAUNCH_SUBMIT"])
      try host.configure("[fleet]\nurl = \"\(fleet.address)\"\nname = \"a\"\n[plugin.\"test.script\"]\nscope = \"fleet\"\n")
      /// The requests of the host's own store with the plugin's key: they wait there for the fleet.
      func kept() async throws -> [JSON] {
        (try await host.json("tasks", "list", "key:launch")["requests"]?.array ?? []).filter { $0["last_outcome"] == nil }
      }
      try await FleetGround.joined(host)
      let first = try #require(try await kept().last?["id"]?.string)
      let moved = try await host.request(first, is: "cancelled")
      let there = try #require(moved["last_message"]?.string?.split(separator: " ").last.map(String.init))
      try await host.request(there, is: "succeeded")
      // The host begins without the database, and keeps what the next launch submits.
      try fleet.server.kill()
      try await host.terminate()
      try await host.start()
      let second = try #require(try await kept().first { $0["state"]?.string == "pending" }?["id"]?.string)
      #expect(try await host.cli("tasks", "why", second).output.contains("it is parked"))
      try fleet.server.start()
      let movedToo = try await host.request(second, is: "cancelled")
      #expect(movedToo["last_message"]?.string?.hasPrefix("moved to the fleet as ") == true, "\(movedToo)")
      #expect(movedToo["last_message"] != moved["last_message"])
    }
  }
}
