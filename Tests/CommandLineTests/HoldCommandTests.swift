import ControlTestSupport
import Foundation
import TaskModel
import TestSupport
import Testing

@testable import TaskHostClient
@testable import taskhost

/// The built executable against a host over a real socket.
@Suite("taskhost hold") struct HoldCommandTests {
  /// Runs a command against `host`, in the folder of its socket.
  private func run(_ host: MemoryHost, _ arguments: String...) async throws -> Program.Result {
    let (results, continuation) = AsyncStream<Program.Result>.makeStream()
    try await ControlFixture.with(host) { fixture in
      continuation.yield(
        try await TaskHostProcess.run(
          arguments, environment: ["TASKHOST_SOCKET": fixture.socket, "KEPT": "kept"], directory: fixture.directory))
    }
    for await result in results { return result }
    throw TestFailure("no result")
  }

  @Test("the assertion is held while the command runs, and only then; the command has the environment and the folder of hold")
  func held() async throws {
    let host = MemoryHost()
    let result = try await run(
      host, "hold", "--for", "2m", "--why", "a test", "--", "/bin/sh", "-c", "taskhost=$PPID; echo $KEPT $taskhost; ls; exit 3")
    #expect(result.status == 3 && result.errors.isEmpty, "\(result)")
    #expect(result.output.hasPrefix("kept ") && result.output.hasSuffix("\ncontrol.sock\n"), "\(result.output)")
    #expect(await host.heldAssertions().isEmpty)
    let asked = try #require(host.asked.first)
    #expect(asked.name == "sh" && asked.reason == "a test" && asked.length == .seconds(120))
    #expect(result.output.contains(" \(asked.process ?? 0)\n"), "the assertion stands for hold itself")
  }

  @Test("an assertion that somebody else has ended is told, and the command's exit code stays")
  func endedBefore() async throws {
    let host = MemoryHost()
    host.setForgetsAssertions()
    let result = try await run(host, "hold", "--name", "me", "--", "false")
    #expect(result.status == 1)
    #expect(result.errors.hasPrefix("taskhost: the assertion ended before the command: there is no assertion"), "\(result.errors)")
    #expect(host.asked.map(\.name) == ["me"])
  }

  @Test("--json prints the assertion as the host sent it, before what the command prints")
  func json() async throws {
    let result = try await run(MemoryHost(), "hold", "--json", "--", "echo", "said")
    #expect(result.status == 0 && result.output.hasPrefix("{\"id\":") && result.output.hasSuffix("}\nsaid\n"), "\(result.output)")
  }

  @Test("status shows who holds the host, since when, for how long, and why, with control characters escaped")
  func table() throws {
    let held = AssertionAnswer(
      id: "i", name: "backup\u{1B}", reason: "writing", identifier: nil, run: nil, processId: 42, userId: nil, sinceUnixMs: 1000,
      remainingMs: 90_000)
    let ofRun = AssertionAnswer(
      id: "j", name: "saver", reason: nil, identifier: "a.b", run: "r1", processId: nil, userId: nil, sinceUnixMs: 1000, remainingMs: 90_000
    )
    #expect(
      StatusCommand.assertions([held, ofRun], now: 3000).render(colours: false) == [
        "HELD BY       SINCE    FOR AT MOST  HOLDER      USER  REASON",
        "backup\\u{1b}  2 s ago  1m 30s       process 42  -     writing",
        "saver         2 s ago  1m 30s       a.b run r1  -",
      ])
  }
}
