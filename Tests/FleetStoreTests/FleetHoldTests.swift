import HostThreads
import PostgresTestSupport
import TaskModel
import Testing

@testable import FleetStore

/// What an owner's transaction holds of its host: whoever fences it waits, and its renewals do not.
@Suite("What a transaction holds of its host") struct FleetHoldTests {
  private let fleet: TestFleet
  private let host: String
  private let owner: PostgresConnection

  init() throws {
    fleet = try TestFleet()
    host = try fleet.join()
    owner = try PostgresConnection(fleet.address, name: "owner")
  }

  private func run(_ statements: [PostgresStatement]) throws {
    _ = try owner.run(statements, by: SystemClock.now + .seconds(10))
  }

  private var hold: PostgresStatement { FleetSession.holdLease(host) }

  /// Runs statements that may not wait for a lock.
  private func impatiently(_ statement: PostgresStatement) throws(FleetError) {
    _ = try fleet.session.ask([FleetSession.shortWaits, statement])
  }

  private var fence: PostgresStatement { PostgresStatement("SELECT taskhost.fence_silent($1, $2)", .texts([host]), .ints([0])) }

  @Test func aRenewalGoesPastIt() throws {
    try run([PostgresStatement("BEGIN"), hold])
    try impatiently(PostgresStatement("SELECT taskhost.renew($1::uuid, '{}', '{}', '{}')", .text(host)))
    // And the other way round: what is held after a renewal that has not ended.
    let renewing = try PostgresConnection(fleet.address, name: "renewing")
    try renewing.run(
      [PostgresStatement("BEGIN"), PostgresStatement("SELECT taskhost.renew($1::uuid, '{}', '{}', '{}')", .text(host))],
      by: SystemClock.now + .seconds(10))
    try impatiently(hold)
  }

  @Test func aFenceWaitsForIt() throws {
    try run([PostgresStatement("BEGIN"), hold])
    #expect(throws: FleetError.locked) { try impatiently(fence) }
    #expect(throws: FleetError.locked) {
      try impatiently(PostgresStatement("UPDATE taskhost.host SET fenced = 1, reason = 'a test' WHERE incarnation = $1::uuid", .text(host)))
    }
    try run([PostgresStatement("COMMIT")])
    try impatiently(fence)
    #expect(throws: FleetError.fenced) { try impatiently(hold) }
  }

  /// The lock alone would be granted on the version before the renewal, which is not fenced.
  @Test("a transaction that sees the host as it was before a renewal and a fence does not get it") func old() throws {
    try run([PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ"), PostgresStatement("SELECT 1")])
    _ = try fleet.session.renew(host, identifiers: [])
    _ = try fleet.session.fence(host, because: "a test")
    #expect(throws: PostgresError.self) { try run([hold]) }
  }

  @Test("a fleet that an earlier build has made is corrected by init", arguments: [true, false]) func corrected(_ isOldest: Bool) throws {
    var statements = [
      "ALTER TABLE taskhost.lane DROP COLUMN retired CASCADE", "ALTER TABLE taskhost.fleet DROP COLUMN lanes_swept",
      "ALTER TABLE taskhost.lane ADD CONSTRAINT lane_needs EXCLUDE USING hash ((identifier || ' ' || gates) WITH =)",
    ]
    if isOldest {
      statements += [
        "ALTER TABLE taskhost.host DROP CONSTRAINT host_fenced", "DROP INDEX taskhost.run_ended",
        "CREATE INDEX run_ended ON taskhost.run (ended)", "ALTER TABLE taskhost.lane DROP CONSTRAINT lane_needs",
        "ALTER TABLE taskhost.lane ADD UNIQUE (identifier, gates)", "DROP INDEX taskhost.lane_identifier, taskhost.request_event",
        "CREATE INDEX request_event ON taskhost.request (event, id) WHERE event IS NOT NULL",
      ]
    }
    for statement in statements { _ = try fleet.session.ask(PostgresStatement(statement)) }
    _ = try FleetSetup.run(fleet.address, lease: nil, historyDays: nil)
    try fleet.session.sweepLanes()
    try run([PostgresStatement("BEGIN"), hold])
    #expect(throws: FleetError.locked) { try impatiently(fence) }
    let index = try fleet.session.ask(PostgresStatement("SELECT pg_get_indexdef('taskhost.run_ended'::regclass)"))
    #expect(index.text(0, 0)?.hasSuffix("(identifier, ended)") == true)
    let long = try Lane(TaskIdentifier("a"), RunConstraints(resources: TestFleet.longResources))
    #expect(try fleet.session.lane(long) == fleet.session.lane(long))
  }

  @Test("a renewal that passes while a fence waits keeps its host from being fenced") func renewedMeanwhile() throws {
    try run([PostgresStatement("BEGIN"), hold])
    let (address, fence) = (fleet.address, fence)
    let fenced = Awaited<Result<Int64?, any Error>>()
    try HostThread.start("fencing") {
      fenced.set(
        Result {
          let other = try PostgresConnection(address, name: "fencing")
          return try other.run(fence, by: SystemClock.now + .seconds(60)).int(0, 0)
        })
    }
    let watching = try PostgresConnection(address, name: "watching")
    let deadline = SystemClock.now + .seconds(30)
    let waits = PostgresStatement(
      "SELECT pid FROM pg_stat_activity, pg_sleep(0.01) WHERE application_name = 'fencing' AND wait_event_type = 'Lock'")
    while try watching.run(waits, by: deadline).count == 0 {}
    _ = try fleet.session.renew(host, identifiers: [])
    try run([PostgresStatement("COMMIT")])
    #expect(try fenced.wait().get() == 0)
    try impatiently(hold)
  }

  @Test("a key that is held for a while after its holder's end goes to nobody who waited for that end") func window() throws {
    let draft = try fleet.draft(key: "k")
    let holder = try fleet.session.enqueue(named: [draft])[0].id
    #expect(try fleet.claim(host, 1).map(\.id) == [holder])
    try run([
      PostgresStatement("BEGIN"),
      PostgresStatement(
        "SELECT taskhost.hold(ARRAY[$1], '{k}', $2, '{60000}')", .text(fleet.identifier.rawValue), .ints([holder.sequence])),
      PostgresStatement("DELETE FROM taskhost.request WHERE id = $1", .int(holder.sequence)),
    ])
    let (address, added) = (fleet.address, Awaited<Result<String?, any Error>>())
    let adding = FleetSession.enqueue(named: draft)
    try HostThread.start("adding") {
      added.set(
        Result {
          let rows = try PostgresConnection(address, name: "adding").run(adding, by: SystemClock.now + .seconds(60))
          return rows.text(0, 1)
        })
    }
    let watching = try PostgresConnection(address, name: "watching")
    let deadline = SystemClock.now + .seconds(30)
    let waits = PostgresStatement(
      "SELECT pid FROM pg_stat_activity, pg_sleep(0.01) WHERE application_name = 'adding' AND wait_event_type = 'Lock'")
    while try watching.run(waits, by: deadline).count == 0 {}
    try run([PostgresStatement("COMMIT")])
    #expect(try added.wait().get() == "held")
    #expect(try fleet.session.request(holder) == nil && fleet.session.counts().ready == 0)
  }
}
