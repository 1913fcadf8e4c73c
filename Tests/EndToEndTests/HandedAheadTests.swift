import TestSupport
import Foundation
import Glibc
import Testing

/// Requests that are handed to a handler of short runs before their runs begin: to everybody they are pending.
@Suite("Requests handed out ahead", .timeLimit(.minutes(20)))
struct HandedAheadTests {
  /// A host whose plugin runs one run at a time, all short so far; then a run that waits at a gate, and others behind it.
  private static func withQueue(
    _ isolation: Isolation, behind count: Int = 40, _ body: (HostProcess, Gate, _ first: String, _ behind: [String]) async throws -> Void
  ) async throws {
    try await HostProcess.run(isolation: isolation, script: ["-DMAX_RUNS=1"]) { host in
      for _ in 0..<3 { _ = try await host.run("result 0") }
      let gate = try host.directory.fifo("gate")
      let notes = try host.directory.shared("notes")
      let scripts = ["gate \(gate.path)"] + Array(repeating: "note \(notes)", count: count)
      let bodies = scripts.map { "{\"identifier\": \"test.script\", \"payload\": \"\($0)\"}" }
      let answer = try await host.post("/v1/requests", "[\(bodies.joined(separator: ", "))]")
      let ids = try answer.json()["requests"]?.array.compactMap { $0["id"]?.string } ?? []
      try #require(ids.count == count + 1, "\(answer)")
      try await gate.arrival()
      try await body(host, gate, ids[0], Array(ids.dropFirst()))
    }
  }

  /// Each is pending, and nothing says that it was ever anything else.
  private func expectUntouched(_ ids: [String], _ host: HostProcess) async throws {
    for id in ids {
      let record = try await host.json("tasks", "show", id)
      #expect(record["state"]?.string == "pending", "\(record)")
      #expect(record["attempts_spent"]?.integer == 0 && record["losses"]?.integer ?? 0 == 0, "\(record)")
      #expect(try await host.runs(of: id).isEmpty)
    }
  }

  @Test("no more count as running than max_concurrent_runs allows", arguments: Isolation.allCases)
  func counted(_ isolation: Isolation) async throws {
    try await Self.withQueue(isolation) { host, gate, _, behind in
      let status = try await host.json("status")
      #expect(status["running"]?.integer == 1, "\(status)")
      #expect(status["requests"]?["running"]?.integer ?? 0 <= 1, "\(status)")
      #expect(try await host.plugin("script.so")["running"]?.integer == 1)
      gate.release()
      for id in behind { try await host.request(id, is: "succeeded") }
    }
  }

  @Test("a cancelled one never runs", arguments: Isolation.allCases)
  func cancelled(_ isolation: Isolation) async throws {
    try await Self.withQueue(isolation) { host, gate, _, behind in
      let socket = host.socket
      let cancelled = behind[1]
      // At once: before the queue is taken back for the run in front, if the machine lets it.
      let answer = try await onThread { try SocketClient(socket).request("DELETE", "/v1/requests/\(cancelled)") }
      #expect(answer.status == 200, "\(answer)")
      gate.release()
      for id in behind where id != cancelled { try await host.request(id, is: "succeeded") }
      #expect(try await host.json("tasks", "show", cancelled)["state"]?.string == "cancelled")
      #expect(try await host.runs(of: cancelled).isEmpty)
      let notes = try String(contentsOfFile: try host.directory.shared("notes"), encoding: .utf8)
      #expect(!notes.contains(cancelled))
    }
  }

  @Test("a better one starts before all that wait behind a run that turned long", arguments: Isolation.allCases)
  func better(_ isolation: Isolation) async throws {
    try await Self.withQueue(isolation) { host, gate, _, behind in
      let urgent = try await host.submit("note \(try host.directory.shared("notes"))", ["--priority", "5"])
      gate.release()
      for id in behind + [urgent] { try await host.request(id, is: "succeeded") }
      let notes = try String(contentsOfFile: try host.directory.shared("notes"), encoding: .utf8)
      #expect(notes.hasPrefix(urgent), "\(notes.prefix(200))")
    }
  }

  @Test("after a kill only what had begun is lost", arguments: Isolation.allCases)
  func killed(_ isolation: Isolation) async throws {
    try await Self.withQueue(isolation) { host, gate, first, behind in
      await host.kill()
      gate.release()
      // Without its plugin the next host leaves the requests as they are.
      unlink(host.plugins + "/script.so")
      try await host.addTwin()
      try await host.start()
      #expect(try await host.runs(of: first).compactMap { $0["outcome"]?.string } == ["lost"])
      try await expectUntouched(behind, host)
    }
  }

  @Test("a shutdown leaves them pending", arguments: Isolation.allCases)
  func shutdown(_ isolation: Isolation) async throws {
    try await Self.withQueue(isolation) { host, gate, first, behind in
      host.signal(SIGTERM)
      try await host.current.line(with: "draining")
      // The refusal is the answer of a turn, which takes the queue back before it answers.
      let refused = try await host.cli("submit", "test.script")
      #expect(refused.status != 0 && refused.errors.contains("draining"), "\(refused)")
      gate.release()
      #expect(try await host.end().status == 0)
      unlink(host.plugins + "/script.so")
      try await host.addTwin()
      try await host.start()
      #expect(try await host.json("tasks", "show", first)["state"]?.string == "succeeded")
      try await expectUntouched(behind, host)
    }
  }

  @Test("a host that dies with one held for its time finds it pending, with nothing spent")
  func diesWhileHeld() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try host.spawn(through: ["/usr/bin/env", "TASKHOST_FAILPOINT=run-held"])
      try await host.current.line(with: "launched:")
      let id = try await host.submit("result 0", ["--after", "1s"])
      #expect(try await host.end().status == -SIGKILL)
      unlink(host.plugins + "/script.so")
      try await host.addTwin()
      try await host.start()
      try await expectUntouched([id], host)
    }
  }
}
