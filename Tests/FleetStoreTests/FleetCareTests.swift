import HostThreads
import PostgresTestSupport
import TaskModel
import Testing

@testable import FleetStore

/// What hosts look after in the database besides requests: whatever of it cannot be done keeps nothing else from being done.
@Suite("Fleet: care", .timeLimit(.minutes(2)))
struct FleetCareTests {
  private let fleet: TestFleet
  private let other: PostgresConnection

  init() throws {
    fleet = try TestFleet(lease: .milliseconds(300))
    other = try PostgresConnection(fleet.address, name: "other")
  }

  private func other(_ statements: String...) throws {
    for statement in statements { try other.run(PostgresStatement(statement), by: SystemClock.now + .seconds(30)) }
  }

  @Test("an idempotency key is as old as the history before it is forgotten, and stays as long as its request lives")
  func keys() throws {
    let live = try fleet.session.enqueue(named: [fleet.draft(due: SystemClock().wallTime + .seconds(3600), idempotency: "live")])[0]
    let done = try fleet.session.enqueue(named: [fleet.draft(idempotency: "done")])[0]
    let host = try fleet.join()
    let claimed = try fleet.claim(host, 2)
    #expect(claimed.map(\.id) == [done.id])
    _ = try fleet.session.record(host, [fleet.settled(claimed[0], as: .succeeded)], tells: false)
    let keys = "SELECT string_agg(key, ',' ORDER BY key) FROM taskhost.idempotency"
    try fleet.session.clean()
    #expect(try fleet.server.run(keys, on: fleet.address) == "done,live")
    try fleet.server.run("UPDATE taskhost.idempotency SET since = since - 8 * 86400000::bigint", on: fleet.address)
    try fleet.session.clean()
    #expect(try fleet.server.run(keys, on: fleet.address) == "live")
    let again = try fleet.session.enqueue(named: [fleet.draft(due: SystemClock().wallTime + .seconds(3600), idempotency: "live")])[0]
    #expect(again.known == .repeated && again.id == live.id)
  }

  @Test("a day that is over and that somebody reads, or that something depends on, keeps no other from being made or dropped")
  func days() throws {
    try fleet.server.run(
      """
      CREATE TABLE taskhost.run_10 PARTITION OF taskhost.run FOR VALUES FROM (864000000) TO (950400000);
      CREATE TABLE taskhost.ended_10 PARTITION OF taskhost.ended FOR VALUES FROM (864000000) TO (950400000);
      CREATE VIEW public.report AS SELECT * FROM taskhost.ended_10
      """, on: fleet.address)
    try other("BEGIN", "SELECT count(*) FROM taskhost.run_10")
    let tomorrow = try fleet.server.run("SELECT taskhost.now_ms() / 86400000 + 1", on: fleet.address)
    try fleet.server.run("DROP TABLE taskhost.ended_\(tomorrow)", on: fleet.address)
    #expect(try fleet.session.keepDays() == [])
    let days = "SELECT count(*) FROM pg_class WHERE relname IN ('run_10', 'ended_10', 'ended_\(tomorrow)')"
    #expect(try fleet.server.run(days, on: fleet.address) == "3")
    try other("COMMIT")
    try fleet.session.keepDays()
    #expect(try fleet.server.run(days, on: fleet.address) == "2", "all that nothing depends on")
  }

  @Test("whoever reads the fleet's tables for long is left alone while a frozen host is fenced")
  func readers() throws {
    let frozen = try fleet.join()
    let held = try PostgresConnection(fleet.address, name: "frozen")
    try other("BEGIN", "SELECT count(*) FROM taskhost.host", "SELECT taskhost.submit('\(fleet.identifier)')")
    try held.run(
      [PostgresStatement("BEGIN"), PostgresStatement("SELECT taskhost.hold_lease($1::uuid)", .text(frozen))],
      by: SystemClock.now + .seconds(10))
    let deadline = SystemClock.now + .seconds(20)
    let fenced = "SELECT count(*) FROM taskhost.host WHERE name = 'a' AND fenced IS NOT NULL"
    while try fleet.server.run(fenced, on: fleet.address) == "0", SystemClock.now < deadline {
      _ = try fleet.session.renew(try fleet.join(name: "b"), identifiers: [], silent: [frozen: 0])
    }
    #expect(try fleet.server.run(fenced, on: fleet.address) == "1")
    #expect(throws: PostgresError.self) { try held.run(PostgresStatement("SELECT 1"), by: SystemClock.now + .seconds(10)) }
    try other("COMMIT")
  }

  @Test("a lease is renewed although silent hosts cannot be fenced")
  func fencing() throws {
    let (silent, host) = (try fleet.join(), try fleet.join(name: "b"))
    try fleet.server.run(
      """
      CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE OF fenced ON taskhost.host FOR EACH ROW EXECUTE FUNCTION public.refuse()
      """, on: fleet.address)
    #expect(try fleet.session.renew(host, identifiers: [], silent: [silent: 0]).requeued == 0)
    try fleet.server.run("DROP TRIGGER refuse ON taskhost.host", on: fleet.address)
    _ = try fleet.session.renew(host, identifiers: [], silent: [silent: 0])
    #expect(throws: FleetError.fenced) { _ = try fleet.session.renew(silent, identifiers: []) }
  }

  @Test("a dead letter whose deadline has passed is nothing that hosts look at again")
  func deadlines() throws {
    let host = try fleet.join()
    var draft = try fleet.draft()
    draft.record.request.deadline = SystemClock().wallTime + .seconds(-1)
    _ = try fleet.session.enqueue(1, bytes: { _ in 0 }, { [draft] _ in draft })
    #expect(try fleet.session.exchange(host, settling: [], wanting: []).late.count == 1)
    let claimed = try fleet.claim(host, 1)
    _ = try fleet.session.record(host, [fleet.settled(claimed[0], as: .failed)], tells: false)
    let found = "SELECT count(*) FROM taskhost.request r WHERE \(FleetSchema.mayBeLate)"
    #expect(try fleet.server.run(found, on: fleet.address) == "0")
    #expect(try fleet.session.exchange(host, settling: [], wanting: []).late.isEmpty)
  }

  @Test("fleet init goes on beside a transaction that has submitted, and gives up soon if it must change what others have locked")
  func locks() throws {
    _ = try fleet.join()
    try other("BEGIN", "SELECT taskhost.submit('\(fleet.identifier)')")
    #expect(throws: Never.self) { try FleetSetup.run(fleet.address) }
    try other("COMMIT")
    try fleet.server.run("DROP INDEX taskhost.request_failed", on: fleet.address)
    try other("BEGIN", "SELECT taskhost.submit('\(fleet.identifier)')")
    #expect(throws: FleetError.self) { try FleetSetup.run(fleet.address) }
    try other("COMMIT")
    #expect(throws: Never.self) { try FleetSetup.run(fleet.address) }
  }

  @Test("what was drained is drained when it joins again, also if it had not heard of it, and what was let go on is not")
  func drains() throws {
    let host = FleetHost(name: "a", program: "test", labels: [], identifiers: [])
    var last = try fleet.session.register(host)
    for isDraining in [true, false] {
      #expect(try fleet.session.setDraining(isDraining, host: "a") == 1)
      _ = try fleet.session.fence(last, because: "a test")
      // As the host knew it.
      last = try fleet.session.register(host, isDraining: !isDraining, after: last)
      #expect(try fleet.session.renew(last, identifiers: []).isDraining == isDraining)
    }
  }

  @Test("what has become due counts as ready, although no host has looked since")
  func counts() throws {
    try fleet.server.run("SELECT taskhost.register('gone', 'test', '{}', '{\(fleet.identifier)}')", on: fleet.address)
    let due = WallTime(unixMilliseconds: 1_000_000)
    _ = try fleet.session.enqueue([fleet.draft(due: due), fleet.draft(due: SystemClock().wallTime + .seconds(3600))])
    try fleet.server.run("SELECT taskhost.submit('\(fleet.identifier)')", on: fleet.address)
    let counts = try fleet.session.counts()
    #expect(counts.ready == 2 && counts.later == 1 && counts.oldestDue == due, "\(counts)")
    try fleet.server.run("DELETE FROM taskhost.ready", on: fleet.address)
    #expect(try fleet.session.counts().oldestDue.map { $0 > due } == true)
  }

  @Test("only the keys of schedules end with their hosts: others that begin like one are anybody's")
  func schedules() throws {
    let name = try #require(ScheduleName(key: "config:\(fleet.identifier)/weekly", of: fleet.identifier))
    for key in [ScheduleName(fleet.identifier).uniqueKey, name.uniqueKey, "config:eu-west", "config:\(fleet.identifier)2"] {
      _ = try fleet.session.enqueue(named: [fleet.draft(due: SystemClock().wallTime + .seconds(3600), key: key)])
    }
    #expect(try fleet.session.declare([], host: "a").count == 2)
    #expect(try fleet.session.declare([name], host: "a").count == 1)
  }

  @Test("a request hears the event that came last, if it waits for another one by now")
  func events() throws {
    let host = try fleet.join()
    let id = try fleet.session.enqueue([fleet.draft()])[0]
    #expect(try fleet.claim(host, 1).map(\.id) == [id])
    for (name, payload) in [("a", [1]), ("a", nil), ("b", nil)] as [(String, [UInt8]?)] {
      #expect(try fleet.session.note(FleetEvent(name: name, payload: payload), for: [id]) == [id])
      let noted = "SELECT event || coalesce(encode(payload, 'hex'), '') FROM taskhost.raised"
      #expect(try fleet.server.run(noted, on: fleet.address) == (name == "a" ? "a01" : "b"))
    }
  }
}
