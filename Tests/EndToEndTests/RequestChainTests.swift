import Foundation
import Testing
import TestSupport

/// A plugin whose runs each submit the next request.
@Suite("Chains of requests", .timeLimit(.minutes(20)))
struct RequestChainTests {
  private func with(_ isolation: Isolation, _ keys: String, _ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("chain.so", "chain", ["-DIDENTIFIER=\"test.chain\""])
      try host.configure("[plugin.\"test.chain\"]\n\(keys)\n")
      try await host.start()
      try await body(host)
    }
  }

  private func pending(_ host: HostProcess) async throws -> [JSON] {
    let all = try await host.json("tasks", "list", "--identifier", "test.chain")["requests"]?.array ?? []
    return all.filter { $0["state"]?.string == "pending" }
  }

  @Test(
    "a run that expired submits after its handler has returned, until its grace is over; nothing else is taken of it",
    arguments: Isolation.allCases)
  func afterExpiration(_ isolation: Isolation) async throws {
    try await with(isolation, "grace = \"5s\"") { host in
      let id = try await host.submit("linger", identifier: "test.chain")
      try await host.request(id, is: "running")
      #expect(try await host.cli("simulate", "expire", "test.chain").status == 0)
      try await host.request(id, is: "failed")
      try await host.current.line(with: "in its grace: submit 0, progress -5")
      #expect(try await pending(host).count == 1)
      try await host.current.line(with: "after its grace: submit -5")
      #expect(try await pending(host).count == 1)
    }
  }

  @Test(
    "submissions without a time keep minimum_interval apart, which is said once; simulate launch runs the next one now",
    arguments: Isolation.allCases)
  func pace(_ isolation: Isolation) async throws {
    try await with(isolation, "") { host in
      _ = try await host.run("again", identifier: "test.chain")
      try await host.current.line(with: "submit 0: much later")
      let next = try #require(try await pending(host).first)
      let due = try #require(next["due_unix_ms"]?.integer)
      #expect(Double(due) / 1000 > Date().timeIntervalSince1970 + 600, "\(next)")
      let simulated = try await host.json("simulate", "launch", "test.chain")
      #expect(simulated["id"]?.string == next["id"]?.string)
      try await host.request(try #require(simulated["id"]?.string), is: "succeeded")
      try await host.terminate()
      #expect(host.current.lines.count { $0.contains("waits for minimum_interval, 15m") } == 1)
    }
    try await with(isolation, "minimum_interval = \"1s\"") { host in
      let first = try await host.run("again", identifier: "test.chain")
      #expect(first["outcome"]?.string == "succeeded", "\(first)")
      try await host.current.line(with: "submit 0: soon")
      let next = try await pending(host).first ?? first
      if let id = next["id"]?.string { try await host.request(id, is: "succeeded") }
    }
  }
}
