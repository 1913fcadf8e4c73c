import ControlTestSupport
import Foundation
import HostThreads
import TaskModel
import TestSupport
import Testing

@Suite("Commands about plugins' standing") struct PluginHealthCommandTests {
  private static func contract(_ identifier: String) throws -> HandlerContract {
    HandlerContract(identifier: try TaskIdentifier(identifier), kind: .refresh, budget: .seconds(30), grace: .seconds(5))
  }

  @Test("plugins list shows the isolation, who is held back and who is quarantined; plugins release lets them run again")
  func plugins() async throws {
    let host = MemoryHost()
    let soon = SystemClock().wallTime + .seconds(3 * 3600 + 3000)
    host.setPlugins([
      PluginStatus(file: "/p/a.so", health: .registered, contract: try Self.contract("a"), isolation: "thread"),
      PluginStatus(
        file: "/p/b.so", health: .registered, contract: try Self.contract("b"), isolation: "process", failures: 2, heldUntil: soon,
        lastTrouble: "it crashed: signal 11"),
      PluginStatus(
        file: "/p/c.so", health: .registered, contract: try Self.contract("c"), isolation: "process", failures: 5, isQuarantined: true,
        lastTrouble: "it crashed: signal 6"),
      PluginStatus(
        file: "/p/d.so", health: .registered, contract: try Self.contract("d"), isolation: "process", failures: 1,
        lastTrouble: "it crashed: signal 8"),
    ])
    try await ControlFixture.with(host) { fixture in
      func run(_ arguments: String...) async throws -> Program.Result {
        try await TaskHostProcess.run(arguments + ["--socket", fixture.socket])
      }
      let list = try await run("plugins", "list").output
      #expect(
        list == """
          FILE  IDENTIFIER  KIND     STANDING     ISOLATION  RUNNING  REASON
          a.so  a           refresh  registered   thread     0 of 1
          b.so  b           refresh  held         process    0 of 1   runs again in 3 h; it crashed: signal 11
          c.so  c           refresh  quarantined  process    0 of 1   it crashed: signal 6: taskhost plugins release c
          d.so  d           refresh  registered   process    0 of 1   it crashed: signal 8

          """)
      let released = try await run("plugins", "release", "c")
      #expect(released.status == 0)
      #expect(released.output == "c released: it was quarantined after 5 crashes or forced stops; last: it crashed: signal 6\n")
      let held = try await run("plugins", "release", "b")
      #expect(held.output == "b released: it was held back after 2 crashes or forced stops; last: it crashed: signal 11\n")
      #expect(try await run("plugins", "release", "c").output == "c was not held, and no crash or forced stop counted against it\n")
      #expect(try await run("plugins", "release", "d", "--json").output.contains("\"strikes\":1"))
      let unknown = try await run("plugins", "release", "nobody")
      #expect(unknown.status == 6)
      #expect(unknown.errors.contains("no plugin has registered nobody"))
      #expect(try await run("plugins", "release", "not an identifier").status == 6)
      #expect(try await run("plugins", "release").status == 2)
    }
  }

  @Test("runs show shows how it was stopped, its processor time, its memory and its stack, a line a frame")
  func run() async throws {
    let host = MemoryHost()
    var record = RunRecord(
      id: RunID(sequence: 2, origin: 1), request: RequestID(sequence: 1, origin: 1), identifier: try TaskIdentifier("a"), attempt: 1,
      started: WallTime(unixMilliseconds: 0), ended: WallTime(unixMilliseconds: 5), outcome: .expired)
    record.report.stopReason = .budget
    record.report.stopStage = .killed
    record.report.cpuTime = .milliseconds(1500)
    record.report.peakMemory = 6_500_000
    record.report.trouble = "hung\n#0 read\u{1B}\n#1 main"
    host.put(record)
    let id = record.id.description
    try await ControlFixture.with(host) { fixture in
      let shown = try await TaskHostProcess.run(["runs", "show", id, "--socket", fixture.socket]).output
      for line in [
        "stop stage   killed\n", "cpu          1.5s\n", "peak memory  6.2 MiB\n",
        "trouble      hung\n             #0 read\\u{1b}\n             #1 main\n",
      ] { #expect(shown.contains(line), "\(shown)") }
    }
  }
}
