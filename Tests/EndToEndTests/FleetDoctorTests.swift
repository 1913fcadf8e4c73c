import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// `taskhost fleet doctor` on real servers.
@Suite("Fleet doctor", .timeLimit(.minutes(5)))
struct FleetDoctorTests {
  /// A database with a fleet and a host that lives for long.
  private final class Fleet: Sendable {
    let server: PostgresServer
    let address: String

    init(_ server: PostgresServer, host: Bool = true) async throws {
      self.server = server
      address = try server.makeDatabase()
      let made = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", address, "--lease", "5m"])
      #expect(made.status == 0, "\(made)")
      if host { try join("a") }
    }

    func join(_ name: String, _ identifiers: String = "{report}") throws {
      try server.run("SELECT taskhost.register('\(name)', 'test', '{}', '\(identifiers)')", on: address)
    }

    /// What is not well: `verdict topic: sentence`, each with a remedy.
    func doctor(
      _ more: [String] = [], as user: String? = nil, at other: String? = nil
    ) async throws -> (status: Int32, told: [String]) {
      let address = (other ?? address) + (user.map { " user=\($0)" } ?? "")
      let result = try await Program.run(
        try BuiltProgram.taskhost, ["fleet", "doctor", "--json", "--quiet", "--long", "1h", "--url", address] + more)
      let json = try result.json()
      #expect(json["ok"]?.bool == (result.status == 0), "\(result)")
      let findings = json["findings"]?.array ?? []
      for finding in findings {
        #expect(
          finding["remedy"]?.string?.isEmpty == false || finding["message"]?.string?.contains("taskhost fleet init") == true, "\(finding)")
      }
      return (result.status, findings.map { "\($0["verdict"]?.string ?? "") \($0["topic"]?.string ?? ""): \($0["message"]?.string ?? "")" })
    }

    /// Whether such a finding is there.
    func tells(_ beginning: String, _ more: String...) async throws -> Bool {
      let told = try await doctor(more).told
      if !told.contains(where: { $0.hasPrefix(beginning) }) { Issue.record("no \"\(beginning)\" in \(told)") }
      return told.contains { $0.hasPrefix(beginning) }
    }

    /// psql, for a session that stays.
    func session() throws -> LineProgram {
      let session = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", address])
      try session.say("SET application_name = 'forgotten';")
      return session
    }
  }

  private static let sound = ["fsync = on", "max_prepared_transactions = 5", "max_connections = 23"]

  @Test("a sound fleet has one warning: it has no standby; in words, what is well is said too")
  func sound() async throws {
    let fleet = try await Fleet(try PostgresServer(settings: Self.sound))
    let (status, told) = try await fleet.doctor()
    #expect(status == 0 && told == ["warning replication: there is no standby: acknowledged may be lost"], "\(told)")
    let text = try await Program.run(try BuiltProgram.taskhost, ["fleet", "doctor", "--url", fleet.address])
    for topic in ["database", "clock", "transactions", "members", "requests"] {
      #expect(text.output.contains("✓ \(topic): "), "\(text.output)")
    }
    #expect(text.output.hasSuffix("1 warning\n"), "\(text.output)")
  }

  @Test("long transactions, prepared ones and slots are told of with who holds them")
  func held() async throws {
    let fleet = try await Fleet(try PostgresServer(settings: Self.sound))
    let session = try fleet.session()
    try session.say("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_backend_pid();")
    let process = try session.line()
    #expect(
      try await fleet.tells(
        "warning transactions: process \(process), forgotten (user taskhost), has had a transaction open for ", "--long", "0s"))
    #expect(try await !fleet.doctor().told.contains { $0.contains("forgotten") })
    try session.say("CREATE TABLE x (y int); PREPARE TRANSACTION 'half'; SELECT 1;")
    _ = try session.line()
    #expect(try await fleet.tells("warning transactions: the prepared transaction half of user taskhost is ", "--long", "0s"))
    try session.say("ROLLBACK PREPARED 'half'; SELECT pg_create_physical_replication_slot('gone', true);")
    _ = try session.line()
    #expect(try await fleet.tells("warning transactions: the replication slot gone is used by nobody, and keeps "))
    session.closeInput()
    _ = try session.end()
  }

  @Test("a transaction whose locks a host waits for is told of, however short it is")
  func locks() async throws {
    let fleet = try await Fleet(try PostgresServer(settings: Self.sound))
    let (holder, host) = (try fleet.session(), try fleet.session())
    try holder.say("BEGIN; LOCK TABLE taskhost.raised; SELECT pg_backend_pid();")
    let process = try holder.line()
    try host.say("SET application_name = 'taskhost a'; SELECT 'there';")
    _ = try host.line()
    try host.say("SELECT count(*) FROM taskhost.raised;")
    // A host's own transactions are open for less.
    try holder.say("SELECT pg_sleep(2.1);")
    _ = try holder.line()
    #expect(
      try await fleet.tells("warning transactions: process \(process), forgotten (user taskhost), has had a transaction open for "))
    try holder.say("COMMIT;")
    #expect(try host.line() == "0")
    for session in [holder, host] {
      session.closeInput()
      _ = try session.end()
    }
  }

  @Test("connections that are nearly spent are told of")
  func connections() async throws {
    let fleet = try await Fleet(try PostgresServer(settings: Self.sound))
    var sessions: [LineProgram] = []
    for _ in 0..<17 {
      let session = try fleet.session()
      try session.say("SELECT 1;")
      _ = try session.line()
      sessions.append(session)
    }
    // The doctor's own is the eighteenth; three of 23 are for superusers.
    #expect(try await fleet.tells("warning database: 18 of 20 connections are in use"))
    for session in sessions { session.closeInput() }
    for session in sessions { _ = try session.end() }
  }

  @Test("settings that lose or hinder something are told of")
  func settings() async throws {
    // The server that tests share runs without fsync.
    let fleet = try await Fleet(try PostgresServer.shared.get())
    let name = fleet.address.split(separator: "dbname=").last ?? ""
    for setting in [
      "synchronous_commit = off", "idle_in_transaction_session_timeout = '500ms'", "statement_timeout = '5s'", "lock_timeout = '1s'",
      "default_transaction_isolation = 'serializable'",
    ] {
      try fleet.server.run("ALTER DATABASE \(name) SET \(setting)", on: fleet.address)
    }
    // A host sets the last three for its own connections, and cannot behind a pool.
    let (status, told) = try await fleet.doctor()
    #expect(status == 1)
    for beginning in [
      "failure database: fsync is off", "warning replication: synchronous_commit is off for taskhost: acknowledged may be lost",
      "warning database: idle_in_transaction_session_timeout is 500 ms",
    ] {
      #expect(told.contains { $0.hasPrefix(beginning) }, "\(beginning): \(told)")
    }
    #expect(!told.contains { $0.contains("statement_timeout") || $0.contains("lock_timeout") || $0.contains("isolation") }, "\(told)")
  }

  @Test("dead rows, and what leaves them there, are told of")
  func deadRows() async throws {
    let fleet = try await Fleet(try PostgresServer(settings: ["fsync = on", "autovacuum = off"]))
    try fleet.server.run("ALTER TABLE taskhost.claim SET (autovacuum_enabled = off)", on: fleet.address)
    try fleet.server.run(
      "INSERT INTO taskhost.later SELECT n, n FROM generate_series(1, 60000) n; DELETE FROM taskhost.later", on: fleet.address)
    #expect(try await fleet.tells("warning transactions: autovacuum is off"))
    #expect(try await fleet.tells("warning transactions: autovacuum is off for taskhost.claim"))
    #expect(try await fleet.tells("warning transactions: taskhost.later has 60000 dead rows beside 0 live ones"))
  }

  @Test("a function that is missing is told of, and fleet init makes it anew")
  func functions() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get())
    try fleet.server.run("DROP FUNCTION taskhost.promote(integer), taskhost.late()", on: fleet.address)
    try fleet.server.run("DROP TABLE taskhost.repeating", on: fleet.address)
    let (status, told) = try await fleet.doctor()
    #expect(status == 1)
    let seen = "failure database: the fleet's tables are not complete: taskhost.late, taskhost.promote, taskhost.repeating are missing"
    #expect(told == [seen], "\(told)")
    let made = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address])
    #expect(made.status == 0, "\(made)")
    #expect(try await !fleet.doctor().told.contains(seen))
  }

  @Test("a constraint that is missing is told of, and fleet init makes it anew")
  func constraint() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get())
    try fleet.server.run("ALTER TABLE taskhost.host DROP CONSTRAINT host_fenced", on: fleet.address)
    let seen = "failure database: the constraint host_fenced of taskhost.host is missing"
    let (status, told) = try await fleet.doctor()
    #expect(status == 1 && told.contains(seen), "\(told)")
    let made = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address])
    #expect(made.status == 0, "\(made)")
    #expect(try await !fleet.doctor().told.contains(seen))
  }

  @Test("a command that fails answers with an object in JSON")
  func failures() async throws {
    func code(_ result: Program.Result) -> String? { (try? result.json())?["error"]?["code"]?.string }
    let away = try await Program.run(try BuiltProgram.taskhost, ["fleet", "status", "--json", "--url", "host=/nowhere dbname=d"])
    #expect(away.status == 5 && code(away) == "unavailable", "\(away)")
    let fleet = try await Fleet(try PostgresServer.shared.get())
    let unknown = try await Program.run(try BuiltProgram.taskhost, ["fleet", "drain", "nobody", "--json", "--url", fleet.address])
    #expect(unknown.status == 6 && code(unknown) == "refused", "\(unknown)")
    let unreadable = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--json", "--url", "host=h sslmod=x"])
    #expect(unreadable.status == 78 && code(unreadable) == "configuration", "\(unreadable)")
  }

  @Test("a server that does not answer, and a second one that takes writes, are told of; two names of one server are one")
  func servers() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get())
    let other = try PostgresServer()
    func address(_ hosts: String...) -> String { fleet.address.replacing(fleet.server.directory, with: hosts.joined(separator: ",")) }
    let one = try await fleet.doctor(at: address(fleet.server.directory, fleet.server.directory + "/"))
    #expect(!one.told.contains { $0.contains("take writes") || $0.contains("cannot be used") }, "\(one)")
    let name = fleet.address.split(separator: "dbname=").last ?? ""
    try other.run("CREATE DATABASE \(name)", on: "postgres")
    let both = try await fleet.doctor(at: address(fleet.server.directory, other.directory))
    #expect(both.status == 1 && both.told.contains { $0.hasPrefix("failure database: 2 servers take writes: ") }, "\(both)")
    try other.kill()
    let dead = try await fleet.doctor(at: address(fleet.server.directory, other.directory))
    #expect(dead.told.contains { $0.hasPrefix("warning database: the server at host=\(other.directory) cannot be used: ") }, "\(dead)")
  }

  @Test("an asynchronous standby is a warning, and a synchronous one is none")
  func standbys() async throws {
    let fleet = try await Fleet(try PostgresServer(settings: ["fsync = on"]))
    let folder = try TestDirectory()
    let directory = fleet.server.directory
    let receiver = try LineProgram([
      "/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1", "/usr/lib/postgresql/15/bin/pg_receivewal", "-D", folder.path, "--synchronous", "-v",
      "-d",
      "host=\(directory) user=taskhost application_name=spare",
    ])
    _ = try receiver.line { $0.contains("starting log streaming") }
    #expect(try await fleet.tells("warning replication: no standby is synchronous (spare: async): acknowledged may be lost"))
    try fleet.server.run("ALTER SYSTEM SET synchronous_standby_names = 'spare'", on: "postgres")
    try fleet.server.run("SELECT pg_reload_conf()", on: "postgres")
    // A reload takes effect a moment later; a transaction that waits for the standby comes after it.
    while try fleet.server.run("SELECT sync_state FROM pg_stat_replication", on: "postgres") != "sync" {}
    #expect(try await fleet.doctor().told == [])
    receiver.send(SIGTERM)
    _ = try? receiver.end()
    #expect(try await fleet.tells("failure replication: commits wait for a synchronous standby, and there is none"))
    try fleet.server.run("ALTER SYSTEM RESET synchronous_standby_names", on: "postgres")
  }

  @Test("days without a partition, hosts of one name, and leases that ended are told of, and what takes them away does")
  func fleetItself() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get(), host: false)
    #expect(try await fleet.tells("failure members: no host is there"))
    try fleet.join("a")
    try fleet.join("a")
    #expect(try await fleet.tells("warning members: 2 hosts are called a"))
    try fleet.server.run("UPDATE taskhost.host SET lease_until = 0", on: fleet.address)
    #expect(try await !fleet.doctor().told.contains { $0.contains("the lease of a has ended") }, "it held nothing")
    try fleet.server.run(
      "INSERT INTO taskhost.claim (request, incarnation, epoch, since) SELECT 1, incarnation, 1, 0 FROM taskhost.host LIMIT 1",
      on: fleet.address)
    #expect(try await fleet.tells("failure members: the lease of a has ended, and no host has taken over the 1 requests that it held"))
    let day = try fleet.server.run("SELECT taskhost.now_ms() / 86400000 + 1", on: fleet.address)
    try fleet.server.run("DROP TABLE taskhost.run_\(day)", on: fleet.address)
    #expect(try await fleet.tells("failure database: the history has no run_\(day)"))
    _ = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address])
    #expect(try await !fleet.doctor().told.contains { $0.contains("the history has no") })
  }

  @Test("tables that another transaction has locked, missing rights and missing indexes are told of, and init makes indexes anew")
  func spoilt() async throws {
    let server = try PostgresServer.shared.get()
    let fleet = try await Fleet(server)
    let locking = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
    try locking.say("BEGIN; LOCK TABLE taskhost.request; SELECT 1;")
    #expect(try locking.line() == "1")
    #expect(try await fleet.tells("failure requests: another transaction keeps the fleet's tables from being read"))
    try locking.say("ROLLBACK; SELECT 2;")
    #expect(try locking.line() == "2")
    try server.run("DROP INDEX taskhost.request_key", on: fleet.address)
    #expect(try await fleet.tells("failure database: indexes of the fleet's tables are missing: request_key"))
    #expect(try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address]).status == 0)
    #expect(try await !fleet.doctor().told.contains { $0.contains("indexes") })
    try server.run(
      "ALTER TABLE taskhost.ready DROP CONSTRAINT ready_pkey; ALTER TABLE taskhost.claim DROP CONSTRAINT claim_pkey; "
        + "ALTER TABLE taskhost.lane DROP CONSTRAINT lane_needs, DROP CONSTRAINT lane_pkey; DROP INDEX taskhost.lane_identifier",
      on: fleet.address)
    let missing = "claim_pkey, lane_identifier, lane_needs, lane_pkey, ready_pkey"
    #expect(try await fleet.tells("failure database: indexes of the fleet's tables are missing: \(missing)"))
    #expect(try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address]).status == 0)
    #expect(try await !fleet.doctor().told.contains { $0.contains("indexes") })
    #expect(
      try server.run("SELECT pg_get_indexdef('taskhost.ready_pkey'::regclass)", on: fleet.address).contains("(lane, rank, request)"))
    let keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'p' AND conname IN ('ready_pkey', 'claim_pkey', 'lane_pkey')"
    #expect(try server.run(keys, on: fleet.address) == "3")
    try server.run("DELETE FROM taskhost.fleet", on: fleet.address)
    let bare = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address])
    #expect(bare.status == 6 && bare.errors.contains("the row of taskhost.fleet is missing"), "\(bare)")
  }

  @Test("a detached day of the history is told of, and fleet init attaches it again")
  func detached() async throws {
    let server = try PostgresServer.shared.get()
    let fleet = try await Fleet(server)
    try server.run(
      "DO $$ BEGIN EXECUTE format('ALTER TABLE taskhost.run DETACH PARTITION taskhost.run_%s', taskhost.now_ms() / 86400000 + 1); END $$",
      on: fleet.address)
    #expect(try await fleet.doctor().told.contains { $0.hasPrefix("failure database: the history has no run_") })
    #expect(try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address]).status == 0)
    #expect(try await !fleet.doctor().told.contains { $0.contains("the history has no") })
  }

  @Test("unlogged tables, dropped sequences and fencing tokens that would go back are told of")
  func durability() async throws {
    let server = try PostgresServer.shared.get()
    let fleet = try await Fleet(server)
    try server.run("ALTER TABLE taskhost.ready SET UNLOGGED", on: fleet.address)
    #expect(try await fleet.tells("failure database: taskhost.ready is unlogged: acknowledged may be lost"))
    try server.run("ALTER TABLE taskhost.ready SET LOGGED", on: fleet.address)
    try server.run(
      "INSERT INTO taskhost.claim (request, incarnation, epoch, since) VALUES (1, gen_random_uuid(), 5000, 0)", on: fleet.address)
    #expect(try await fleet.tells("failure database: the next fencing tokens are less than earlier ones"))
    try server.run("DROP SEQUENCE taskhost.epoch, taskhost.id_counter", on: fleet.address)
    #expect(try await fleet.tells("failure database: the fleet's tables are not complete: taskhost.epoch, taskhost.id_counter are missing"))
    #expect(try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address]).status == 0)
    #expect(try server.run("SELECT nextval('taskhost.epoch') > 5000", on: fleet.address) == "t")
    #expect(try await !fleet.doctor().told.contains { $0.contains("fencing tokens") || $0.contains("complete") })
  }

  @Test("pending requests whose rows somebody has deleted are told of, and fleet init puts them back")
  func strays() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get())
    let first = try fleet.server.run("SELECT taskhost.submit('report')", on: fleet.address)
    _ = try fleet.server.run("SELECT taskhost.submit('report', delay_ms => 9999999), taskhost.submit('report')", on: fleet.address)
    #expect(try await !fleet.doctor().told.contains { $0.contains("no host would find") })
    try fleet.server.run("DELETE FROM taskhost.later; DELETE FROM taskhost.ready", on: fleet.address)
    #expect(try await fleet.tells("failure requests: 3 requests are pending, and no host would find them: \(first)"))
    #expect(try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address]).status == 0)
    #expect(try await !fleet.doctor().told.contains { $0.contains("no host would find") })
    let counts = "SELECT (SELECT count(*) FROM taskhost.ready) + (SELECT count(*) FROM taskhost.later)"
    #expect(try fleet.server.run(counts, on: fleet.address) == "3")
    try fleet.server.run("DELETE FROM taskhost.lane; DELETE FROM taskhost.host", on: fleet.address)
    #expect(try await fleet.tells("failure requests: of 3 pending requests, somebody has deleted the lanes: \(first)"))
    try fleet.server.run(
      "INSERT INTO taskhost.claim (request, incarnation, epoch, since) SELECT id, gen_random_uuid(), 1, 0 FROM taskhost.request",
      on: fleet.address)
    #expect(try await fleet.tells("failure requests: 3 requests are held by hosts whose rows somebody has deleted"))
  }

  @Test("a role that lacks a right is told of")
  func rights() async throws {
    let server = try PostgresServer.shared.get()
    let fleet = try await Fleet(server)
    let role = "host_\(UInt32.random(in: 0 ... .max))"
    try server.run("CREATE ROLE \(role) LOGIN; GRANT taskhost TO \(role); REVOKE INSERT ON taskhost.claim FROM taskhost", on: fleet.address)
    let told = try await fleet.doctor(as: role).told
    #expect(told.contains("failure database: it may not insert taskhost.claim"), "\(told)")
    try server.run("DROP ROLE \(role)", on: fleet.address)
  }

  @Test("requests without a host, ready for long, lost often or unreadable are told of")
  func requests() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get())
    try fleet.join("b", "{gone,later}")
    let one = try fleet.server.run("SELECT taskhost.submit('report', conditions => '{power}')", on: fleet.address)
    _ = try fleet.server.run("SELECT taskhost.submit('gone'), taskhost.submit('later', delay_ms => 9999999)", on: fleet.address)
    #expect(try await !fleet.doctor().told.contains { $0.contains(" requests: ") })
    // A host has looked.
    _ = try fleet.server.run("SELECT taskhost.promote(500)", on: fleet.address)
    try fleet.server.run(
      "UPDATE taskhost.host SET draining = true WHERE name = 'b'; UPDATE taskhost.request SET due = due - 7200000", on: fleet.address)
    #expect(try await fleet.tells("failure requests: requests of gone wait, and no live host has it"))
    #expect(try await fleet.tells("failure requests: requests of later wait, and no live host has it"))
    #expect(try await fleet.tells("warning requests: requests of report have been ready for 2h"))
    #expect(try await !fleet.doctor(["--patience", "3h"]).told.contains { $0.contains("ready for") })
    try fleet.server.run("UPDATE taskhost.request SET lost = 3 WHERE identifier = 'report'", on: fleet.address)
    #expect(try await fleet.tells("warning requests: request \(one) of report was lost with its host 3 times in a row"))
    try fleet.server.run(
      "UPDATE taskhost.request SET payload = convert_to(repeat('x', 70000), 'UTF8') WHERE identifier = 'report'", on: fleet.address)
    #expect(try await fleet.tells("failure requests: request \(one) of report cannot be read: payload: has 70000 bytes, more than 65536"))
    try fleet.server.run("UPDATE taskhost.request SET record = '{}', payload = '' WHERE identifier = 'report'", on: fleet.address)
    #expect(try await fleet.tells("failure requests: request \(one) of report cannot be read: "))
    let gone = "SELECT taskhost.remove(id) FROM taskhost.request WHERE identifier = 'report'"
    #expect(try fleet.server.run(gone, on: fleet.address) == "t")
    #expect(try await !fleet.doctor().told.contains { $0.contains("cannot be read") })
    let left = "SELECT count(*) FROM taskhost.ready w WHERE NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = w.request)"
    #expect(try fleet.server.run(left, on: fleet.address) == "0")
  }

  @Test("the history stays as it is where strings have backslashes by the settings of the database")
  func backslashes() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get())
    let name = fleet.address.split(separator: "dbname=").last ?? ""
    try fleet.server.run("ALTER DATABASE \"\(name)\" SET standard_conforming_strings = off", on: fleet.address)
    let again = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", fleet.address])
    #expect(again.status == 0, "\(again)")
    let told = try await fleet.doctor().told
    #expect(!told.contains { $0.contains("the history has no") }, "\(told)")
    let aside =
      "SET standard_conforming_strings = off; SELECT taskhost.keep_days(0); SELECT count(*) FROM pg_class WHERE relname ~ 'detached'"
    #expect(try fleet.server.run(aside, on: fleet.address).hasSuffix("0"))
  }

  @Test("a database that is away, has no fleet, has a newer one, or hides what others do is told of")
  func reached() async throws {
    let server = try PostgresServer.shared.get()
    let fleet = try await Fleet(server)
    let empty = try await fleet.doctor(at: try server.makeDatabase())
    #expect(empty.status == 1 && empty.told == ["failure database: the database has no fleet yet: make it with taskhost fleet init"])
    let away = try await fleet.doctor(at: "host=/nowhere dbname=x")
    #expect(away.status == 1 && away.told.first?.hasPrefix("failure database: the fleet's database cannot be reached: ") == true)
    let hidden = try await Program.run(
      try BuiltProgram.taskhost, ["fleet", "status", "--url", "host=/nowhere dbname=x passfile=/nowhere/pass"])
    #expect(hidden.status == 5 && hidden.errors.contains("; passfile: /nowhere/pass: No such file or directory"), "\(hidden)")
    let role = "host_\(UInt32.random(in: 0 ... .max))"
    try server.run("CREATE ROLE \(role) LOGIN; GRANT taskhost TO \(role)", on: fleet.address)
    #expect(try await fleet.doctor(as: role).told.contains { $0.hasPrefix("warning database: it may not see what other users") })
    try server.run("DROP ROLE \(role)", on: fleet.address)
    try server.run("UPDATE taskhost.fleet SET version = 99", on: fleet.address)
    #expect(try await fleet.tells("warning database: the fleet's tables have version 99"))
  }

  @Test("a pool of connections in between is seen", .enabled(if: PgBouncer.isThere, "needs pgbouncer"))
  func pool() async throws {
    let fleet = try await Fleet(try PostgresServer.shared.get())
    let name = fleet.address.split(separator: "dbname=").last ?? ""
    for setting in ["statement_timeout = '5s'", "lock_timeout = '1s'", "default_transaction_isolation = 'serializable'"] {
      try fleet.server.run("ALTER DATABASE \(name) SET \(setting)", on: fleet.address)
    }
    try await PgBouncer.pooling(fleet.server, database: fleet.address) { address in
      let result = try await Program.run(try BuiltProgram.taskhost, ["fleet", "doctor", "--url", address])
      #expect(result.output.contains("✓ database: a pool of connections, such as PgBouncer, stands in between"), "\(result)")
      for seen in ["statement_timeout is 5000 ms", "lock_timeout is 1000 ms", "default_transaction_isolation is serializable"] {
        #expect(result.output.contains("database: \(seen)"), "\(result)")
      }
    }
  }
}
