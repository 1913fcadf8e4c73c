import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

/// What a host leaves behind at a server that does not answer in time, and what it does with a clock that is ahead.
@Suite(.timeLimit(.minutes(5))) struct FleetPatienceTests {
  @Test("a host whose commit waits for a standby does not open one connection after the other that wait with it")
  func standby() throws {
    let server = try PostgresServer()
    let address = try server.makeDatabase()
    _ = try FleetSetup.run(address)
    func set(_ names: String) throws {
      try server.run("ALTER SYSTEM SET synchronous_standby_names = '\(names)'", on: address)
      try server.run("SELECT pg_reload_conf()", on: address)
      // The server's processes read the new value when their parent has: a connection made by then has it.
      let observer = try PostgresConnection(address, name: "observer")
      let deadline = SystemClock.now + .seconds(30)
      while try observer.run(PostgresStatement("SHOW synchronous_standby_names"), by: deadline).text(0, 0) != names {
        guard SystemClock.now < deadline else { throw TestFailure("the server does not read its configuration") }
      }
    }
    try set("nobody")
    let session = try FleetSession(address, name: "a", patience: .seconds(1))
    let identifier = try TaskIdentifier("org.example.fleet")
    let host = FleetHost(name: "a", program: "test", labels: [], identifiers: [identifier])
    guard case .away = #expect(throws: FleetError.self, performing: { try session.register(host) }) else {
      throw TestFailure("a commit did not wait for a standby that there is not")
    }
    let left = try #require(session.left)
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'taskhost a'"
    for _ in 0..<3 {
      let refused = #expect(throws: FleetError.self) { try FleetSession(address, name: "a", left: left) }
      #expect(refused?.description.contains("waits there for a synchronous standby") == true)
    }
    #expect(try server.run(sessions + " AND wait_event = 'SyncRep'", on: address) == "1")
    try set("")
    let again = try FleetSession(address, name: "a")
    _ = try again.register(host)
    #expect(again.left == nil)
  }

  @Test("a statement that waits for longer than the host does is ended at the server")
  func statement() throws {
    let fleet = try TestFleet()
    let session = try FleetSession(fleet.address, name: "hasty", patience: .seconds(2))
    let guardian = try LineProgram([
      "/usr/bin/psql", "-XqAt", "-d", fleet.address, "-c", "BEGIN", "-c", "LOCK TABLE taskhost.request IN ACCESS EXCLUSIVE MODE", "-c",
      "SELECT 'locked'", "-c", "SELECT pg_sleep(60)",
    ])
    try guardian.line(within: .seconds(30)) { $0 == "locked" }
    guard case .away(let reason, _) = #expect(throws: FleetError.self, performing: { try session.counts() }) else {
      throw TestFailure("a locked table was read")
    }
    #expect(reason.contains("statement timeout"))
    #expect(session.left == nil)
  }

  @Test("what is due a while after its submission is due by the database's clock, although the host's is ahead")
  func ahead() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let now = SystemClock().wallTime
    func draft(delay: Duration = .zero, begin: WallTime? = nil, key: String? = nil) throws -> FleetDraft {
      var draft = try fleet.draft(key: key)
      draft.record.submitted = now + .seconds(3600)
      draft.record.request.earliestBegin = begin ?? draft.record.submitted + delay
      draft.record.due = draft.record.request.earliestBegin ?? now
      if begin == nil { draft.record.request.clock = .boot }
      return draft
    }
    let atOnce = try fleet.session.enqueue([draft()]) + fleet.session.enqueue(named: [draft(key: "k")]).map(\.id)
    // These are due in an hour: one after that time, one at a time on the clock.
    let hour = Duration.seconds(3600)
    _ = try fleet.session.enqueue([draft(delay: hour), draft(begin: now + hour + hour)])
    _ = try fleet.session.enqueue(named: [draft(delay: hour, key: "l"), draft(begin: now + hour + hour, key: "m")])
    #expect(try fleet.claim(host, 10).map(\.id) == atOnce)
    let dues = try fleet.server.run(
      "SELECT round((due - \(now.unixMilliseconds)) / 3600000.0) FROM taskhost.later ORDER BY due", on: fleet.address)
    #expect(dues == "1\n1\n2\n2")
  }
}
