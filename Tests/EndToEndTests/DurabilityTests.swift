import TestSupport
import Foundation
import Glibc
import Synchronization
import Testing

/// What is acknowledged is kept.
@Suite("Durability", .timeLimit(.minutes(20)))
struct DurabilityTests {
  /// The ids that the host has answered with.
  private final class Acknowledged: Sendable {
    private struct State {
      var ids: Set<String> = []
      var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var ids: Set<String> { state.withLock { $0.ids } }

    func add(_ id: String) {
      let woken = state.withLock { state in
        state.ids.insert(id)
        let count = state.ids.count
        defer { state.waiters.removeAll { $0.count <= count } }
        return state.waiters.filter { $0.count <= count }
      }
      for waiter in woken { waiter.continuation.resume() }
    }

    /// Waits until there are so many.
    func reach(_ count: Int) async {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.ids.count < count { state.waiters.append((count, continuation)) }
          return state.ids.count >= count
        }
        if isThere { continuation.resume() }
      }
    }
  }

  @Test("78: over fifteen kills at random moments every acknowledged request is kept, and ends")
  func kills() async throws {
    try await HostProcess.run("max_concurrent_runs = 8\n", script: ["-DMAX_RUNS=8"]) { host in
      let acknowledged = Acknowledged()
      let notes = try host.directory.shared("notes")
      for cycle in 0..<15 {
        let socket = host.socket
        // Four clients submit as fast as they can until the host is gone.
        let clients = (0..<4).map { client in
          Task {
            try? await onThread {
              let connection = try SocketClient(socket, limit: .seconds(20))
              for number in 0... {
                let steps = number % 5 == 0 ? "sleep 3;note \(notes)" : number % 7 == 0 ? "result-until 2 3;note \(notes)" : "note \(notes)"
                let body = "{\"identifier\": \"test.script\", \"payload\": \"\(steps)\", \"tags\": [\"c\(client)\"]}"
                let answer = try connection.request("POST", "/v1/requests", body: body)
                guard answer.status == 201, let id = try answer.json()["id"]?.string else { continue }
                acknowledged.add(id)
              }
            }
          }
        }
        // The moment of the kill is random on purpose, and the cycle's number makes sure that early ones are among them.
        let before = acknowledged.ids.count
        await acknowledged.reach(before + 1 + cycle)
        try await Task.sleep(for: .microseconds(Int.random(in: 0...40_000)))
        await host.kill()
        for client in clients { _ = await client.value }
        try await host.start()
      }
      let ids = acknowledged.ids
      #expect(ids.count >= 15)
      for id in ids {
        let record = try await host.request(id, within: .seconds(60)) {
          ["succeeded", "failed", "cancelled"].contains($0["state"]?.string)
        }
        #expect(record["state"]?.string == "succeeded", "\(record)")
      }
      // Each one really ran: at least once.
      let ran = Set(
        host.directory.text("shared/notes").split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) })
      #expect(ids.subtracting(ran).isEmpty, "recorded as succeeded without a run: \(ids.subtracting(ran))")
    }
  }

  @Test(
    "78: a run that a killed host had is recorded as lost, and its request runs again with the same attempt", arguments: Isolation.allCases)
  func lost(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("facts;gate \(gate.path)")
      for _ in 1...2 {
        try await gate.arrival()
        await host.kill()
        gate.release()
        try await host.start()
        try await host.current.line(with: "1 runs were lost")
      }
      try await gate.pass()
      let request = try await host.request(id, is: "succeeded")
      #expect(request["attempts_spent"]?.integer == 0)
      let runs = try await host.runs(of: id)
      #expect(runs.compactMap { $0["outcome"]?.string } == ["succeeded", "lost", "lost"])
      #expect(runs.compactMap { $0["attempt"]?.integer } == [1, 1, 1])
      let output = try await host.lastOutput(of: id)
      #expect(output?["attempt"]?.integer == 1)
      #expect(output?["request_id"]?.string == id)
    }
  }

  @Test("78: five losses in a row fail a request")
  func tooManyLosses() async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path)")
      for _ in 1...5 {
        try await gate.arrival()
        await host.kill()
        gate.release()
        try await host.start()
      }
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "failed")
      #expect(try await host.runs(of: id).compactMap { $0["outcome"]?.string } == Array(repeating: "lost", count: 5))
    }
  }

  @Test(
    "78: a request that was cancelled while it ran is cancelled, not run again, when the host dies meanwhile", arguments: Isolation.allCases
  )
  func cancelledThenKilled(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      _ = try await host.json("tasks", "cancel", id)
      await host.kill()
      gate.release()
      try await host.start()
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "cancelled")
    }
  }

  @Test("78: attempts that were spent before a kill stay spent", arguments: Isolation.allCases)
  func spentAttempts(_ isolation: Isolation) async throws {
    try await HostProcess.run("[retry]\nattempts = 3\ninitial = \"100ms\"\nmaximum = \"100ms\"\n", isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("result-until 2 3;gate \(gate.path)")
      try await gate.pass()
      _ = try await host.request(id) { $0["attempts_spent"]?.integer == 1 }
      try await gate.arrival()
      // The worker calls the handler before the host knows.
      try await host.request(id, is: "running")
      await host.kill()
      gate.release()
      try await host.start()
      try await gate.pass()
      try await host.request(id, is: "succeeded")
      #expect(try await host.runs(of: id).compactMap { $0["attempt"]?.integer } == [2, 2, 1])
    }
  }

  @Test("78: a batch is kept whole or not at all")
  func batch() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let answers = try await onThread {
        let client = try SocketClient(socket)
        let good = "{\"identifier\": \"test.script\", \"delay_ms\": 3600000}"
        let bad = "{\"identifier\": \"test.nobody\"}"
        return [
          try client.request("POST", "/v1/requests", body: "[\(good),\(bad),\(good)]"),
          try client.request("POST", "/v1/requests", body: "[\(good),\(good)]"),
        ]
      }
      #expect(answers[0].status == 422)
      #expect(try answers[0].json()["error"]?["field"]?.string == "[1].identifier")
      #expect(answers[1].status == 201)
      #expect(try answers[1].json()["requests"]?.array.count == 2)
      #expect(try await host.json("tasks", "list")["requests"]?.array.count == 2)
    }
  }
}
