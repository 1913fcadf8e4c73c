import Foundation
import Glibc
import TestSupport
import Testing

/// `taskhost plugins debug`, with scripts in place of debuggers: they stop a worker as one does.
@Suite("Debugging a plugin", .timeLimit(.minutes(10)))
struct DebuggingTests {
  /// A program that is executable, and the name pipe that it reads.
  private func debugger(_ host: HostProcess, _ script: String) throws -> (program: String, pipe: String) {
    let (program, pipe) = (host.directory("debugger"), host.directory("go"))
    try "#!/bin/sh\nread go < \(pipe)\n\(script)\n".write(toFile: program, atomically: true, encoding: .utf8)
    guard mkfifo(pipe, 0o600) == 0, chmod(program, 0o755) == 0 else { throw TestFailure("no pipe or no program: \(errno)") }
    return (program, pipe)
  }

  private func tell(_ pipe: String) async throws {
    try await onThread { try "go\n".write(toFile: pipe, atomically: false, encoding: .utf8) }
  }

  @Test("while a debugger lives, no budget is over, and afterwards budgets are as before")
  func suspends() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[plugin.\"test.script\"]\nbudget = \"1s\"\ngrace = \"1s\"\nretry = { attempts = 1 }\n")
      try await host.start()
      // Budget and grace are over twice while the worker stands still.
      let (program, pipe) = try debugger(host, "kill -STOP $2; sleep 4; kill -CONT $2; read go < \(host.directory("go"))")
      async let debugging = host.cli("plugins", "debug", "test.script", "--debugger", program)
      try await host.current.line(with: "debugs test.script: the budgets of its runs are suspended")
      async let waited = host.cli("submit", "test.script", "--payload", "\"log 3 under way;sleep 1500;message done\"", "--wait")
      try await host.current.line(with: "under way")
      let problems = try await host.json("status")["problems"]?.array ?? []
      #expect(problems.contains { $0["kind"]?.string == "debugged" && $0["needs_action"]?.bool == false }, "\(problems)")
      let other = try await host.cli("plugins", "debug", "test.script", "--debugger", "true")
      #expect(other.status == 6 && other.errors.contains("debugs test.script already"), "\(other)")
      try await tell(pipe)
      let result = try await waited
      #expect(result.status == 0 && result.output.hasPrefix("done\n"), "\(result)")
      try await tell(pipe)
      let ended = try await debugging
      #expect(ended.status == 0 && ended.errors.contains("attaches to process"), "\(ended)")
      try await host.current.line(with: "the debugger of test.script has ended")
      #expect(try await host.json("status")["problems"]?.array.contains { $0["kind"]?.string == "debugged" } == false)
      _ = try await host.cli("submit", "test.script", "--payload", "\"sleep 60000\"", "--wait")
      #expect(try await host.json("runs", "list")["runs"]?.array.first?["stop_reason"]?.string == "budget")
    }
  }

  @Test("a plugin with two identifiers has one debugger, by whichever of them it is asked for")
  func oneWorker() async throws {
    try await HostProcess.prepare { host in
      try await host.add("requests.so", "requests")
      try host.configure("")
      try await host.start()
      let (program, pipe) = try debugger(host, "exit 0")
      async let debugging = host.cli("plugins", "debug", "test.requests.second", "--debugger", program)
      try await host.current.line(with: "debugs test.requests.first")
      let other = try await host.cli("plugins", "debug", "test.requests.first", "--debugger", "true")
      #expect(other.status == 6 && other.errors.contains("debugs test.requests.first already"), "\(other)")
      try await tell(pipe)
      #expect(try await debugging.status == 0)
      try await host.current.line(with: "the debugger of test.requests.first has ended")
    }
  }

  @Test("the worker is started for a debugger, and what cannot be debugged is refused with the reason")
  func refusals() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[command.\"test.command\"]\nrun = [\"true\"]\n")
      try await host.start()
      let seen = try await host.cli("plugins", "debug", "test.script", "--debugger", "env", "--", "sh", "-c", "exit 7")
      // `env -p PID …` knows no such option.
      #expect(seen.status == 125 && seen.errors.contains("attaches to process"), "\(seen)")
      let inThread = try await host.cli("plugins", "debug", "test.command", "--debugger", "true")
      #expect(inThread.status == 6 && inThread.errors.contains("runs in a thread of the host"), "\(inThread)")
      let unknown = try await host.cli("plugins", "debug", "test.unknown", "--debugger", "true")
      #expect(unknown.status == 6 && unknown.errors.contains("no plugin has registered test.unknown"), "\(unknown)")
      let missing = try await host.cli("plugins", "debug", "test.script", "--debugger", "no-such-debugger")
      #expect(missing.status == 1 && missing.errors.contains("--debugger"), "\(missing)")
      let gone = try await host.post("/v1/plugins/test.script/debug", "{\"process_id\": 2147483646}")
      #expect(gone.status == 400 && gone.body.contains("there is no process 2147483646"), "\(gone.body)")
    }
  }
}
