import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// `taskhost fleet fence`: others get what a host held once its runs are dead, or at once with `--now`.
@Suite("Fleet: fence", .timeLimit(.minutes(10)))
struct FleetFenceTests {
  /// Writes the time for as long as it lives on the host `a`, which no signal but SIGKILL ends; once on any other.
  private static let job = """
    if [ @HOST@ = a ]; then
      trap '' TERM INT HUP
      echo "begun a $TASKHOST_ATTEMPT" > @PIPE@
      while :; do date +%s%N >> @PIPE@.a; done
    fi
    date +%s%N > @PIPE@.b
    echo "begun b $TASKHOST_ATTEMPT" > @PIPE@
    """

  /// The end of the run on `a` and the beginning of the one on `b`.
  private static func interval(_ fleet: FleetGround) throws -> (end: Int, begin: Int) {
    func times(_ name: String) throws -> [Int] {
      try String(contentsOfFile: fleet.pipe + name, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
    }
    return (try #require(times(".a").max()), try #require(times(".b").min()))
  }

  /// Two hosts: `a` has begun a run, and takes nothing more.
  private func withRun(
    lease: String, _ body: (FleetGround, HostProcess, HostProcess, LineProgram) async throws -> Void
  ) async throws {
    let fleet = try await FleetGround(lease: lease)
    try await fleet.withHosts(job: Self.job) { first, second in
      let lines = try fleet.reader()
      try await FleetGround.joined(first)
      _ = try await FleetGround.submit(first)
      #expect(try lines.line() == "begun a 1")
      #expect(try await fleet.taskhost("drain", "a").status == 0)
      try await first.current.line(with: "it takes nothing more of it")
      try await body(fleet, first, second, lines)
    }
  }

  @Test("a host that lives gives up what it holds, and its runs are dead before the next owner begins")
  func living() async throws {
    try await withRun(lease: "5s") { fleet, first, second, lines in
      try await FleetGround.joined(second)
      let fenced = try await fleet.json("fence", "a", "--yes")
      #expect(fenced["acknowledged"]?.integer == 1 && fenced["silent"]?.integer == 0 && fenced["requests"]?.integer == 1, "\(fenced)")
      #expect(fenced["left"] == nil, "\(fenced)")
      #expect(try lines.line() == "begun b 1", "it is no attempt, and no loss")
      let (end, begin) = try Self.interval(fleet)
      #expect(end < begin, "the run on a went on for \(end - begin) ns")
      try await first.current.line(with: "this host has given up what it held of the fleet")
      try await first.current.line(with: "joined the fleet again")
      let hosts = try await fleet.json("hosts")["hosts"]?.array ?? []
      #expect(hosts.first?["state"]?.string == "fenced", "\(hosts)")
      #expect(hosts.first?["reason"]?.string == "an operator has fenced it, and it has given up what it held")
    }
  }

  @Test("a host that is frozen is fenced when its runs must be dead, also if no other host is there")
  func silent() async throws {
    try await withRun(lease: "3s") { fleet, first, second, lines in
      first.signal(SIGSTOP)
      let fenced = try await fleet.taskhost("fence", "a", "--yes")
      #expect(fenced.status == 0 && fenced.output.contains("gave no sign of life"), "\(fenced)")
      try await FleetGround.joined(second)
      #expect(try lines.line() == "begun b 1")
      let (end, begin) = try Self.interval(fleet)
      #expect(end < begin, "the run on a went on for \(end - begin) ns")
      first.signal(SIGCONT)
      try await first.current.line(with: "joined the fleet again")
    }
  }

  @Test("what the database no longer knows as a host's, as after a promotion that lost commits, ends there as soon as it looks again")
  func unknown() async throws {
    try await withRun(lease: "1m") { fleet, first, second, lines in
      try fleet.server.run(
        """
        WITH lost AS (DELETE FROM taskhost.claim RETURNING request)
        INSERT INTO taskhost.ready (lane, rank, request) SELECT r.lane, r.rank, r.id FROM lost JOIN taskhost.request r ON r.id = lost.request;
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'taskhost %' AND datname = current_database()
        """, on: fleet.address)
      try await first.current.line(with: "does not know that this host holds")
      try await first.current.line(with: "joined the fleet again")
      try await FleetGround.joined(second)
      #expect(try lines.line() == "begun b 1", "the stopped run spends no attempt")
      let (end, begin) = try Self.interval(fleet)
      #expect(end < begin, "the run on a went on for \(end - begin) ns")
      let reasons = try await fleet.json("hosts")["hosts"]?.array.compactMap { $0["reason"]?.string } ?? []
      #expect(reasons.contains("the database did not know what it held, and it has given up what it held"), "\(reasons)")
    }
  }

  @Test("--now gives others what a frozen host holds, and does not wait for its lease")
  func now() async throws {
    try await withRun(lease: "1m") { fleet, first, second, lines in
      try await FleetGround.joined(second)
      first.signal(SIGSTOP)
      let late = try await fleet.taskhost("fence", "a", "--yes", "--timeout", "1s")
      #expect(late.status == 1 && late.errors.contains("still holds 1 request,"), "\(late)")
      let fenced = try await fleet.json("fence", "a", "--yes", "--now")
      #expect(fenced["requests"]?.integer == 1, "\(fenced)")
      #expect(try lines.line() == "begun b 1")
      // What the help warns of: this ends at the test's time limit otherwise.
      while case let (end, begin) = try Self.interval(fleet), end <= begin { try await Task.sleep(for: .milliseconds(10)) }
      first.signal(SIGCONT)
      try await first.current.line(with: "the lease in the fleet has ended, another host or an operator has fenced it")
    }
  }
}
