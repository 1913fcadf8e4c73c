import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// A database with a fleet, and a pipe into which the runs of all its hosts write lines.
final class FleetGround: Sendable {
  let server: PostgresServer
  let address: String
  let directory: TestDirectory
  var pipe: String { directory("pipe") }

  init(lease: String = "2s", server: PostgresServer? = nil) async throws {
    self.server = try server ?? PostgresServer.shared.get()
    address = try self.server.makeDatabase()
    directory = try TestDirectory()
    guard mkfifo(directory("pipe"), 0o600) == 0 else { throw TestFailure("mkfifo: errno \(errno)") }
    let made = try await taskhost("init", "--lease", lease)
    #expect(made.status == 0, "\(made)")
  }

  /// Runs a command of `taskhost fleet`.
  func taskhost(_ arguments: String...) async throws -> Program.Result {
    try await Program.run(try BuiltProgram.taskhost, ["fleet"] + arguments + ["--url", address])
  }

  func json(_ arguments: String...) async throws -> JSON {
    try JSON(parsing: try await Program.run(try BuiltProgram.taskhost, ["fleet"] + arguments + ["--url", address, "--json"]).output)
  }

  /// Reads the lines that runs write.
  func reader() throws -> LineProgram { try LineProgram(["/bin/sh", "-c", "exec 3<>\"$0\"; exec cat <&3", pipe]) }

  /// A host's configuration with the command `job`.
  ///
  /// - Parameter isInFleet: Whether the host is in the fleet, which has the requests of `job` then.
  func configuration(_ name: String, job: String, slots: Int = 2, keys: String = "", more: String = "", isInFleet: Bool = true) -> String {
    let fleet = "[fleet]\nurl = \"\(address)\"\nname = \"\(name)\"\nlabels = [\"test\"]"
    return """
      \(isInFleet ? fleet : "")
      [retry]
      attempts = 2
      initial = "100ms"
      maximum = "200ms"
      [command.job]
      \(isInFleet ? "scope = \"fleet\"" : "")
      max_concurrent_runs = \(slots)
      \(keys)
      shell = '''\(job.replacing("@PIPE@", with: pipe).replacing("@HOST@", with: name))'''
      [command.job.entitlements]
      write = ["\(directory.path)"]
      [command.here]
      shell = "exit 0"
      \(more)
      """
  }

  /// Gives `body` two hosts of a fleet, which are not started.
  func withHosts(
    job: String, slots: Int = 2, keys: String = "", _ body: (HostProcess, HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare { first in
      try await HostProcess.prepare { second in
        try first.configure(configuration("a", job: job, slots: slots, keys: keys))
        try second.configure(configuration("b", job: job, slots: slots, keys: keys))
        try await body(first, second)
      }
    }
  }

  /// Gives `body` a host of the fleet, which has joined it.
  func withHost(job: String = "exit 0", _ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try host.configure(configuration("a", job: job))
      try await Self.joined(host)
      try await body(host)
    }
  }

  /// Starts hosts, and waits until they have joined the fleet.
  static func joined(_ hosts: HostProcess...) async throws {
    for host in hosts {
      try await host.start()
      try await host.current.line(with: "joined the fleet")
    }
  }

  /// Submits a request of `job`, and returns its id.
  static func submit(_ host: HostProcess, _ arguments: String...) async throws -> String { try await submit(host, arguments) }

  static func submit(_ host: HostProcess, _ arguments: [String]) async throws -> String {
    let result = try await host.cli(["submit", "job"] + arguments)
    #expect(result.status == 0, "\(result)")
    return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
