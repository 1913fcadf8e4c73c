import Foundation
import Glibc
import TestSupport
import Testing

/// `taskhost reload`, `POST /v1/reload` and SIGHUP on the real host.
@Suite("Reload", .timeLimit(.minutes(20)))
struct ReloadTests {
  // MARK: The configuration

  @Test("keys that have changed are in force at once, and printed with their values; secrets are not; a dry run changes nothing")
  func keys() async throws {
    try await HostProcess.run("max_pending = 5\nredact = []\n[plugin.\"test.script\"]\nbudget = \"1m\"\n") { host in
      let gate = try host.directory.fifo("gate")
      let live = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      try host.configure(
        """
        max_pending = 2
        max_concurrent_runs = 3
        redact = ["password"]
        [plugin."test.script"]
        budget = "2m"
        ping = "https://example.org/s3cret"
        [schedule."test.script/often"]
        every = "1h"
        payload = { word = "s3cret" }
        """)
      let dry = try await host.cli("reload", "--dry-run")
      #expect(dry.status == 0 && dry.output.hasPrefix("would change:\n") && dry.output.contains("  max_pending: 5 → 2\n"), "\(dry)")
      #expect(try await host.json("status")["max_concurrent_runs"]?.integer == 16)
      let reloaded = try await host.cli("reload")
      #expect(reloaded.status == 0 && reloaded.output.hasPrefix("in force, changed:\n"), "\(reloaded)")
      #expect(reloaded.output.contains("  max_concurrent_runs: unset → 3\n"), "\(reloaded.output)")
      #expect(reloaded.output.contains("  plugin.\"test.script\".budget: \"1m\" → \"2m\"\n"), "\(reloaded.output)")
      #expect(reloaded.output.contains("ping: changed; its values are not shown"), "\(reloaded.output)")
      #expect(!reloaded.output.contains("s3cret") && !host.current.lines.contains { $0.contains("s3cret") })
      #expect(try await host.json("status")["max_concurrent_runs"]?.integer == 3)
      #expect(try await host.plugin("script.so")["budget_ms"]?.integer == 120_000)
      let scheduled = try await host.json("tasks", "list", "--identifier", "test.script")["requests"]?.array.count ?? 0
      #expect(scheduled == 2, "the live one, and that of the schedule")
      #expect(try await host.cli("submit", "test.script").status == 6, "max_pending is reached")
      #expect(try await host.request(live) { _ in true }["state"]?.string == "running")
      gate.release()
      try await host.request(live, is: "succeeded")
      let again = try await host.json("reload")
      #expect(again["keys"]?.array.isEmpty == true && again["plugins"]?.array.isEmpty == true && again["dry_run"]?.bool == false)
      let audit = try await host.cli("audit", "--json").output.split(separator: "\n").map { try JSON(parsing: String($0)) }
      let entries = audit.filter { $0["operation"]?.string == "reload" }
      #expect(entries.count == 2 && entries.first?["target"]?.string?.contains("keys") == true, "\(entries)")
    }
  }

  @Test("all that is wrong is printed, exit 78, and nothing has changed")
  func errors() async throws {
    try await HostProcess.run("max_pending = 5\n") { host in
      try host.configure(
        """
        max_pending = 0
        max_concurent_runs = 3
        drain_timeout = "soon"
        minimum_interval = 5
        history = 3
        profile = "turbo"
        [windows.night]
        from = "1:00"
        [plugin."test.script"]
        window = "nigth"
        budget = "forever"
        isolation = "none"
        """)
      let before = host.current.lines.count
      let failed = try await host.cli("reload")
      #expect(failed.status == 78 && failed.errors.contains("nothing has changed:"), "\(failed)")
      let lines = failed.errors.split(separator: "\n").filter { $0.contains("taskhost.toml:") }
      #expect(lines.count >= 10, "\(failed.errors)")
      #expect(failed.errors.contains("did you mean \"max_concurrent_runs\"?"))
      try await host.current.line(with: "not reloaded:", "max_concurent_runs", from: before)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      try FileManager.default.removeItem(atPath: host.directory("taskhost.toml"))
      #expect(try await host.cli("reload").status == 78)
      #expect(mkfifo(host.directory("taskhost.toml"), 0o600) == 0)
      #expect(try await host.cli("reload").errors.contains("is not a regular file"))
      try FileManager.default.removeItem(atPath: host.directory("taskhost.toml"))
      try host.directory.file("taskhost.toml", Data([0xff, 0, 1]))
      #expect(try await host.cli("reload", "--dry-run").status == 78)
      let answer = try await onThread { [socket = host.socket] in try SocketClient(socket).request("POST", "/v1/reload", body: "{}") }
      #expect(answer.status == 409, "\(answer)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("a file that the host has found must not be gone, nor empty, as one being written: the defaults would cancel every schedule")
  func foundFile() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[plugin.\"test.script\"]\nschedule = \"every 1h\"\n")
      try await host.start(namesFile: false)
      let (file, away) = (host.directory("taskhost.toml"), host.directory("taskhost.toml~"))
      try FileManager.default.moveItem(atPath: file, toPath: away)
      let gone = try await host.cli("reload", "--socket", host.socket)
      #expect(gone.status == 78 && gone.errors.contains("nothing has changed"), "\(gone)")
      symlink("taskhost.toml", file)
      #expect(try await host.cli("reload", "--socket", host.socket).status == 78)
      unlink(file)
      for text in ["", "# not written yet\n"] {
        try host.directory.file("taskhost.toml", text)
        let empty = try await host.cli("reload", "--socket", host.socket)
        #expect(empty.status == 78 && empty.errors.contains("the file sets no key"), "\(empty)")
      }
      #expect(try await host.json("tasks", "list")["requests"]?.array.first?["state"]?.string == "pending")
    }
  }

  @Test("keys that only a restart changes are refused, all by name, and nothing has changed")
  func restart() async throws {
    try await HostProcess.run("max_pending = 5\n") { host in
      try host.configure(
        """
        max_pending = 6
        state_directory = "other"
        [control]
        mode = "0660"
        [log]
        level = "debug"
        [conditions]
        idle_every = "2s"
        [events.push]
        listen = "unix:push.sock"
        """)
      let failed = try await host.cli("reload")
      #expect(failed.status == 78, "\(failed)")
      for key in ["state_directory", "control.mode", "log.level", "conditions.idle_every", "events.push.listen"] {
        #expect(failed.errors.contains("  \(key): only a restart of the host changes it"), "\(failed.errors)")
      }
      #expect(!failed.errors.contains("max_pending"))
      // What says the same as the default is no change.
      try host.configure("max_pending = 5\n[log]\nlevel = \"info\"\n")
      #expect(try await host.cli("reload").status == 0)
    }
  }

  @Test("SIGHUP does the same, and the log has the result; the service manager hears of it")
  func signal() async throws {
    let directory = try TestDirectory()
    let socket = try ManagerSocket(directory("notify"))
    try await HostProcess.prepare(environment: ["NOTIFY_SOCKET": socket.place]) { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      #expect(socket.next()?.hasPrefix("READY=1") == true)
      try host.configure("max_pending = 7\n")
      host.signal(SIGHUP)
      try await host.current.line(with: "reloaded: 1 key changed", "SIGHUP")
      try await host.current.line(with: "reloaded max_pending: unset → 7")
      let begun = socket.next() ?? ""
      #expect(begun.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") && begun.hasSuffix("STATUS=reloading"), "\(begun)")
      #expect(socket.next()?.hasPrefix("READY=1\nSTATUS=launched") == true)
      try host.configure("max_pending = 0\n")
      host.signal(SIGHUP)
      try await host.current.line(with: "not reloaded:", "max_pending", "SIGHUP")
      #expect(host.isRunning)
    }
  }

  @Test("commands and notifications: what is added runs, what has changed runs anew, what is gone is refused; live runs end as they began")
  func commands() async throws {
    func text(_ commands: String) -> String { "[retry]\nattempts = 1\n" + commands }
    func command(_ name: String, _ line: String) -> String {
      "[command.\(name)]\nshell = \"\(line)\"\nstdout = \"output\"\nmax_concurrent_runs = 2\n"
    }
    try await HostProcess.prepare { host in
      let gate = try host.directory.fifo("gate")
      try host.configure(text(command("first", "cat \(gate.path); echo old") + command("second", "echo second")))
      try await host.start()
      let live = try await host.json("submit", "first")["id"]?.string ?? ""
      try await gate.arrival()
      let told = ToldFile(path: host.directory("told"))
      try host.configure(
        text(
          command("first", "echo new") + command("third", "false")
            + """
            [[notify]]
            name = "ops"
            on = ["failed"]
            command = ["/bin/sh", "-c", "printf %s \\"$TASKHOST_EVENT\\" >> \(told.path); echo >> \(told.path)"]
            """))
      let reloaded = try await host.cli("reload")
      #expect(reloaded.status == 0, "\(reloaded)")
      for line in ["first: relaunched", "second: removed", "third: added", "org.taskhost.notify.ops: added"] {
        #expect(reloaded.output.contains("  \(line)"), "\(reloaded.output)")
      }
      let fresh = try await host.cli("submit", "first", "--wait", "--json")
      #expect(fresh.output.contains("bmV3"), "\(fresh)")
      #expect(try await host.cli("submit", "second").status == 6)
      _ = try await host.cli("submit", "third", "--wait")
      #expect(try await told.lines(1) == ["failed"])
      gate.release()
      try await host.request(live, is: "succeeded")
      let run = try await host.runs(of: live).first?["id"]?.string ?? ""
      #expect(try await host.cli("runs", "show", run, "--json").output.contains("b2xk"), "the live one is the old command")
    }
  }

  // MARK: Plugins

  @Test("what a plugin may do now is compared value by value: less is no gain, more is no loss")
  func permissions() async throws {
    func table(_ environment: String, _ entitlements: String) -> String {
      "[plugin.\"test.script\"]\nenvironment = [\(environment)]\n[plugin.\"test.script\".entitlements]\n\(entitlements)\n"
    }
    try await HostProcess.run(table("\"HOME\"", "network = [443, 80]")) { host in
      for (environment, entitlements, gained, lost) in [
        ("\"HOME\"", "network = [443]", [], ["it may connect to the ports 80"]),
        ("\"PATH\", \"HOME\"", "", ["it gets the environment variables PATH"], ["it may connect to the ports 443"]),
      ] as [(String, String, [String], [String])] {
        try host.configure(table(environment, entitlements))
        let plugin = try await host.json("reload")["plugins"]?.array.first
        #expect(plugin?["gained"]?.array.compactMap(\.string) == gained, "\(String(describing: plugin))")
        #expect(plugin?["lost"]?.array.compactMap(\.string) == lost, "\(String(describing: plugin))")
      }
    }
  }

  @Test(
    "a plugin with other content or other entitlements gets new runs in a new worker; the live run ends in the old one",
    arguments: [false, true])
  func replaced(_ isContent: Bool) async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let live = try await host.submit("gate \(gate.path);message done")
      try await gate.arrival()
      let worker = try await host.plugin("script.so")["worker"]?["process_id"]?.integer
      if isContent { try await host.add("script.so", "script", ["-DALWAYS_ECHO"]) }
      try host.configure("[plugin.\"test.script\".entitlements]\nwrite = [\"\(host.directory("shared"))\"]\nexec = \(!isContent)\n")
      let reloaded = try await host.cli("reload")
      #expect(reloaded.status == 0, "\(reloaded)")
      #expect(reloaded.output.contains("  test.script: \(isContent ? "replaced" : "relaunched")"), "\(reloaded.output)")
      #expect(reloaded.output.contains("new: it may start programs") == !isContent, "\(reloaded.output)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let other = try await host.plugin("script.so")["worker"]?["process_id"]?.integer
      #expect(worker != nil && other != nil && worker != other)
      #expect(kill(pid_t(worker ?? 0), 0) == 0, "the old worker has a run")
      #expect(try await host.request(live) { _ in true }["state"]?.string == "running")
      gate.release()
      let ended = try await host.request(live, is: "succeeded")
      #expect(ended["last_message"]?.string == "done")
      try await Processes.end(of: pid_t(worker ?? 0))
    }
  }

  @Test("an unchanged plugin keeps its worker, with other limits for the runs to come")
  func kept() async throws {
    try await HostProcess.run("[plugin.\"test.script\"]\nmax_concurrent_runs = 1\n") { host in
      let (first, second) = (try host.directory.fifo("first"), try host.directory.fifo("second"))
      let ids = [try await host.submit("gate \(first.path)"), try await host.submit("gate \(second.path)")]
      try await first.arrival()
      let worker = try await host.plugin("script.so")["worker"]?["process_id"]?.integer
      try host.configure("[plugin.\"test.script\"]\nmax_concurrent_runs = 2\nbudget = \"3m\"\n")
      let reloaded = try await host.json("reload")
      #expect(reloaded["plugins"]?.array.isEmpty == true, "\(reloaded)")
      try await second.arrival()
      #expect(try await host.plugin("script.so")["worker"]?["process_id"]?.integer == worker)
      first.release()
      second.release()
      for id in ids { try await host.request(id, is: "succeeded") }
    }
  }

  @Test("plugins come and go: one that is gone gets no runs and its requests are kept; a refused one keeps everything as it is")
  func set() async throws {
    try await HostProcess.run { host in
      try await host.addTwin()
      let added = try await host.cli("reload")
      #expect(added.status == 0 && added.output.contains("  test.twin: added"), "\(added)")
      #expect(try await host.cli("submit", "test.twin", "--wait").status == 0)
      let waiting = try await host.submit("result 0", ["--after", "1h"])
      try host.directory.file("plugins/script.so", "no library")
      let refused = try await host.cli("reload")
      #expect(refused.status == 78 && refused.errors.contains("script.so"), "\(refused)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      try FileManager.default.removeItem(atPath: host.directory("plugins/script.so"))
      let removed = try await host.cli("reload")
      #expect(removed.status == 0 && removed.output.contains("  test.script: removed"), "\(removed)")
      #expect(try await host.cli("submit", "test.script").status == 6)
      #expect(try await host.request(waiting) { _ in true }["state"]?.string == "pending")
      try await host.add("script.so", "script")
      #expect(try await host.cli("reload").status == 0)
      #expect(try await host.cli("simulate", "launch", "test.script").status == 0)
      try await host.request(waiting, is: "succeeded")
    }
  }

  @Test("what is loaded into threads of the host cannot be replaced or removed: that is said, and nothing has changed")
  func threads() async throws {
    try await HostProcess.run(isolation: .thread) { host in
      try await host.add("script.so", "script", ["-DALWAYS_ECHO"])
      let replaced = try await host.cli("reload")
      #expect(replaced.status == 78 && replaced.errors.contains("Restart the host"), "\(replaced)")
      try FileManager.default.removeItem(atPath: host.directory("plugins/script.so"))
      let removed = try await host.cli("reload")
      #expect(removed.status == 78 && removed.errors.contains("restart the host to remove it"), "\(removed)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  // MARK: While other things happen

  @Test("submissions go on while the host is reloaded again and again: none is lost, none runs twice")
  func load() async throws {
    try await HostProcess.run("max_concurrent_runs = 8\nmax_pending = 100000\n") { host in
      let notes = try host.directory.shared("notes")
      let socket = host.socket
      let clients = (0..<3).map { _ in
        Task {
          try await onThread {
            let client = try SocketClient(socket, limit: .seconds(60))
            return try (0..<150).compactMap { _ in
              let body = "{\"identifier\": \"test.script\", \"payload\": \"note \(notes)\"}"
              let answer = try client.request("POST", "/v1/requests", body: body)
              guard answer.status == 201 else { throw TestFailure("\(answer)") }
              return try answer.json()["id"]?.string
            }
          }
        }
      }
      for round in 0..<8 {
        let exec = round % 2 == 1
        try host.configure(
          """
          max_concurrent_runs = \(4 + round)
          max_pending = 100000
          [plugin."test.script".entitlements]
          write = ["\(host.directory("shared"))"]
          exec = \(exec)
          """)
        let reloaded = try await host.cli("reload")
        #expect(reloaded.status == 0, "\(reloaded)")
      }
      var ids: [String] = []
      for client in clients { ids += try await client.value }
      for id in ids { try await host.request(id, is: "succeeded") }
      let noted = host.directory.text("shared/notes").split(separator: "\n").map { String($0.prefix { $0 != " " }) }
      #expect(ids.count == 450 && noted.sorted() == ids.sorted(), "\(noted.count) runs")
    }
  }

  @Test("two reloads at once: one is told that the other is under way, or both work; a drain is never held up")
  func together() async throws {
    try await HostProcess.run { host in
      let commands = try (0..<4).map { _ in try host.startCLI("reload") }
      for command in commands {
        let result = try await command.result()
        #expect(result.status == 0 || result.errors.contains("another reload is under way"), "\(result)")
      }
      let last = try host.startCLI("reload")
      #expect(try await host.terminate().status == 0)
      _ = try await last.result()
    }
  }

  @Test("killed while and after it is reloaded, the host comes back with what the file says, and loses nothing")
  func kills() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let notes = try host.directory.shared("notes")
      var ids: [String] = []
      for round in 0..<8 {
        try host.configure("[schedule.\"test.script/s\(round)\"]\nevery = \"1h\"\npayload = { round = \(round) }\n")
        try await host.start()
        ids.append(try await host.submit("note \(notes)"))
        try host.configure("[schedule.\"test.script/t\(round)\"]\nevery = \"1h\"\npayload = { round = \(round) }\n")
        let reload = try host.startCLI("reload")
        if round % 2 == 0 { _ = try await reload.result() } else { try await Task.sleep(for: .milliseconds(15 * round)) }
        await host.kill()
        _ = try? await reload.result()
      }
      try await host.start()
      let live = try await host.json("tasks", "list", "state:pending,running,blocked")["requests"]?.array ?? []
      let names = live.compactMap { $0["unique_key"]?.string }
      #expect(names.filter { $0.hasPrefix("config:") }.count == 1 && names.contains { $0.hasSuffix("t7") }, "\(names)")
      for id in ids { try await host.request(id, is: "succeeded") }
    }
  }
}
