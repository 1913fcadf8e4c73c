import TestSupport
import Foundation
import Glibc
import Testing

/// `taskhost.toml` as a running host heeds it.
@Suite("Configuration", .timeLimit(.minutes(20)))
struct ConfigurationTests {
  @Test("86: all problems are reported at once, each with its line and column, and the exit code is 78")
  func everyProblem() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file(
        "taskhost.toml",
        """
        plugin_directorys = ["plugins"]
        max_concurrent_runs = 0
        drain_timeout = "soon"
        [retry]
        initial = "10m"
        maximum = "1s"
        [plugin."test.script"]
        budget = 30
        schedule = "sometimes"
        [plugin."not an identifier"]

        """)
      let result = try await host.failure()
      #expect(result.status == 78)
      let lines = result.errors.split(separator: "\n").map(String.init)
      let expected = [
        (1, "plugin_directories"), (2, "max_concurrent_runs"), (3, "soon"), (5, "longer than maximum"), (8, "budget"), (9, "sometimes"),
        (10, "not an identifier"),
      ]
      for (number, words) in expected {
        #expect(
          lines.contains { $0.contains("taskhost.toml:\(number):") && $0.contains(words) }, "line \(number), \(words): \(result.errors)")
      }
      #expect(lines.count == expected.count)
      for line in lines { #expect(line.hasPrefix("taskhost: "), "\(line)") }
      #expect(!FileManager.default.fileExists(atPath: host.directory("state")), "nothing was begun")
    }
  }

  @Test("86: a file that is not TOML, or not there, fails with exit 78")
  func unreadable() async throws {
    try await HostProcess.prepare { host in
      let absent = try await host.failure()
      #expect(absent.status == 78 && absent.errors.contains("taskhost.toml"), "\(absent.errors)")
      #expect(absent.errors.contains("No such file"), "\(absent.errors)")
      try host.directory.file("taskhost.toml", "max_pending = 3\nthis is not TOML\n")
      let broken = try await host.failure()
      #expect(broken.status == 78 && broken.errors.contains("taskhost.toml:2:"), "\(broken.errors)")
      try FileManager.default.removeItem(atPath: host.directory("taskhost.toml"))
      try host.directory.folder("taskhost.toml")
      let folder = try await host.failure()
      #expect(folder.status == 78 && folder.errors.contains("irectory"), "\(folder.errors)")
    }
  }

  @Test("paths are relative to the file, whatever the working directory")
  func relativePaths() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("")
      let log = HostLog()
      let program = try Program(
        try BuiltProgram.taskhost, ["run", "--config", host.directory("taskhost.toml")], directory: "/", onErrorLine: { log.add($0) })
      defer { program.send(SIGKILL) }
      try await log.line(with: "control socket open")
      try await expectStatus(host)
      program.send(SIGTERM)
      #expect(try await program.result().status == 0)
    }
  }

  private func expectStatus(_ host: HostProcess) async throws {
    let status = try await host.json("status")
    #expect(status["state_directory"]?.string == host.directory("state"))
    #expect(status["plugins_registered"]?.integer == 1)
  }

  @Test("a schedule line runs its plugin again and again, under the key config:IDENTIFIER")
  func schedule() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("minimum_interval = \"1s\"\n[plugin.\"test.script\"]\nschedule = \"every 1s\"\n")
      try await host.start()
      let requests = try await host.json("tasks", "list")["requests"]?.array ?? []
      #expect(requests.count == 1)
      let id = try #require(requests.first?["id"]?.string)
      #expect(requests.first?["unique_key"]?.string == "config:test.script")
      #expect(requests.first?["every_ms"]?.integer == 1000)
      // Three occurrences: each run begins after the one before has ended.
      var seen: Set<String> = []
      while seen.count < 3 {
        let known = seen
        let running = try await host.request(id) { record in record["run"]?.string.map { !known.contains($0) } ?? false }
        seen.insert(running["run"]?.string ?? "")
      }
      let starts = try await host.runs(of: id).compactMap { $0["started_unix_ms"]?.integer }.sorted()
      // On the grid of the first: each in a second of its own, however late the one before was.
      for (earlier, later) in zip(starts, starts.dropFirst()) { #expect(later - earlier > 0, "\(starts)") }
      #expect((starts.last ?? 0) - (starts.first ?? 0) >= 1000, "\(starts)")
    }
  }

  @Test("a schedule line that changes updates its request after a restart, one that goes cancels it, one that stays keeps it")
  func changedSchedules() async throws {
    try await HostProcess.prepare { host in
      for name in ["stays", "changes", "goes"] { try await host.add("\(name).so", "script", ["-DIDENTIFIER=\"test.\(name)\""]) }
      func schedules(_ lines: [(String, String)]) throws {
        try host.configure(lines.map { "[plugin.\"test.\($0)\"]\nschedule = \"\($1)\"\n" }.joined())
      }
      func request(_ name: String) async throws -> JSON? {
        try await host.json("tasks", "list", "--identifier", "test.\(name)")["requests"]?.array.first
      }
      try schedules([("stays", "every 6h"), ("changes", "every 6h"), ("goes", "every 6h")])
      try await host.start()
      var ids: [String: String] = [:]
      for name in ["stays", "changes", "goes"] {
        let id = try #require(try await request(name)?["id"]?.string)
        ids[name] = id
        _ = try await host.request(id) { $0["last_outcome"] != nil && $0["state"]?.string == "pending" }
      }
      let due = try await request("stays")?["due_unix_ms"]?.integer
      try await host.terminate()
      try schedules([("stays", "every 6h"), ("changes", "every 1h")])
      try await host.start()
      let stays = try await request("stays")
      #expect(stays?["id"]?.string == ids["stays"] && stays?["due_unix_ms"]?.integer == due)
      let changes = try await request("changes")
      #expect(changes?["id"]?.string == ids["changes"])
      #expect(changes?["every_ms"]?.integer == 3_600_000)
      let soon = Int64(Date.now.timeIntervalSince1970 * 1000) + 3_600_000
      #expect((changes?["due_unix_ms"]?.integer ?? .max) <= soon, "the new interval counts from now at the latest")
      #expect(try await request("goes")?["state"]?.string == "cancelled")
      for name in ["stays", "changes", "goes"] {
        #expect(try await host.json("tasks", "list", "--identifier", "test.\(name)")["requests"]?.array.count == 1)
      }
    }
  }

  @Test("a schedule that comes back is a new request; one whose plugin went away waits and says why")
  func returningSchedule() async throws {
    try await HostProcess.run("[plugin.\"test.script\"]\nschedule = \"every 6h\"\n") { host in
      let first = try #require(try await host.json("tasks", "list")["requests"]?.array.first?["id"]?.string)
      _ = try await host.request(first) { $0["last_outcome"] != nil && $0["state"]?.string == "pending" }
      try await host.terminate()
      try FileManager.default.removeItem(atPath: host.plugins + "/script.so")
      try await host.addTwin()
      try await host.start()
      let request = try await host.json("tasks", "show", first)
      #expect(request["state"]?.string == "pending", "the line is still there, only its plugin is not")
      let why = try await host.json("tasks", "why", first)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains("no plugin has registered test.script") }, "\(why)")
      try await host.terminate()
      try host.configure("")
      try await host.start()
      #expect(try await host.json("tasks", "show", first)["state"]?.string == "cancelled")
    }
  }

  @Test("max_pending refuses more than that, with a reason, and takes more when some have ended")
  func maxPending() async throws {
    try await HostProcess.run("max_pending = 3\n") { host in
      var ids: [String] = []
      for _ in 1...3 { ids.append(try await host.submit("result 0", ["--after", "1h"])) }
      let refused = try await host.cli("submit", "test.script")
      #expect(refused.status == 6 && refused.errors.contains("max_pending"), "\(refused.errors)")
      #expect(try await host.cli("status").output.contains("test.script has as many live requests as it may have (max_pending = 3)"))
      _ = try await host.json("tasks", "cancel", ids[0])
      #expect(try await host.cli("submit", "test.script").status == 0)
    }
  }

  @Test("max_concurrent_runs of the host bounds all plugins together")
  func hostLimit() async throws {
    try await HostProcess.run("max_concurrent_runs = 2\n") { host in
      let gates = try (0..<2).map { try host.directory.fifo("gate\($0)") }
      for gate in gates { _ = try await host.submit("gate \(gate.path)") }
      for gate in gates { try await gate.arrival() }
      let third = try await host.submit("result 0")
      let why = try await host.json("tasks", "why", third)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains("all 2 run slots") }, "\(why)")
      for gate in gates { gate.release() }
      try await host.request(third, is: "succeeded")
    }
  }

  @Test("the control socket and an event's socket have the mode and the group that are configured")
  func sockets() async throws {
    let group = try #require(getgrgid(getegid()).flatMap { String(validatingCString: $0.pointee.gr_name) })
    try await HostProcess.prepare { host in
      let path = host.directory("push.sock")
      try host.configure(
        "[control]\nmode = \"0640\"\ngroup = \"\(group)\"\n[events.push]\nlisten = \"unix:\(path)\"\nmode = \"0620\"\ngroup = \"\(group)\"\n"
      )
      try host.spawn()
      _ = try await host.current.line(with: "control socket open")
      for (file, mode) in [(host.directory("state/control.sock"), 0o640), (path, 0o620)] {
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == mode && attributes[.groupOwnerAccountName] as? String == group, "\(attributes)")
      }
      try await host.terminate()
    }
  }

  @Test("what a plugin prints while it launches is told apart from what it logs, the last line without its end too")
  func printedAtLaunch() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script", ["-DLAUNCH_PRINT"])
      try host.configure("[log]\nformat = \"json\"\n")
      try host.spawn()
      let line = try JSON(parsing: try await host.current.line(with: "printed at launch"))
      #expect(line["message"]?.string == "printed at launch" && line["level"]?.string == "info", "\(line)")
      #expect(line["stream"]?.string == "stdout", "\(line)")
      try await host.current.line(with: "launched:")
      try await host.terminate()
    }
  }

  @Test("the log's level and format are heeded")
  func logFormat() async throws {
    try await HostProcess.run("[log]\nlevel = \"debug\"\nformat = \"json\"\n") { host in
      let line = try JSON(parsing: try await host.current.line(with: "launched:"))
      #expect(line["level"]?.string == "notice")
      let time = line["time"]?.string ?? ""
      #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil, "a log is read days later: \(time)")
      for line in host.current.lines { _ = try JSON(parsing: line) }
      try await host.terminate()
      try host.configure("[log]\nlevel = \"notice\"\nformat = \"text\"\n")
      try host.spawn()
      let text = try await host.current.line(with: "launched:")
      #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\d.* notice +launched: .*/) != nil, "\(text)")
      try await host.terminate()
      #expect(!host.current.lines.contains { $0.contains(" info ") || $0.contains("\u{1B}") }, "\(host.current.lines)")
    }
  }
}
