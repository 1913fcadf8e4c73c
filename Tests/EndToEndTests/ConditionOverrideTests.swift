import TestSupport
import Foundation
import Testing

/// Overrides of conditions over the life of several hosts.
@Suite("Overrides of conditions", .timeLimit(.minutes(20)))
struct ConditionOverrideTests {
  private func states(_ host: HostProcess) async throws -> [String: JSON] {
    var states: [String: JSON] = [:]
    for state in try await host.json("conditions", "show")["conditions"]?.array ?? [] { states[state["name"]?.string ?? ""] = state }
    return states
  }

  private func warnings(_ host: HostProcess) async throws -> [String] {
    try await host.json("status")["warnings"]?.array.compactMap(\.string) ?? []
  }

  @Test("an override is in force after kill -9 and after a restart, since when it was set, until it is cleared")
  func kept() async throws {
    try await HostProcess.run { host in
      _ = try await host.json("conditions", "set", "network=none", "idle=held")
      let set = try await states(host)
      let id = try await host.submit("result 0", ["--requires", "network"])
      await host.kill()

      try await host.start()
      for (name, words) in [("network", "not hold"), ("idle", "hold")] {
        try await host.current.line(with: "warning", "the condition \(name) is overridden to \(words)", "taskhost conditions clear \(name)")
        #expect(try await warnings(host).contains { $0.contains("the condition \(name) is overridden to \(words)") })
      }
      let again = try await states(host)
      #expect(again["network"]?["overridden"]?.bool == true && again["network"]?["holds"]?.bool == false)
      #expect(again["idle"]?["overridden"]?.bool == true && again["idle"]?["holds"]?.bool == true)
      for name in ["network", "idle"] { #expect(again[name]?["since_unix_ms"]?.integer == set[name]?["since_unix_ms"]?.integer) }
      #expect(again["power"]?["overridden"]?.bool == false)
      let why = try await host.cli("tasks", "why", id).output
      #expect(why.contains("network") && why.contains("overridden to not hold"), "\(why)")

      _ = try await host.json("conditions", "set", "network=held")
      try await host.request(id, is: "succeeded")
      _ = try await host.json("conditions", "clear", "idle")
      try await host.terminate()
      try await host.start()
      let last = try await states(host)
      #expect(last["network"]?["overridden"]?.bool == true && last["network"]?["holds"]?.bool == true)
      #expect(last["idle"]?["overridden"]?.bool == false)
      _ = try await host.json("conditions", "clear")
      #expect(try await warnings(host).isEmpty)
      #expect(!FileManager.default.fileExists(atPath: host.directory("state/condition-overrides")))
      try await host.terminate()
      try await host.start()
      #expect(try await states(host).values.allSatisfy { $0["overridden"]?.bool == false })
      #expect(!host.current.lines.contains { $0.contains("overrid") }, "\(host.current.lines)")
    }
  }

  @Test("a damaged file of overrides overrides nothing; the host says so and starts")
  func damaged() async throws {
    try await HostProcess.run { host in
      _ = try await host.json("conditions", "set", "idle=none")
      try await host.terminate()
      let file = host.directory("state/condition-overrides")
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      try host.directory.file("state/condition-overrides", String(host.directory.text("state/condition-overrides").dropLast(3)))
      try await host.start()
      try await host.current.line(with: "warning", "condition-overrides", "is damaged", "taskhost conditions set")
      #expect(try await states(host)["idle"]?["overridden"]?.bool == false)
    }
  }
}
