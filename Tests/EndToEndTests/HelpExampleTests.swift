import Foundation
import Glibc
import TestSupport
import Testing

/// The examples that `--help` shows do what they say when somebody copies them into a shell.
@Suite("Examples in --help", .timeLimit(.minutes(20)))
struct HelpExampleTests {
  /// An example as it is printed, and the words of the command whose help shows it.
  private struct Example {
    let command: [String]
    let line: String
  }

  @Test("every example of every command runs as it is printed, against a host with the plugins that it names")
  func all() async throws {
    try await HostProcess.prepare { host in
      try await Self.setUp(host)
      try await host.start()
      let shell = try Shell(host)
      try await shell.run("mkdir ~/src ~/keys; taskhost plugins keygen old")
      for _ in 0..<4 { _ = try await host.run("result 4", identifier: "com.example.report") }
      let examples = try await Self.examples()
      #expect(examples.count > 70, "\(examples.count)")
      // top needs a terminal, plugins debug a debugger, plugins revoke what was approved, fleet a database: TopTests, DebuggingTests,
      // ApprovalTests and FleetTests run them.
      for example in examples
      where ![["plugins", "debug"], ["plugins", "revoke"]].contains(example.command)
        && !["fleet", "run", "shutdown", "top"].contains(example.command.first ?? Self.subcommand(example.line))
      {
        // What an example before has made, or what is there by now.
        try await shell.run("rm -rf libVendor.so.sig hello-sync notes; [ ! -f vendor.pub ] || cp vendor.pub new.pub")
        if example.command == ["plugins", "verify"] { try await shell.run("taskhost plugins sign libVendor.so --key vendor.key") }
        let result = try await shell.result(of: example.line)
        #expect(result.status == 0, "\(example.line): exit \(result.status): \(result.errors) \(result.output.suffix(2000))")
      }
      for example in examples where example.command.first == "shutdown" {
        let result = try await shell.result(of: example.line)
        #expect(result.status == 0, "\(example.line): \(result.errors)")
        #expect(try await host.end().status == 0)
        try await host.start()
      }
      try await host.terminate()
      for example in examples where Self.subcommand(example.line) == "run" {
        let started = try shell.start(example.line)
        try await started.log.line(with: "control socket open")
        started.program.send(SIGTERM)
        #expect(try await started.program.result().status == 0, "\(example.line)")
      }
    }
  }

  @Test("no prose of any command wraps at a terminal of 80 columns")
  func width() async throws {
    for (command, lines) in try await Self.discussions() {
      for line in lines where !line.hasPrefix(" ") {
        #expect(line.count < 80, "\(command.joined(separator: " ")): \(line)")
      }
    }
  }

  /// Of every command, in the order of the help, what its own configuration says.
  private static func examples() async throws -> [Example] {
    try await discussions().flatMap { path, lines in
      lines.drop { $0 != "EXAMPLES" }.dropFirst().prefix { !$0.isEmpty }.map {
        Example(command: path, line: $0.trimmingCharacters(in: .whitespaces))
      }
    }
  }

  /// Of every command, its words and the lines of its discussion.
  private static func discussions() async throws -> [(command: [String], lines: [Substring])] {
    let dump = try await Program.run(try BuiltProgram.taskhost, ["--experimental-dump-help"])
    func walk(_ command: JSON, _ path: [String]) -> [(command: [String], lines: [Substring])] {
      let lines = (command["discussion"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false)
      return [(path, lines)] + (command["subcommands"]?.array ?? []).flatMap { walk($0, path + [$0["commandName"]?.string ?? ""]) }
    }
    guard let root = try dump.json()["command"] else { throw TestFailure("no command: \(dump.output.prefix(200))") }
    return walk(root, [])
  }

  /// `run` of `taskhost run`.
  private static func subcommand(_ line: String) -> String {
    line.hasPrefix("taskhost ") ? String(line.split(separator: " ").dropFirst().first ?? "") : ""
  }

  /// Plugins for every identifier that examples name, and files with the names that they have there.
  private static func setUp(_ host: HostProcess) async throws {
    let identifiers = [
      "com.example.report", "com.example.deploy", "com.example.import", "com.example.ci", "org.taskhost.transfers",
    ]
    for (number, identifier) in identifiers.enumerated() {
      let echo = identifier == "com.example.report" ? [] : ["-DALWAYS_ECHO"]
      try await host.add("example\(number).so", "script", ["-DIDENTIFIER=\"\(identifier)\""] + echo)
    }
    let cleanup = try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libCleanup.so")))
    try host.directory.file("plugins/libCleanup.so", cleanup)
    let tokens = try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTokenRefresh.so")))
    try host.directory.file("plugins/libTokenRefresh.so", tokens)
    try host.directory.folder("tokens")
    let file = host.directory("tokens/mail.json")
    try host.directory.file("tokens/mail.json", #"{"access_token": "a", "refresh_token": "r", "expires_at": "2999-01-01T00:00:00Z"}"#)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let sync = try await Fixtures.shared.bytes(of: "script", ["-DIDENTIFIER=\"com.example.sync\"", "-DALWAYS_ECHO"])
    try host.directory.file("libVendor.so", sync)
    // What is checked has to pass: the sample does.
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    for name in ["hello-c.so", "libSync.so"] {
      let built = try await Program.run(
        "/usr/bin/cc",
        [
          "-shared", "-fPIC", "-O2", "-I", root.appending(path: "SDK/CTaskHost/include").path, "-o", host.directory(name),
          root.appending(path: "Plugins/Samples/hello-c/hello.c").path,
        ])
      guard built.status == 0 else { throw TestFailure("the sample does not compile: \(built.errors)") }
    }
    try host.directory.file("sync.json", "{}")
    try setUpMachine(host)
    try host.directory.file("transfers.json", #"{"items": [{"url": "https://example.org/a", "to": "/srv/a"}]}"#)
    let manifest = """
      identifier = "org.example.crc32"
      kind = "refresh"
      library = "libz.so.1"
      symbol = "crc32"
      signature = "u64(u64 crc?, bytes data)"
      success = "any"

      """
    for folder in ["plugins/", ""] { try host.directory.file(folder + "crc32.task.toml", manifest) }
    try host.configure(
      """
      [plugin."org.taskhost.token-refresh".entitlements]
      write = ["\(host.directory("tokens"))"]
      [[plugin."org.taskhost.token-refresh".settings.accounts]]
      name = "mail"
      token_file = "\(file)"
      client_id = "desktop"
      token_endpoint = "https://login.example.org/token"

      """)
  }

  /// What the examples of `takeover` read: the crontab, the log and a timer of a machine whose only user is this process's.
  private static func setUpMachine(_ host: HostProcess) throws {
    let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"
    for folder in ["etc/systemd/system/timers.target.wants", "taskhost"] { try host.directory.folder("machine/\(folder)") }
    try host.directory.file("crontab.txt", "0 5 * * * backup /srv\n")
    try host.directory.file("machine/etc/crontab", "0 5 * * * \(user) backup /srv\n")
    try host.directory.file("cron.log", "Nov 27 05:00:01 web1 CRON[1]: (\(user)) CMD (backup /srv)\n")
    try host.directory.file("systemd.log", "Nov 27 00:00:01 web1 systemd[1]: Starting report.service - Report...\n")
    let units = host.directory("machine/etc/systemd/system")
    try Data("[Timer]\nOnCalendar=daily\n".utf8).write(to: URL(filePath: "\(units)/report.timer"))
    try Data("[Service]\nUser=\(user)\nExecStart=/bin/true\n".utf8).write(to: URL(filePath: "\(units)/report.service"))
    try FileManager.default.createSymbolicLink(atPath: "\(units)/timers.target.wants/report.timer", withDestinationPath: "../report.timer")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: host.directory("machine/etc/crontab"))
  }

  /// A shell in the test's directory, with `taskhost` on its path and nothing of the user's.
  private struct Shell {
    private let directory: String
    private let environment: [String: String]

    init(_ host: HostProcess) throws {
      directory = host.directory.path
      let programs = URL(filePath: try BuiltProgram.taskhost).deletingLastPathComponent().path
      environment = [
        "HOME": directory, "PATH": "\(programs):\(Program.plainEnvironment["PATH"] ?? "")",
      ]
    }

    func result(of line: String) async throws -> Program.Result {
      try await Program.run(
        "/bin/bash", ["-o", "pipefail", "-c", line], environment: environment, directory: directory, within: .seconds(300))
    }

    func run(_ line: String) async throws {
      let result = try await result(of: line)
      guard result.status == 0 else { throw TestFailure("\(line): exit \(result.status): \(result.errors)") }
    }

    func start(_ line: String) throws -> (program: Program, log: HostLog) {
      let log = HostLog()
      let program = try Program(
        "/bin/bash", ["-c", "exec " + line], environment: environment, directory: directory, onErrorLine: { log.add($0) })
      return (program, log)
    }
  }
}
