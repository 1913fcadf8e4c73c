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
      #expect(shown.contains("  4 of 5 items, 1 failed, 15 B in, 8 EiB out\n"), "\(shown)")
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
      var run: JSON?
      for _ in 0..<200 where run?["work"] == nil {
        run = try await host.runs(of: request).first
        try await Task.sleep(for: .milliseconds(20))
      }
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
      let script = "progress-with 1 4 files copying a;log 2 a line;progress 2 4;sleep 100"
      let arguments = ["submit", "test.script", "--payload", "\"\(script)\"", "--wait", "--socket", host.socket]
      for (terminal, isDrawn) in [("xterm", true), ("dumb", false)] {
        let shown = try await Self.onTerminal(terminal, [try BuiltProgram.taskhost] + arguments)
        #expect(shown.contains("running [=======>                      ] 25 %, 1 of 4 files: copying a\u{1B}[K") == isDrawn, "\(shown)")
        #expect(shown.contains("] 50 %, 2 of 4 files: copying a\u{1B}[K") == isDrawn, "\(shown)")
        #expect(shown.contains("info: a line\r\n"), "\(shown)")
        // The bar is gone when the command ends.
        if isDrawn { #expect(shown.components(separatedBy: "\r\u{1B}[K").count > 2, "\(shown)") }
      }
      let piped = try await host.cli(arguments)
      #expect(piped.status == 0 && !piped.errors.contains("4 files"), "\(piped.errors)")
    }
  }

  /// What a command writes to a terminal of 80 columns.
  private static func onTerminal(_ terminal: String, _ command: [String]) async throws -> String {
    let python = """
      import fcntl, os, pty, struct, sys, termios
      child, terminal = pty.fork()
      if child == 0:
          fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
          os.execv(sys.argv[1], sys.argv[1:])
      while True:
          try: seen = os.read(terminal, 65536)
          except OSError: break
          if not seen: break
          os.write(1, seen)
      os.waitpid(child, 0)
      """
    return try await Program.run("/usr/bin/env", ["TERM=" + terminal, "python3", "-c", python] + command).output
  }

  private func check(_ run: JSON?) throws {
    let work = try #require(run?["work"])
    #expect(["items_attempted", "items_completed", "items_failed", "bytes_in"].map { work[$0]?.integer } == [5, 4, 1, 15])
    let progress = try #require(run?["progress"])
    #expect(progress["completed"]?.integer == 3 && progress["total"]?.integer == 4)
    #expect(progress["unit"]?.string == "files" && progress["message"]?.string == "copying b")
  }
}
