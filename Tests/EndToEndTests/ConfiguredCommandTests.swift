import Foundation
import Glibc
import TestSupport
import Testing

/// `[command."ID"]`: programs that run as tasks.
@Suite("Commands", .timeLimit(.minutes(20)))
struct ConfiguredCommandTests {
  /// Gives `body` a host with the commands of `text`.
  private func withCommands(
    _ text: String, environment: [String: String] = [:], _ body: (HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare(environment: environment) { host in
      try host.configure(text.replacing("@DIRECTORY@", with: host.directory.path))
      try await host.start()
      try await body(host)
    }
  }

  /// Submits and waits for the end of the run.
  private func run(_ host: HostProcess, _ identifier: String, payload: String? = nil) async throws -> Program.Result {
    try await host.cli(["submit", identifier, "--wait"] + (payload.map { ["--payload", $0] } ?? []))
  }

  @Test("run starts a program without a shell, the payload is its input, and its lines are the run's log")
  func run() async throws {
    let text = """
      [command."backup.nightly"]
      run = ["/usr/bin/printf", "%s|", "a b", "$HOME", "*"]
      [command.input]
      run = ["tr", "a-z", "A-Z"]
      """
    try await withCommands(text) { host in
      let printed = try await run(host, "backup.nightly")
      #expect(printed.status == 0 && printed.errors.contains("a b|$HOME|*|"), "\(printed)")
      let read = try await run(host, "input", payload: "{\"key\":\"value\"}")
      #expect(read.status == 0 && read.errors.contains("{\"KEY\":\"VALUE\"}"), "\(read)")
      let plugins = try await host.json("plugins", "list")["plugins"]?.array ?? []
      let listed = try #require(plugins.first { $0["identifier"]?.string == "backup.nightly" })
      #expect(listed["command"]?.array.first?.string == "/usr/bin/printf" && listed["max_concurrent_runs"]?.integer == 1)
    }
  }

  @Test("shell runs a line, in directory, with the environment that is configured and none of the host's own")
  func environment() async throws {
    let text = """
      [command.env]
      shell = "env; pwd"
      directory = "@DIRECTORY@/shared"
      environment = ["COLOUR=red", "PASSED", "EMPTY="]
      stdout = "output"
      """
    try await withCommands(text, environment: ["PASSED": "on", "SECRET": "kept", "PATH": "/nowhere"]) { host in
      let trace = "0af7651916cd43dd8448eb211c80319c"
      let submission = try await host.json("submit", "env", "--wait", "--traceparent", "00-\(trace)-b7ad6b7169203331-01")
      let id = submission["submission"]?["id"]?.string
      let output = try await host.cli("runs", "list", "--request", id ?? "", "--json")
      let run = try #require(try output.json()["runs"]?.array.first?["id"]?.string)
      let shown = try await host.json("runs", "show", run)
      let bytes = try #require(shown["output_base64"]?.string.flatMap { Data(base64Encoded: $0) })
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      #expect(lines.contains("COLOUR=red") && lines.contains("PASSED=on") && lines.contains("EMPTY="), "\(lines)")
      #expect(!lines.contains { $0.hasPrefix("SECRET") } && !lines.contains("PATH=/nowhere"), "\(lines)")
      #expect(lines.contains("TASKHOST_IDENTIFIER=env") && lines.contains("TASKHOST_ATTEMPT=1"), "\(lines)")
      #expect(lines.contains("TASKHOST_REQUEST_ID=\(id ?? "")") && lines.contains("TASKHOST_SOCKET=\(host.socket)"), "\(lines)")
      #expect(lines.contains { $0.hasPrefix("TRACEPARENT=00-\(trace)-") && !$0.contains("b7ad6b7169203331") }, "\(lines)")
      #expect(lines.last == host.directory("shared"), "\(lines)")
    }
  }

  @Test("stdout = \"output\" makes what it prints the run's output, cut at the limit")
  func output() async throws {
    let text = """
      [command.answer]
      run = ["cat"]
      stdout = "output"
      [command.flood]
      shell = "head -c 100000 /dev/zero | tr '\\\\0' x"
      stdout = "output"
      """
    try await withCommands(text) { host in
      let answer = try await run(host, "answer", payload: "{\"answer\":42}")
      #expect(answer.status == 0 && answer.output == "{\"answer\":42}\n", "\(answer)")
      let flood = try await run(host, "flood")
      #expect(flood.status == 0 && flood.errors.contains("cut after 65536 bytes"), "\(flood)")
    }
  }

  @Test("exit codes become results: 0 success, 75 retry, others failure, and exit_codes changes that")
  func exitCodes() async throws {
    let text = """
      [command.plain]
      shell = "read code; echo \\"failing with $code\\" >&2; exit $code"
      retry = { attempts = 1 }
      [command.mapped]
      shell = "read code; exit $code"
      exit_codes = { 3 = "noop", 75 = "failure", other = "success" }
      """
    try await withCommands(text) { host in
      func outcome(_ identifier: String, _ code: String) async throws -> String? {
        let run = try await host.cli("submit", identifier, "--wait", "--json", "--payload", code).json()["run"]
        return "\(run?["outcome"]?.string ?? "-") \(run?["message"]?.string ?? "")"
      }
      for (identifier, code, expected) in [
        ("plain", "0", "succeeded "), ("plain", "9", "failed exit code 9: failing with 9"),
        ("plain", "77", "failed exit code 77 (permission denied): failing with 77"),
        ("plain", "75", "retried exit code 75 (temporary failure): failing with 75"), ("mapped", "3", "noop "),
        ("mapped", "75", "failed exit code 75 (temporary failure)"), ("mapped", "9", "succeeded "),
      ] {
        let found = try await outcome(identifier, code)
        #expect(found == expected)
      }
    }
  }

  @Test("at its budget a command gets SIGTERM, and before the grace is over its whole group is killed")
  func expiration() async throws {
    // The FIFO ends when the last process of the group has ended.
    let text = """
      [command.heeds]
      shell = "exec 3> @DIRECTORY@/shared/heeds; trap 'echo asked; exit 0' TERM; sleep 600 & wait"
      budget = "200ms"
      [command.stubborn]
      shell = "exec 3> @DIRECTORY@/shared/stubborn; trap '' TERM; sleep 600 & sleep 600"
      budget = "200ms"
      grace = "400ms"
      retry = { attempts = 1 }
      """
    try await HostProcess.prepare { host in
      let gates = try ["heeds", "stubborn"].map { try host.directory.fifo($0) }
      try host.configure(text.replacing("@DIRECTORY@", with: host.directory.path))
      try await host.start()
      for (gate, identifier) in zip(gates, ["heeds", "stubborn"]) {
        async let ended = gate.read()
        let result = try await host.cli("submit", identifier, "--wait", "--json").json()["run"]
        let rest = try await ended
        #expect(rest == "")
        let stops = identifier == "heeds"
        #expect(result?["outcome"]?.string == (stops ? "succeeded" : "retried"), "\(result as Any)")
        if !stops {
          #expect(result?["message"]?.string == "stopped, because its budget was spent: SIGKILL ended it", "\(result as Any)")
        }
      }
      let log = host.current.lines
      #expect(log.contains { $0.contains("asked") })
    }
  }

  @Test("a run that expires while its program starts is killed like any other", arguments: ["", "persistent = true"])
  func earlyExpiration(_ key: String) async throws {
    let text = """
      [command.early]
      shell = "exec 3> @DIRECTORY@/shared/early; trap '' TERM; sleep 600 & sleep 600"
      budget = "1ms"
      grace = "100ms"
      retry = { attempts = 1 }
      \(key)
      """
    try await HostProcess.prepare { host in
      let gate = try host.directory.fifo("early")
      // Keeps the FIFO open for reading, so that the program never waits for a reader.
      let reader = open(gate.path, O_RDWR | O_CLOEXEC)
      defer { close(reader) }
      try host.configure(text.replacing("@DIRECTORY@", with: host.directory.path))
      try await host.start()
      for _ in 0..<5 {
        let run = try await host.cli("submit", "early", "--wait", "--json").json()["run"]
        #expect(run?["outcome"]?.string == "retried", "\(run as Any)")
      }
      #expect(try await host.plugin("libExec.so")["standing"]?.string == "registered")
    }
  }

  @Test("what a command's processes leave behind when the host is killed is ended before the next run")
  func leftovers() async throws {
    let text = """
      [command.work]
      shell = "exec 3> @DIRECTORY@/shared/work; sleep 600 & echo begun; wait"
      """
    try await HostProcess.prepare { host in
      let gate = try host.directory.fifo("work")
      try host.configure(text.replacing("@DIRECTORY@", with: host.directory.path))
      try await host.start()
      async let first = gate.read()
      _ = try await host.cli("submit", "work")
      try await host.current.line(with: "begun", "work")
      await host.kill()
      // The shell died with its host, and sleep did not: it holds the FIFO until the next host's run ends it.
      try await host.start()
      let rest = try await first
      #expect(rest == "")
      try await host.current.line(with: "left behind when its host was killed")
    }
  }

  @Test("user runs a command as another user", .enabled(if: geteuid() == 0, "needs root"))
  func user() async throws {
    let text = """
      [command.who]
      shell = "id -un; id -G; echo $HOME $USER; echo to the log > /dev/stderr"
      user = "nobody"
      stdout = "output"
      """
    try await withCommands(text) { host in
      let who = try await run(host, "who")
      #expect(who.output.hasPrefix("nobody\n65534\n") && who.output.contains(" nobody\n"), "\(who)")
      #expect(who.errors.contains("warning: to the log"), "\(who)")
    }
  }

  @Test("user may name the user that a host without rights runs as", .enabled(if: geteuid() == 0, "runs the host as another user"))
  func ownUser() async throws {
    try await HostProcess.prepare { host in
      try host.configure("[command.who]\nshell = \"id -un\"\nuser = \"nobody\"\nstdout = \"output\"\n")
      for path in [host.directory.path] + (FileManager.default.subpaths(atPath: host.directory.path) ?? []).map({ host.directory($0) }) {
        chown(path, 65534, 65534)
      }
      try host.spawn(through: ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
      try await host.current.line(with: "control socket open")
      try await host.current.line(with: "launched:")
      let who = try await run(host, "who")
      #expect(who.status == 0 && who.output.hasPrefix("nobody\n"), "\(who)")
    }
  }

  @Test("a program that cannot be started fails the run and says why")
  func missing() async throws {
    let text = """
      [command.gone]
      run = ["/no/such/program"]
      [command.lost]
      run = ["no-such-program"]
      [command.data]
      run = ["@DIRECTORY@/taskhost.toml"]
      [command.nowhere]
      run = ["true"]
      directory = "/no/such/folder"
      """
    try await withCommands(text) { host in
      for (identifier, words) in [
        ("gone", "cannot start /no/such/program: No such file or directory"), ("lost", "it is in no folder of PATH"),
        ("data", "taskhost.toml: Permission denied"), ("nowhere", "its directory /no/such/folder: No such file or directory"),
      ] {
        let result = try await run(host, identifier)
        #expect(result.status == 1 && result.output.contains(words), "\(identifier): \(result)")
      }
    }
  }

  @Test("entitlements put a command into the sandbox of a worker, with its limits")
  func sandbox() async throws {
    let text = """
      [command.boxed]
      shell = "cat @DIRECTORY@/shared/open; cat @DIRECTORY@/closed; echo $TASKHOST_SOCKET; pwd; ulimit -n; true"
      [command.boxed.entitlements]
      read = ["@DIRECTORY@/shared"]
      [command.boxed.limits]
      descriptors = 77
      [command.bounded]
      shell = "ulimit -v; ulimit -n"
      limits = { memory = "1GiB", descriptors = 99 }
      """
    try await HostProcess.prepare { host in
      try host.directory.file("shared/open", "may be read\n")
      try host.directory.file("closed", "may not be read\n")
      try host.configure(text.replacing("@DIRECTORY@", with: host.directory.path))
      try await host.start()
      let boxed = try await run(host, "boxed")
      #expect(boxed.status == 0 && boxed.errors.contains("info: may be read"), "\(boxed)")
      #expect(!boxed.errors.contains("may not be read") && boxed.errors.contains("Permission denied"), "\(boxed)")
      #expect(boxed.errors.contains("info: \(host.directory("state/data/boxed"))") && boxed.errors.contains("info: 77"), "\(boxed)")
      let bounded = try await run(host, "bounded")
      #expect(bounded.errors.contains("info: 1048576\ninfo: 99\n"), "\(bounded)")
    }
  }

  @Test("more lines than a log takes are left out, except for the first and the last")
  func flood() async throws {
    try await withCommands("[command.seq]\nrun = [\"seq\", \"100000\"]\n") { host in
      let result = try await run(host, "seq")
      let lines = result.errors.split(separator: "\n")
      #expect(result.status == 0 && lines.first == "info: 1" && lines.last == "info: 100000", "\(lines.suffix(3))")
      #expect(lines.contains { $0.hasSuffix("lines were left out here: the command writes faster than a log is kept") })
      #expect(lines.count < 1000)
    }
  }
}
