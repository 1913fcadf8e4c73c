import TestSupport
import Foundation
import Glibc
import Testing

/// How a host ends.
@Suite("Draining", .timeLimit(.minutes(20)))
struct DrainTests {
  @Test(
    "82: a live run that ends in time ends as it would have, no new one begins, the shutdown hook is called, exit 0",
    arguments: Isolation.allCases)
  func endsInTime(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation, script: ["-DSHUTDOWN", "-DMAX_RUNS=1"]) { host in
      let gate = try host.directory.fifo("gate")
      let live = try await host.submit("gate \(gate.path);message finished")
      try await gate.arrival()
      let waiting = try await host.submit("result 0")
      host.signal(SIGTERM)
      try await host.current.line(with: "draining")
      #expect(try await host.json("status")["phase"]?.string == "draining")
      let refused = try await host.cli("submit", "test.script")
      #expect(refused.status == 6 && refused.errors.contains("draining"), "\(refused.errors)")
      let why = try await host.json("tasks", "why", waiting)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains("draining") }, "\(why)")
      gate.release()
      #expect(try await host.end().status == 0)
      #expect(host.directory.text("state/data/test.script/shutdown") == "called\n")
      try await host.start()
      #expect(try await host.json("tasks", "show", live)["state"]?.string == "succeeded")
      #expect(try await host.runs(of: live).count == 1)
      try await host.request(waiting, is: "succeeded")
    }
  }

  @Test(
    "82: a run that outlasts drain_timeout expires with DRAINING, and what it returns decides",
    arguments: [(0, "succeeded", "succeeded"), (3, "stopped", "pending"), (2, "stopped", "pending"), (4, "failed", "failed")],
    Isolation.allCases)
  func expires(_ row: (result: Int, outcome: String, state: String), isolation: Isolation) async throws {
    let (result, outcome, state) = row
    try await HostProcess.run("drain_timeout = \"200ms\"\n", isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("on-expire;gate \(gate.path);wait-expired;result \(result)")
      try await gate.pass()
      #expect(try await host.terminate().status == 0)
      // Without its plugin the next host leaves the request as it is.
      unlink(host.plugins + "/script.so")
      try await host.addTwin()
      try await host.start()
      let request = try await host.json("tasks", "show", id)
      #expect(request["state"]?.string == state)
      if state == "pending" { #expect(request["attempts_spent"]?.integer == 0) }
      let run = try await host.runs(of: id).first
      #expect(run?["outcome"]?.string == outcome)
      #expect(run?["stop_reason"]?.string == "draining")
      #expect(try await host.lastOutput(of: id)?["expired_by"]?.integer == 4)
    }
  }

  @Test(
    "82: a run that ignores DRAINING is stopped by force when grace ends, and its request is pending at once", arguments: Isolation.allCases
  )
  func forcedByGrace(_ isolation: Isolation) async throws {
    try await HostProcess.run("drain_timeout = \"100ms\"\n[plugin.\"test.script\"]\ngrace = \"200ms\"\n", isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      #expect(try await host.terminate().status == 0)
      gate.release()
      unlink(host.plugins + "/script.so")
      try await host.addTwin()
      try await host.start()
      let request = try await host.json("tasks", "show", id)
      #expect(request["state"]?.string == "pending")
      #expect(request["attempts_spent"]?.integer == 0)
      let run = try await host.runs(of: id).first
      #expect(run?["outcome"]?.string == "stopped")
      #expect(run?["forced"]?.bool == true)
    }
  }

  @Test("82: a second signal forces at once", arguments: [SIGTERM, SIGINT], Isolation.allCases)
  func secondSignal(_ signal: Int32, isolation: Isolation) async throws {
    try await HostProcess.run("drain_timeout = \"10m\"\n", isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      host.signal(signal)
      try await host.current.line(with: "draining")
      host.signal(signal)
      #expect(try await host.end().status == 0)
      gate.release()
      try await host.start()
      #expect(try await host.runs(of: id).last?["outcome"]?.string == "stopped")
      try await gate.pass()
      try await host.request(id, is: "succeeded")
    }
  }

  @Test("taskhost shutdown drains too, and --wait returns when the host has ended", arguments: Isolation.allCases)
  func shutdown(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation, script: ["-DSHUTDOWN"]) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      let waiting = try host.startCLI("shutdown", "--wait")
      try await host.current.line(with: "draining")
      #expect(waiting.isRunning)
      gate.release()
      let result = try await waiting.result()
      #expect(result.status == 0 && result.output == "draining\n")
      // Nobody has the state directory any more: another host can start at once.
      let lock = open(host.directory("state/lock"), O_RDWR | O_CLOEXEC)
      defer { close(lock) }
      #expect(flock(lock, LOCK_EX | LOCK_NB) == 0, "errno \(errno)")
      flock(lock, LOCK_UN)
      #expect(try await host.end().status == 0)
      #expect(host.directory.text("state/data/test.script/shutdown") == "called\n")
      try await host.start()
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "succeeded")
    }
  }

  @Test("shutdown --json answers with the phase")
  func shutdownJSON() async throws {
    try await HostProcess.run { host in
      let answer = try await host.json("shutdown")
      #expect(answer["phase"]?.string == "draining")
      #expect(try await host.end().status == 0)
    }
  }

  @Test("submit --wait ends with exit 5 when the host goes, killed or drained, and names the request", arguments: [SIGKILL, SIGTERM])
  func streamsEnd(_ signal: Int32) async throws {
    try await HostProcess.run("drain_timeout = \"0s\"\n") { host in
      let gate = try host.directory.fifo("gate")
      let socket = host.socket
      let events = try await onThread {
        let events = Held(try SocketClient(socket))
        try events.client.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n")
        _ = try events.client.read(until: ": subscribed\n\n")
        return events
      }
      let later = try host.startCLI("submit", "test.script", "--after", "1h", "--wait")
      // The client has subscribed before it submits, so it follows by now.
      try await onThread { _ = try events.client.read(until: "event: request\n") }
      let waiting = try host.startCLI("submit", "test.script", "--payload", "\"on-expire;gate \(gate.path);result 3\"", "--wait")
      try await gate.arrival()
      let ids = try await host.json("tasks", "list")["requests"]?.array.compactMap { $0["id"]?.string } ?? []
      #expect(ids.count == 2)
      host.signal(signal)
      if signal == SIGTERM { try await host.current.line(with: "run expired") }
      gate.release()
      for client in [waiting, later] {
        let result = try await client.result()
        #expect(result.status == 5, "\(result.errors)")
        #expect(ids.contains { result.errors.contains("taskhost tasks show \($0)") }, "\(result.errors)")
      }
    }
  }

  /// A connection that is used by one thread after the other.
  private final class Held: @unchecked Sendable {  // reason: its users wait for each other
    let client: SocketClient
    init(_ client: SocketClient) { self.client = client }
  }

  @Test("75: a shutdown hook that hangs holds the host back for five seconds at most, and it exits with 0", arguments: Isolation.allCases)
  func hangingHook(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation, script: ["-DSHUTDOWN", "-DSHUTDOWN_HANGS"]) { host in
      // A worker that has had no run has nothing to shut down.
      _ = try await host.run("result 0")
      host.signal(SIGTERM)
      let end = try await host.end(within: .seconds(20))
      #expect(end.status == 0)
      #expect(host.directory.text("state/data/test.script/shutdown") == "called\n")
    }
  }

  @Test("82: a signal that comes as soon as clients can connect drains")
  func atOnce() async throws {
    try await HostProcess.prepare(isolation: .thread) { host in
      try await host.add("script.so", "script", ["-DSHUTDOWN"])
      try host.configure("")
      for round in 1...15 {
        try host.spawn()
        try await host.current.line(with: "control socket open")
        host.signal(SIGTERM)
        let status = try await host.end().status
        try #require(status == 0, "round \(round): a status below zero is the signal that killed it")
        #expect(host.directory.text("state/data/test.script/shutdown").split(separator: "\n").count == round)
      }
    }
  }

  @Test("82: a signal while the host launches ends it afterwards, a second one at once, and nothing is lost")
  func duringLaunch() async throws {
    try await HostProcess.run { host in
      let id = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      // A launch that takes its time: the signal comes while it lasts.
      try await host.add("slow.so", "faulty_launch", ["-DFAULT_HANGS"])
      try host.configure("launch_budget = \"1s\"\n")
      try host.spawn()
      try await host.current.line(with: "never returns")
      host.signal(SIGTERM)
      try await host.current.line(with: "ends as soon as it has launched")
      #expect(try await host.end().status == 0)
      try host.configure("launch_budget = \"10m\"\n")
      try host.spawn()
      try await host.current.line(with: "never returns")
      host.signal(SIGTERM)
      try await host.current.line(with: "a second signal ends it now")
      host.signal(SIGTERM)
      #expect(try await host.end().status == -SIGTERM)
      unlink(host.plugins + "/slow.so")
      try await host.start()
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "pending")
    }
  }
}
