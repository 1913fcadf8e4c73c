import Foundation
import TestSupport
import Testing

/// What runs count and say of their progress, from the plugin to the command line.
@Suite("Records of runs", .timeLimit(.minutes(20)))
struct RecordTests {
  private static let script =
    "progress-with 2 4 files copying a;work 2 1 1 10 20;work 3 3 0 5 18446744073709551615;"
    + "progress-with 3 4 files copying b"

  @Test("work, unit and message are in the record, also after the host was killed", arguments: Isolation.allCases)
  func kept(_ isolation: Isolation) async throws {
    try await HostProcess.run("", isolation: isolation) { host in
      let answer = try await host.run(Self.script)
      #expect(answer["outcome"]?.string == "succeeded")
      let id = try #require(answer["run"]?["id"]?.string)
      try check(answer["run"])
      await host.kill()
      try await host.start()
      try check(try await host.json("runs", "show", id))
      let listed = try await host.json("runs", "list", "--limit", "1")["runs"]?.array.first
      try check(listed)
      let json = try await host.cli("runs", "show", id, "--json").output
      #expect(json.contains("18446744073709551615"), "the sum stays at the largest number: \(json)")
      let shown = try await host.cli("runs", "show", id).output
      #expect(shown.contains("  4 of 5 items, 1 failed, 15 B in, 16 EiB out\n"), "\(shown)")
      #expect(shown.contains("  3 of 4 files, 75 %: copying b\n"), "\(shown)")
      let status = try await host.json("status")
      #expect(status["tasks"]?.array.first?["last_work"]?["items_completed"]?.integer == 4)
      #expect(try await host.cli("status").output.contains("4 of 5 items, 1 failed, 15 B in"))
    }
  }

  @Test("a live run shows what it has counted, and one whose worker dies keeps it")
  func live() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      let gate = try host.directory.fifo("gate")
      let request = try await host.submit("sleep 300;work 7 7 0 0 0;progress 1 2;gate \(gate.path)")
      try await host.progress(of: request, reaches: 1)
      let run = try await host.runs(of: request).first { $0["work"] != nil }
      #expect(run?["work"]?["items_completed"]?.integer == 7)
      let plugins = try await host.json("plugins", "list")["plugins"]?.array
      let worker = try #require(plugins?.compactMap { $0["worker"]?["process_id"]?.integer }.first)
      kill(pid_t(worker), SIGKILL)
      try await host.request(request, is: "failed")
      let ended = try await host.runs(of: request).first
      #expect(ended?["outcome"]?.string == "crashed")
      #expect(ended?["work"]?["items_completed"]?.integer == 7)
    }
  }

  @Test("at a terminal, a followed run has a bar on its last line; without one, or with TERM=dumb, nothing of it")
  func bar() async throws {
    try await HostProcess.run("") { host in
      // A reader sees the newest progress only, so each step waits until the one before it was seen.
      let gates = [try host.directory.fifo("first"), try host.directory.fifo("second")]
      let script = "progress-with 1 4 files copying a;gate \(gates[0].path);log 2 a line;progress 2 4;gate \(gates[1].path)"
      let arguments = ["submit", "test.script", "--payload", "\"\(script)\"", "--wait", "--socket", host.socket]
      let bars = ["=======>                      ] 25 %, 1 of 4 files: copying a\u{1B}[K", "] 50 %, 2 of 4 files: copying a\u{1B}[K"]
      for (terminal, isDrawn) in [("xterm", true), ("dumb", false)] {
        let awaited = isDrawn ? bars : ["starts now", "info: a line"]
        let shown = try await Self.onTerminal(terminal, opening: gates, after: awaited, [try BuiltProgram.taskhost] + arguments)
        for bar in bars { #expect(shown.contains(bar) == isDrawn, "\(shown)") }
        #expect(shown.contains("info: a line\r\n"), "\(shown)")
        // The bar is gone when the command ends.
        if isDrawn { #expect(shown.components(separatedBy: "\r\u{1B}[K").count > 2, "\(shown)") }
      }
      async let piped = host.cli(arguments)
      for gate in gates {
        try await gate.arrival()
        gate.release()
      }
      let ended = try await piped
      #expect(ended.status == 0 && !ended.errors.contains("4 files"), "\(ended.errors)")
    }
  }

  /// What a command writes to a terminal of 80 columns. Each gate is opened once the text beside it was seen, or the command has ended.
  private static func onTerminal(
    _ terminal: String, opening gates: [Gate], after texts: [String], _ command: [String]
  ) async throws -> String {
    let python = """
      import fcntl, json, os, pty, struct, sys, termios
      gates = [(gate, text.encode()) for gate, text in json.loads(sys.argv[1])]
      child, terminal = pty.fork()
      if child == 0:
          fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
          os.execv(sys.argv[2], sys.argv[2:])
      shown = b""
      while True:
          try: seen = os.read(terminal, 65536)
          except OSError: break
          if not seen: break
          os.write(1, seen)
          shown += seen
          while gates and gates[0][1] in shown: open(gates.pop(0)[0], "w").close()
      os.waitpid(child, 0)
      """
    let awaited = try JSONEncoder().encode(zip(gates, texts).map { [$0.path, $1] })
    let arguments = ["TERM=" + terminal, "python3", "-c", python, String(decoding: awaited, as: UTF8.self)] + command
    return try await Program.run("/usr/bin/env", arguments).output
  }

  private func check(_ run: JSON?) throws {
    let work = try #require(run?["work"])
    #expect(["items_attempted", "items_completed", "items_failed", "bytes_in"].map { work[$0]?.integer } == [5, 4, 1, 15])
    let progress = try #require(run?["progress"])
    #expect(progress["completed"]?.integer == 3 && progress["total"]?.integer == 4)
    #expect(progress["unit"]?.string == "files" && progress["message"]?.string == "copying b")
  }
}
