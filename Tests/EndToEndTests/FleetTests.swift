import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// Hosts that share one queue on a real PostgreSQL server.
@Suite("Fleet", .timeLimit(.minutes(10)))
struct FleetTests {
  /// A database with a fleet, and a pipe into which the runs of all its hosts write lines.
  private final class Fleet: Sendable {
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
    func configuration(_ name: String, job: String, slots: Int = 2, more: String = "") -> String {
      """
      [fleet]
      url = "\(address)"
      name = "\(name)"
      labels = ["test"]
      [retry]
      attempts = 2
      initial = "100ms"
      maximum = "200ms"
      [command.job]
      scope = "fleet"
      max_concurrent_runs = \(slots)
      shell = '''\(job.replacing("@PIPE@", with: pipe).replacing("@HOST@", with: name))'''
      [command.job.entitlements]
      write = ["\(directory.path)"]
      [command.here]
      shell = "exit 0"
      \(more)
      """
    }
  }

  /// Gives `body` two hosts of a fleet, which are not started.
  private func withHosts(
    _ fleet: Fleet, job: String, slots: Int = 2, _ body: (HostProcess, HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare { first in
      try await HostProcess.prepare { second in
        try first.configure(fleet.configuration("a", job: job, slots: slots))
        try second.configure(fleet.configuration("b", job: job, slots: slots))
        try await body(first, second)
      }
    }
  }

  private func joined(_ hosts: HostProcess...) async throws {
    for host in hosts {
      try await host.start()
      try await host.current.line(with: "joined the fleet")
    }
  }

  @Test("any host submits, any host runs, and each request runs once")
  func sharing() async throws {
    let fleet = try await Fleet(lease: "10s")
    try await withHosts(fleet, job: "echo \"$TASKHOST_REQUEST_ID @HOST@\" > @PIPE@; sleep 0.2") { first, second in
      let lines = try fleet.reader()
      try await joined(first, second)
      var ids: Set<String> = []
      for _ in 0..<20 { ids.insert(try await first.cli("submit", "job").output.trimmingCharacters(in: .whitespacesAndNewlines)) }
      #expect(ids.count == 20)
      var seen: [String: String] = [:]
      for _ in 0..<20 {
        let words = try lines.line().split(separator: " ").map(String.init)
        #expect(seen.updateValue(words[1], forKey: words[0]) == nil, "\(words) ran twice")
      }
      #expect(Set(seen.keys) == ids)
      #expect(Set(seen.values) == ["a", "b"])
      let shown = try await second.request(ids.first ?? "", is: "succeeded")
      #expect(shown["identifier"]?.string == "job")
      let status = try await fleet.json("status")
      #expect(status["hosts"]?.array.map { $0["state"]?.string } == ["alive", "alive"])
      #expect(status["hosts"]?.array.first?["labels"]?.array.first?.string == "test")
      #expect(try await first.terminate().status == 0)
      #expect(try await second.terminate().status == 0)
      let left = try await fleet.json("status")
      #expect(left["ready"]?.integer == 0 && left["held"]?.integer == 0, "\(left)")
    }
  }

  @Test("what a killed host held runs on another one after the lease")
  func takeover() async throws {
    let fleet = try await Fleet()
    let job = "[ @HOST@ = b ] || { echo \"begun @HOST@\" > @PIPE@; sleep 600; }; echo \"begun @HOST@\" > @PIPE@"
    try await withHosts(fleet, job: job) { first, second in
      let lines = try fleet.reader()
      try await joined(first)
      let id = try await first.cli("submit", "job").output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try lines.line() == "begun a")
      try await joined(second)
      await first.kill()
      #expect(try lines.line() == "begun b")
      _ = try await second.request(id, is: "succeeded")
      let hosts = try await fleet.json("hosts")
      #expect(hosts["hosts"]?.array.map { $0["state"]?.string } == ["fenced", "alive"])
    }
  }

  @Test("the runs of a frozen host are dead before another host has their requests")
  func frozen() async throws {
    let fleet = try await Fleet()
    // The first run never ends by itself; another one says whether it is alive.
    let job = "[ @HOST@ = b ] || { echo \"begun $$\" > @PIPE@; sleep 600; }; echo b > @PIPE@"
    try await withHosts(fleet, job: job) { first, second in
      let lines = try fleet.reader()
      try await joined(first)
      _ = try await first.cli("submit", "job")
      let words = try lines.line().split(separator: " ")
      let process = try #require(words.last.flatMap { pid_t($0) })
      try await joined(second)
      first.signal(SIGSTOP)
      #expect(try lines.line() == "b")
      #expect(!Processes.all().contains { $0.id == process }, "the run of the frozen host goes on")
      first.signal(SIGCONT)
      try await first.current.line(with: "the lease in the fleet has ended")
      try await first.current.line(with: "joined the fleet again")
      let hosts = try await fleet.json("hosts")
      #expect(hosts["hosts"]?.array.map { $0["state"]?.string } == ["fenced", "alive", "alive"])
    }
  }

  @Test("while the database is away, the host's own work goes on, and submissions for the fleet are refused with the reason")
  func away() async throws {
    let fleet = try await Fleet(lease: "10s", server: try PostgresServer())
    try await HostProcess.prepare { host in
      try host.configure(fleet.configuration("a", job: "echo done > @PIPE@"))
      let lines = try fleet.reader()
      try await joined(host)
      try fleet.server.kill()
      let refused = try await host.cli("submit", "job")
      #expect(refused.status == 6 && refused.errors.contains("the fleet's database takes nothing now"), "\(refused)")
      let own = try await host.cli("submit", "here", "--wait")
      #expect(own.status == 0, "\(own)")
      try fleet.server.start()
      try await host.current.line(with: "the fleet's database answers again")
      let taken = try await host.cli("submit", "job")
      #expect(taken.status == 0, "\(taken)")
      #expect(try lines.line() == "done")
    }
  }

  @Test("a failing request is tried again by the fleet, becomes a dead letter, and is retried or discarded from any host")
  func retries() async throws {
    let fleet = try await Fleet(lease: "10s")
    try await withHosts(fleet, job: "echo \"$TASKHOST_ATTEMPT\" > @PIPE@; exit 75") { first, second in
      let lines = try fleet.reader()
      try await joined(first, second)
      let id = try await first.cli("submit", "job").output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try [lines.line(), lines.line()] == ["1", "2"])
      _ = try await second.request(id, is: "failed")
      let retried = try await second.cli("tasks", "retry", id)
      #expect(retried.status == 0, "\(retried)")
      #expect(try lines.line() == "1")
    }
  }

  @Test("a drained host takes nothing more, and keys are unique in the fleet")
  func draining() async throws {
    let fleet = try await Fleet()
    try await withHosts(fleet, job: "echo @HOST@ > @PIPE@; sleep 1") { first, second in
      let lines = try fleet.reader()
      try await joined(first, second)
      let drained = try await fleet.taskhost("drain", "a")
      #expect(drained.status == 0, "\(drained)")
      try await first.current.line(with: "it takes nothing more of it")
      for _ in 0..<4 { #expect(try await first.cli("submit", "job", "--key", "k", "--on-conflict", "keep").status == 0) }
      #expect(try lines.line() == "b")
      let refused = try await fleet.taskhost("drain", "nobody")
      #expect(refused.status == 6, "\(refused)")
      let status = try await fleet.json("status")
      #expect(status["ready"]?.integer == 0, "\(status)")
    }
  }
}
