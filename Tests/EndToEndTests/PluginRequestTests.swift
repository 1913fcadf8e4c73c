import Foundation
import Testing

/// What plugins keep and submit.
@Suite("State and submissions of plugins", .timeLimit(.minutes(20)))
struct PluginRequestTests {
  @Test("78: state and checkpoint survive the end of the host, also by SIGKILL", arguments: Isolation.allCases)
  func durable(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let stored = try await host.run("state-get colour;checkpoint-get;state-set colour deep blue")
      #expect(stored["run"]?["output"]?["state_get"]?.integer == -8)
      #expect(stored["run"]?["output"]?["checkpoint_get"]?.integer == -8)
      #expect(stored["run"]?["output"]?["state_set"]?.integer == 0)
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("checkpoint-get;checkpoint-set half;state-get colour;gate \(gate.path)")
      try await gate.arrival()
      await host.kill()
      gate.release()
      try await host.start()
      try await gate.pass()
      try await host.request(id, is: "succeeded")
      let output = try await host.lastOutput(of: id)
      #expect(output?["checkpoint"]?.string == "half")
      #expect(output?["state"]?.string == "deep blue")
      // A checkpoint belongs to its request, state to the identifier; a deleted key is gone.
      let next = try await host.run("checkpoint-get;state-get colour;state-set colour")
      #expect(next["run"]?["output"]?["checkpoint_get"]?.integer == -8)
      #expect(next["run"]?["output"]?["state"]?.string == "deep blue")
      #expect(try await host.run("state-get colour")["run"]?["output"]?["state_get"]?.integer == -8)
    }
  }

  @Test("one identifier does not see another's state", arguments: Isolation.allCases)
  func stateIsApart(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script")
      try await host.add("other.so", "script", ["-DIDENTIFIER=\"test.other\""])
      try host.configure("")
      try await host.start()
      _ = try await host.run("state-set key mine")
      let other = try await host.run("state-get key", identifier: "test.other")
      #expect(other["run"]?["output"]?["state_get"]?.integer == -8)
    }
  }

  @Test("a plugin submits to itself, and that runs", arguments: Isolation.allCases)
  func toItself(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let run = try await host.run("submit test.script log 2 the second")
      #expect(run["run"]?["output"]?["submit"]?.integer == 0)
      let second = try #require(run["run"]?["output"]?["submitted"]?.string)
      try await host.request(second, is: "succeeded")
    }
  }

  @Test("70: a plugin submits to others only where its configuration says so", arguments: Isolation.allCases)
  func toOthers(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script")
      try await host.add("other.so", "script", ["-DIDENTIFIER=\"test.other\""])
      try host.configure("[plugin.\"test.other\"]\nmay_submit = [\"test.script\"]\n")
      try await host.start()
      let refused = try await host.run("submit test.other result 0")
      #expect(refused["run"]?["output"]?["submit"]?.integer == -4)
      #expect((refused["run"]?["output"]?["submit_error"]?.integer ?? 0) > 0, "last_error has a sentence")
      let taken = try await host.run("submit test.script result 0", identifier: "test.other")
      #expect(taken["run"]?["output"]?["submit"]?.integer == 0)
      let id = try #require(taken["run"]?["output"]?["submitted"]?.string)
      try await host.request(id, is: "succeeded")
      #expect(try await host.json("tasks", "list", "--identifier", "test.other")["requests"]?.array.count == 1)
    }
  }

  @Test("what a plugin submits while it launches is committed once after the seal, at each launch", arguments: Isolation.allCases)
  func launchSubmit(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation, script: ["-DLAUNCH_SUBMIT"]) { host in
      func requests() async throws -> [JSON] { try await host.json("tasks", "list")["requests"]?.array ?? [] }
      let first = try await requests()
      #expect(first.count == 1)
      #expect(first.first?["unique_key"]?.string == "launch")
      try await host.request(try #require(first.first?["id"]?.string), is: "succeeded")
      try await host.terminate()
      try await host.start()
      #expect(try await requests().count == 2)
    }
  }

  @Test("34: a plugin that is refused submits nothing", arguments: Isolation.allCases)
  func refusedSubmitsNothing(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("a.so", "script")
      try await host.add("b.so", "script", ["-DLAUNCH_SUBMIT"])
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      #expect(try await host.plugin("b.so")["reason"]?["code"]?.string == "identifier_taken")
      #expect(try await host.json("tasks", "list")["requests"]?.array.isEmpty == true)
      try await expectTwinRuns(host)
    }
  }
}
