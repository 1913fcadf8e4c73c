import Foundation
import Glibc
import TestSupport
import Testing

/// Execution assertions against real hosts and holders.
@Suite("Assertions", .timeLimit(.minutes(20)))
struct AssertionTests {
  /// Takes an assertion and returns its id.
  private func take(_ host: HostProcess, _ body: String) async throws -> String {
    let answer = try await host.post("/v1/assertions", body)
    guard answer.status == 201, let id = try answer.json()["id"]?.string else { throw TestFailure("\(answer.status): \(answer.body)") }
    return id
  }

  private func giveBack(_ host: HostProcess, _ id: String) async throws -> SocketClient.Answer {
    let socket = host.socket
    return try await onThread { try SocketClient(socket).request("DELETE", "/v1/assertions/\(id)") }
  }

  /// Starts a drain, and waits until only assertions hold it.
  private func drain(_ host: HostProcess) async throws {
    host.signal(SIGTERM)
    try await host.current.line(with: "assertions are held")
  }

  @Test("a drain waits for an assertion, takes no new one, and ends when it is given back")
  func givenBack() async throws {
    try await HostProcess.run { host in
      let id = try await take(host, "{\"name\": \"backup\", \"reason\": \"writing\", \"for_ms\": 600000}")
      try await drain(host)
      let status = try await host.json("status")
      #expect(status["phase"]?.string == "draining")
      #expect(status["assertions"]?.array.first?["name"]?.string == "backup")
      let text = try await host.cli("status")
      #expect(text.output.contains("HELD BY") && text.output.contains("backup") && text.output.contains("writing"), "\(text.output)")
      let late = try await host.post("/v1/assertions", "{\"name\": \"late\"}")
      #expect(late.status == 503 && late.body.contains("draining"), "\(late.body)")
      let held = try await host.cli("hold", "--", "touch", host.directory("touched"))
      #expect(held.status == 6 && held.errors.contains("draining"), "\(held.errors)")
      #expect(!FileManager.default.fileExists(atPath: host.directory("touched")), "the command must not run")
      #expect(host.isRunning)
      #expect(try await giveBack(host, id).status == 200)
      #expect(try await host.end().status == 0)
      #expect(host.current.lines.contains { $0.contains("assertion given back") })
    }
  }

  @Test("names and reasons cannot forge lines of the log or control a terminal", arguments: ["text", "json"])
  func controlCharacters(_ format: String) async throws {
    try await HostProcess.prepare { host in
      try host.configure("[log]\nformat = \"\(format)\"\n")
      try await host.start()
      let forged = "x\\u001b[2J\\n2026-01-01T00:00:00Z notice all is well\\u202e"
      _ = try await take(host, "{\"name\": \"\(forged)\", \"reason\": \"\(forged)\", \"for_ms\": 600000}")
      let line = try await host.current.line(with: "assertion held")
      let shown = format == "json" ? "x\\\\u{1b}[2J\\\\n2026" : "x\\u{1b}[2J\\n2026"
      #expect(line.components(separatedBy: shown).count == 3, "\(line)")
      #expect(!host.current.lines.contains { $0.contains("\u{1b}") || $0.contains("\u{202e}") || $0.hasPrefix("2026-01-01") })
    }
  }

  @Test("a drain goes on when an assertion expires")
  func expires() async throws {
    try await HostProcess.run { host in
      let id = try await take(host, "{\"name\": \"short\", \"for_ms\": 700}")
      host.signal(SIGTERM)
      try await host.current.line(with: "assertion expired after 700ms")
      #expect(try await host.end().status == 0)
      #expect(!id.isEmpty)
    }
  }

  @Test("an assertion that has expired says so when it is given back")
  func lateHolder() async throws {
    try await HostProcess.run { host in
      let id = try await take(host, "{\"name\": \"short\", \"for_ms\": 1}")
      try await host.current.line(with: "assertion expired")
      let answer = try await giveBack(host, id)
      #expect(answer.status == 404 && answer.body.contains("expired after 1ms"), "\(answer.body)")
    }
  }

  @Test("a holder that is killed holds nothing: the drain goes on")
  func killedHolder() async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let holder = try host.startCLI("hold", "--for", "10m", "--", "cat", gate.path)
      try await gate.arrival()
      try await drain(host)
      holder.send(SIGKILL)
      try await host.current.line(with: "its process is gone")
      #expect(try await host.end().status == 0)
      gate.release()
    }
  }

  @Test("a second signal ends the waiting")
  func secondSignal() async throws {
    try await HostProcess.run { host in
      _ = try await take(host, "{\"name\": \"endless\", \"for_ms\": 600000}")
      try await drain(host)
      host.signal(SIGTERM)
      #expect(try await host.end().status == 0)
      #expect(host.current.lines.contains { $0.contains("assertion overruled") })
    }
  }

  @Test("a signal to a host that drains because of taskhost shutdown is the second one")
  func signalAfterShutdown() async throws {
    try await HostProcess.run { host in
      _ = try await take(host, "{\"name\": \"endless\", \"for_ms\": 600000}")
      #expect(try await host.cli("shutdown").status == 0)
      try await host.current.line(with: "assertions are held")
      #expect(try await host.cli("shutdown").status == 0)
      host.signal(SIGTERM)
      #expect(try await host.end().status == 0)
      #expect(host.current.lines.contains { $0.contains("assertion overruled") })
    }
  }

  @Test("assertions with a process take an eighth of a host's descriptors at most, and the others stay usable")
  func fewDescriptors() async throws {
    try await HostProcess.prepare { host in
      try host.configure("")
      try host.spawn(through: ["/bin/sh", "-c", "ulimit -n 120; exec \"$@\"", "sh"])
      try await host.current.line(with: "control socket open")
      let body = "{\"name\": \"a\", \"process_id\": \(getpid())}"
      for _ in 0..<15 { _ = try await take(host, body) }
      let refused = try await host.post("/v1/assertions", body)
      #expect(refused.status == 429 && refused.body.contains("15 assertions with a process_id are held already"), "\(refused.body)")
      _ = try await take(host, "{\"name\": \"a\"}")
      #expect(try await host.cli("status").status == 0)
    }
  }

  @Test("hold: shutdown waits for the command, which ends as it would have")
  func holdDuringDrain() async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let holder = try host.startCLI("hold", "--for", "5m", "--why", "reading", "--name", "reader", "--", "cat", gate.path)
      try await gate.arrival()
      let held = try await host.json("status")["assertions"]?.array.first
      #expect(held?["name"]?.string == "reader" && held?["reason"]?.string == "reading")
      #expect(held?["process_id"]?.integer == Int64(holder.processID))
      let waiting = try host.startCLI("shutdown", "--wait")
      try await host.current.line(with: "assertions are held", "reader")
      #expect(host.isRunning && waiting.isRunning)
      gate.release()
      let result = try await holder.result()
      #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
      #expect(try await host.end().status == 0)
      #expect(try await waiting.result().status == 0)
    }
  }

  @Test(
    "hold exits as its command",
    arguments: [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + SIGTERM), ("kill -KILL $$", 128 + SIGKILL)])
  func exitCodes(_ script: String, _ status: Int32) async throws {
    try await HostProcess.run { host in
      let result = try await host.cli(["hold", "--", "sh", "-c", "cat; echo said; \(script)"], input: Data("in ".utf8))
      #expect(result.status == status && result.output == "in said\n" && result.errors.isEmpty, "\(result)")
      #expect(try await host.json("status")["assertions"]?.array.isEmpty == true)
    }
  }

  @Test("hold without a host, without a command, with bad options, or with a command that cannot run")
  func failures() async throws {
    try await HostProcess.run { host in
      let touch = ["--", "touch", host.directory("touched")]
      for (arguments, status, text) in [
        (["--for", "11m"] + touch, 6, "--for: 11m is outside of 1ms to 10m"),
        (["--for=-5s"] + touch, 6, "--for: -5s is outside of 1ms to"),
        (["--for", "soon"] + touch, 2, "--for: 'soon' is not a duration"), ([], 2, "There is no command"),
        (["touch", "x"], 2, "write it after --"), (["--name", String(repeating: "n", count: 257)] + touch, 6, "--name: 257 bytes"),
        (["--why", ""] + touch, 6, "--why: is empty"), (["--", "/nonexistent/program"], 127, "/nonexistent/program: No such file"),
        (["--", "/etc/passwd"], 126, "/etc/passwd: Permission denied"),
      ] {
        let result = try await host.cli(["hold"] + arguments)
        #expect(result.status == Int32(status) && result.errors.contains(text), "\(arguments): \(result)")
      }
      #expect(try await host.json("status")["assertions"]?.array.isEmpty == true)
      try await host.terminate()
      let result = try await host.cli(["hold"] + touch)
      #expect(result.status == 5 && result.errors.contains("no host is running there"), "\(result)")
      #expect(!FileManager.default.fileExists(atPath: host.directory("touched")), "the command must not run")
    }
  }

  @Test("a command that outlasts its time goes on, and a warning says that the host no longer waits")
  func outlasts() async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let holder = try host.startCLI("hold", "--for", "300ms", "--", "cat", gate.path)
      try await gate.arrival()
      try await host.current.line(with: "assertion expired after 300ms")
      #expect(try await host.terminate().status == 0, "the host does not wait for the command")
      #expect(holder.isRunning)
      gate.release()
      let result = try await holder.result()
      #expect(result.status == 0)
      #expect(result.errors == "taskhost: the assertion has expired: the host no longer waits for cat\n", "\(result.errors)")
    }
  }

  @Test("hold passes a signal on to its command", arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
  func signals(_ signal: Int32) async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let holder = try host.startCLI("hold", "--", "cat", gate.path)
      try await gate.arrival()
      holder.send(signal)
      #expect(try await holder.result().status == 128 + signal)
      try await host.current.line(with: "assertion given back")
      gate.release()
    }
  }

  @Test("a user's 501st assertion is one too many, is counted, and a log line does not name them all")
  func tooMany() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let refused = try await onThread {
        let client = try SocketClient(socket)
        for number in 0..<500 {
          let answer = try client.request("POST", "/v1/assertions", body: "{\"name\": \"\(number)\"}")
          guard answer.status == 201 else { throw TestFailure("\(number): \(answer.body)") }
        }
        return try client.request("POST", "/v1/assertions", body: "{\"name\": \"one too many\"}")
      }
      #expect(refused.status == 429 && refused.body.contains("user \(getuid()) holds 500 assertions"), "\(refused.body)")
      #expect(try await host.json("status")["counters"]?["assertions_refused"]?.integer == 1)
      host.signal(SIGTERM)
      try await host.current.line(with: "assertions are held", "and 495 others")
      host.signal(SIGTERM)
      #expect(try await host.end().status == 0)
    }
  }

  // MARK: Of runs

  @Test("a drain asks a run that holds an assertion to stop only once it has ended it", arguments: Isolation.allCases)
  func sparedRun(_ isolation: Isolation) async throws {
    try await HostProcess.run("drain_timeout = \"0s\"\n[log]\nlevel = \"debug\"\n", isolation: isolation) { host in
      let (gate, other) = (try host.directory.fifo("gate"), try host.directory.fifo("other"))
      let id = try await host.submit(
        "on-expire;assert saving 600000;gate \(gate.path);poll 0;assert-end;wait-expired;result 2")
      _ = try await host.submit("gate \(other.path);poll 60000;result 2")
      try await gate.arrival()
      try await other.arrival()
      let run = try await host.runs(of: id).first?["id"]?.string
      let held = try await host.json("status")["assertions"]?.array.first
      #expect(held?["name"]?.string == "saving" && held?["identifier"]?.string == "test.script")
      #expect(held?["run"]?.string == run && run != nil)
      let text = try await host.cli("status").output
      #expect(text.contains("test.script run \(run ?? "")"), "\(text)")
      host.signal(SIGTERM)
      other.release()
      try await host.current.line(with: "run expired: draining")
      gate.release()
      #expect(try await host.end().status == 0)
      #expect(host.current.lines.filter { $0.contains("run expired: draining") }.count == 2)
      #expect(host.current.lines.contains { $0.contains("assertion given back") })
      unlink(host.plugins + "/script.so")
      try await host.addTwin()
      try await host.start()
      let output = try await host.lastOutput(of: id)
      #expect(output?["assert"]?.integer == 0 && output?["assert_end"]?.integer == 0, "\(String(describing: output))")
      #expect(output?["poll"]?.integer == 0, "it had not been asked to stop while it held the assertion")
      #expect(output?["expired_by"]?.integer == 4)
    }
  }

  @Test("an assertion that expires spares its run no longer", arguments: Isolation.allCases)
  func expiredOfRun(_ isolation: Isolation) async throws {
    try await HostProcess.run("drain_timeout = \"0s\"\n", isolation: isolation) { host in
      let gate = try host.directory.fifo("gate")
      _ = try await host.submit("on-expire;assert saving 700;gate \(gate.path);wait-expired;result 2")
      try await gate.arrival()
      host.signal(SIGTERM)
      try await host.current.line(with: "assertion expired after 700ms")
      try await host.current.line(with: "run expired: draining")
      gate.release()
      #expect(try await host.end().status == 0)
    }
  }

  @Test("a run that ends without ending its assertion holds nothing", arguments: Isolation.allCases)
  func leaked(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let id = try await host.submit("assert forgotten 600000")
      try await host.request(id, is: "succeeded")
      try await host.current.line(with: "assertion ended with its run", "forgotten", "test.script")
      #expect(try await host.json("status")["assertions"]?.array.isEmpty == true)
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("a worker that is killed holds nothing")
  func killedWorker() async throws {
    try await HostProcess.run(isolation: .process) { host in
      let gate = try host.directory.fifo("gate")
      _ = try await host.submit("assert saving 600000;gate \(gate.path)")
      try await gate.arrival()
      let plugins = try await host.json("plugins", "list")["plugins"]?.array
      let worker = try #require(plugins?.compactMap { $0["worker"]?["process_id"]?.integer }.first)
      kill(pid_t(worker), SIGKILL)
      try await host.current.line(with: "assertion ended with its run", "saving")
      gate.release()
    }
  }
}
