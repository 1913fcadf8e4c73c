import Foundation
import Glibc
import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

/// What clients ask for while a request of the fleet leaves its host, or is lost with it.
@Suite("Fleet: changes that meet ends") struct FleetRaceTests {
  /// Ends once somebody waits for a lock.
  private static let awaitingLock = """
    DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = current_database() AND a.wait_event_type = 'Lock')
      LOOP PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; END $$
    """

  /// Runs a request to its end while a lock keeps the host from recording anything, calls `body`, and takes the lock away.
  private func withUnrecordedEnd(
    code: Int, _ arguments: [String] = [], _ body: (HostProcess, _ id: String) async throws -> Void,
    after: (HostProcess, _ id: String, LineProgram) async throws -> Void
  ) async throws {
    let fleet = try await FleetGround(lease: "10s")
    let lines = try fleet.reader()
    let job = """
      p=$(cat); [ "$p" != '"quick"' ] || exit 0; echo "begun $p" > @PIPE@
      [ "$TASKHOST_ATTEMPT" = 1 ] && [ "$p" = 0 ] || exit 0; read line < @PIPE@.go; echo ended > @PIPE@; exit \(code)
      """
    guard mkfifo(fleet.pipe + ".go", 0o600) == 0 else { throw TestFailure("mkfifo") }
    try await fleet.withHost(job: job) { host in
      let id = try await FleetGround.submit(host, ["--payload", "0"] + arguments)
      if !arguments.isEmpty { #expect(try await host.json("notify", "deploy")["woken"]?.integer == 1) }
      #expect(try lines.line() == "begun 0")
      let locking = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
      // Reads, cancels and renewals of the lease go on.
      try locking.say("BEGIN; LOCK TABLE taskhost.claim IN EXCLUSIVE MODE; SELECT 1;")
      #expect(try locking.line() == "1")
      // Its claim waits for the lock, and all that the host does for its fleet waits with it.
      try fleet.server.run("SELECT taskhost.submit('job', payload => '\"quick\"', notify => true)", on: fleet.address)
      try fleet.server.run(Self.awaitingLock, on: fleet.address)
      let path = fleet.pipe + ".go"
      try await onThread { try "go\n".write(toFile: path, atomically: false, encoding: .utf8) }
      #expect(try lines.line() == "ended")
      try await body(host, id)
      try locking.say("ROLLBACK;")
      try await after(host, id, lines)
    }
  }

  @Test("a cancel that arrives as a run ends keeps the request from running again")
  func cancelled() async throws {
    try await withUnrecordedEnd(code: 75) { host, id in
      let answer = try await onThread { [socket = host.socket] in try SocketClient(socket).request("DELETE", "/v1/requests/\(id)") }
      #expect(answer.status == 200, "\(answer)")
    } after: { host, id, _ in
      try await host.request(id, is: "cancelled")
      #expect(try await host.runs(of: id).count == 1)
    }
  }

  @Test("an event that arrives as a run ends makes the request run once more, with the event's payload")
  func event() async throws {
    let notice = Guarded<Task<JSON, any Error>?>(nil)
    try await withUnrecordedEnd(code: 0, ["--on-event", "deploy", "--every-event"]) { host, _ in
      let told = Task { () async throws -> JSON in
        let answer = try await host.post("/v1/events/deploy", "{\"payload\":7}")
        return try answer.json()
      }
      notice.withLock { $0 = told }
      func received() async throws -> Int64? {
        let answer = try await onThread { [socket = host.socket] in try SocketClient(socket).request("GET", "/v1/status") }
        return try answer.json()["counters"]?["events_received"]?.integer
      }
      let deadline = SystemClock.now + .seconds(30)
      while try await received() != 2 { guard SystemClock.now < deadline else { throw TestFailure("the event did not come") } }
    } after: { _, _, lines in
      let told = try await #require(notice.withLock { $0 }).value
      #expect(told["woken"]?.integer == 1 && told["dropped"]?.integer == 0, "\(told)")
      #expect(try lines.line() == "begun 7")
    }
  }

  @Test("a request that was cancelled as it ran, and whose host was killed, does not run again")
  func cancelledAndKilled() async throws {
    let fleet = try await FleetGround()
    let lines = try fleet.reader()
    try await fleet.withHosts(job: "trap '' TERM; echo \"@HOST@ $(cat)\" > @PIPE@; while :; do sleep 1; done") { first, second in
      try await FleetGround.joined(first)
      let id = try await FleetGround.submit(first, "--payload", "1")
      #expect(try lines.line() == "a 1")
      #expect(try await first.cli("tasks", "cancel", id).status == 0)
      await first.kill()
      try await FleetGround.joined(second)
      try await second.request(id, is: "cancelled")
      let last = try await FleetGround.submit(second, "--payload", "2")
      #expect(try lines.line() == "b 2")
      #expect(try await second.cli("tasks", "cancel", last).status == 0)
    }
  }

  @Test("an event that was told of survives the host that runs the request")
  func eventAndKilled() async throws {
    let fleet = try await FleetGround()
    let lines = try fleet.reader()
    let job = "echo \"@HOST@ $(cat)\" > @PIPE@; [ @HOST@ = b ] || while :; do sleep 1; done"
    try await fleet.withHosts(job: job) { first, second in
      try await FleetGround.joined(first)
      _ = try await FleetGround.submit(first, "--on-event", "deploy", "--every-event", "--payload", "0")
      #expect(try await first.json("notify", "deploy")["woken"]?.integer == 1)
      #expect(try lines.line() == "a 0")
      #expect(try await first.json("notify", "deploy", "--payload", "8")["woken"]?.integer == 1)
      await first.kill()
      try await FleetGround.joined(second)
      while try lines.line() != "b 8" {}
    }
  }

  @Test("an event that a host has read of does not wake a request that another host has woken by a later one")
  func olderEvent() async throws {
    let fleet = try await FleetGround(lease: "10s")
    let lines = try fleet.reader()
    try await fleet.withHost(job: "echo \"begun $(cat)\" > @PIPE@") { host in
      _ = try await FleetGround.submit(host, "--on-event", "deploy", "--every-event", "--payload", "0")
      let locking = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
      try locking.say("BEGIN; LOCK TABLE taskhost.claim IN EXCLUSIVE MODE; SELECT 1;")
      #expect(try locking.line() == "1")
      // The host reads that, and waits for the lock to take the request.
      try fleet.server.run(
        "INSERT INTO taskhost.raised SELECT id, 'deploy', '1' FROM taskhost.request; SELECT pg_notify('taskhost', '')", on: fleet.address)
      try fleet.server.run(Self.awaitingLock, on: fleet.address)
      // As another host does that wakes it by a later event.
      try fleet.server.run("DELETE FROM taskhost.raised", on: fleet.address)
      try locking.say("ROLLBACK; SELECT 2;")
      #expect(try locking.line() == "2")
      #expect(try await host.json("notify", "deploy", "--payload", "2")["woken"]?.integer == 1)
      #expect(try lines.line() == "begun 2")
    }
  }

  @Test("a deadline opens a closed window at its time")
  func deadline() async throws {
    let fleet = try await FleetGround(lease: "10s")
    let lines = try fleet.reader()
    try await HostProcess.prepare { host in
      let never = "[windows.shut]\ndays = [\"mon\"]\nfrom = \"03:00\"\nto = \"03:01\"\n"
      try host.configure(fleet.configuration("a", job: "echo ran > @PIPE@", more: never))
      try await FleetGround.joined(host)
      let deadline = Date(timeIntervalSinceNow: 1.5).ISO8601Format(.init(includingFractionalSeconds: true))
      _ = try await FleetGround.submit(host, "--window", "shut", "--deadline", deadline)
      #expect(try lines.line() == "ran")
    }
  }
}
