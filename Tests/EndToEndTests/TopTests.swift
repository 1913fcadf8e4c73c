import Foundation
import Glibc
import TestSupport
import Testing

/// `taskhost top` in a real terminal, beside a real host.
@Suite("top at a terminal", .timeLimit(.minutes(20)))
struct TopTests {
  private static let commands = """
    [retry]
    attempts = 1
    [command."demo.wait"]
    run = ["/bin/sleep", "120"]
    budget = "2m"
    [command."demo.fail"]
    shell = "echo no such luck >&2; exit 3"

    """

  private func top(_ host: HostProcess, columns: Int = 80, rows: Int = 24) throws -> TerminalSession {
    let program = try BuiltProgram.path("taskhost")
    return try TerminalSession("echo before; '\(program)' top --socket '\(host.socket)'", columns: columns, rows: rows)
  }

  @Test("follows the host, shows details, acts after a question, and gives the terminal back")
  func follows() async throws {
    try await HostProcess.run(Self.commands) { host in
      let top = try top(host)
      try top.screen { $0.contains { $0.contains("demo.fail") && $0.contains("never ran") } }
      #expect(try await host.cli("submit", "demo.fail", "--wait").status == 1)
      try top.screen { $0.contains { $0.contains("demo.fail") && $0.contains("failed") } }
      try top.send("3")
      try top.screen { $0.contains { $0.contains("STATE") } && $0.contains { $0.hasPrefix(">") && $0.contains("demo.fail") } }
      try top.send("Enter")
      let details = try top.screen { $0.contains { $0.contains("no such luck") } }
      #expect(details.first?.contains("demo.fail") == true, "\(details)")
      try top.send("q", "r")
      try top.screen { $0.contains { $0.contains("Run the failed request") && $0.contains("y/n") } }
      try top.send("n")
      try top.screen { $0.contains { $0.contains("nothing was done") } }
      #expect(try await host.json("runs")["runs"]?.array.count == 1)
      try top.send("r", "y")
      try top.screen { $0.contains { $0.contains("it runs again") } }
      try top.send("/")
      for letter in "stat:x" { try top.send("\(letter)") }
      try top.send("Enter")
      try top.screen { $0.contains { $0.contains("did you mean \"state\"?") } }
      try top.send("4")
      try top.screen { $0.contains { $0.contains("dead letters") } }
      try top.send("q")
      let after = try top.screen { $0.contains("ended 0") }
      #expect(after.contains("before"), "the screen of before is back: \(after)")
    }
  }

  @Test("a run's progress and end are seen without a key; a smaller terminal is redrawn")
  func resized() async throws {
    try await HostProcess.run(Self.commands) { host in
      let top = try top(host)
      try top.screen { $0.contains { $0.contains("demo.wait") } }
      try top.send("2")
      let id = try await host.submit("", identifier: "demo.wait")
      try top.screen { $0.contains { $0.contains("demo.wait") && $0.contains("running") } }
      try top.resize(columns: 50, rows: 12)
      try top.screen { $0.count == 12 && $0.last?.hasPrefix("q quit") == true && $0.allSatisfy { $0.count <= 50 } }
      _ = try await host.cli("tasks", "cancel", id)
      try top.screen { $0.contains { $0.contains("demo.wait") && $0.contains("cancelled") } }
      try top.send("C-c")
      try top.screen { $0.contains("ended 0") }
    }
  }

  @Test("when the host is gone, it says so with exit code 5, and the terminal is as before")
  func hostGone() async throws {
    try await HostProcess.run(Self.commands) { host in
      let top = try top(host)
      try top.screen { $0.contains { $0.contains("demo.fail") } }
      await host.kill()
      let after = try top.screen { $0.contains("ended 5") }
      // Where the socket's path is long, the sentence goes over the end of a line.
      let isSaid = after.joined().filter { $0 != " " }.contains("thehostwentaway")
      #expect(isSaid && after.contains("before"), "\(after)")
    }
  }

  @Test("without a terminal it is an error that names the other commands")
  func noTerminal() async throws {
    try await HostProcess.run(Self.commands) { host in
      let result = try await host.cli("top")
      #expect(result.status == 2 && result.errors.contains("needs a terminal") && result.errors.contains("taskhost status"), "\(result)")
      #expect(try await host.cli("top", "--json").status == 2)
    }
  }
}
