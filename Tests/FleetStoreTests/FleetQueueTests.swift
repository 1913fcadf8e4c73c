import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

/// A fleet in a database of its own.
struct TestFleet {
  let server: PostgresServer
  let address: String
  let session: FleetSession
  let identifier: TaskIdentifier

  init(lease: Duration = .seconds(10)) throws {
    server = try PostgresServer.shared.get()
    address = try server.makeDatabase()
    _ = try FleetSetup.run(address, lease: lease, historyDays: 7)
    session = try FleetSession(address, name: "test")
    identifier = try TaskIdentifier("org.example.fleet")
  }

  /// Another connection to the same fleet.
  init(joining address: String) throws {
    server = try PostgresServer.shared.get()
    self.address = address
    session = try FleetSession(address, name: "test")
    identifier = try TaskIdentifier("org.example.fleet")
  }

  /// A text without spaces that cannot be compressed.
  static func noise(_ length: Int) -> String { (0..<length).map { _ in String(Int.random(in: 0..<36), radix: 36) }.joined() }

  /// Needs that are too long for an entry of an index.
  static let longResources = Dictionary(uniqueKeysWithValues: (0..<15).map { (noise(240) + "\($0)", 1) })

  func join(name: String = "a") throws -> String {
    try session.register(FleetHost(name: name, program: "test", labels: ["x"], identifiers: [identifier]))
  }

  func draft(
    priority: Int = 0, due: WallTime = WallTime(unixMilliseconds: 0), payload: [UInt8] = [], key: String? = nil, idempotency: String? = nil
  ) throws -> FleetDraft {
    var request = TaskRequest(identifier: identifier, payload: payload, priority: priority)
    request.retry = RetryPolicy()
    request.uniqueKey = key
    if key != nil { request.onConflict = .keep }
    request.idempotencyKey = idempotency
    let now = SystemClock().wallTime
    let record = RequestRecord(
      id: RequestID(sequence: 0, origin: session.origin), request: request, state: .pending, due: due, submitted: now)
    return FleetDraft(record: record, lane: try session.lane(record.lane))
  }

  func claim(_ incarnation: String, _ limit: Int) throws -> [ClaimedRequest] {
    try session.exchange(
      incarnation, settling: [], wanting: [FleetDemand(identifier, lane: try session.lane(Lane(identifier)), limit: limit)]
    ).claimed
  }

  /// The ended runs of a request, newest first.
  func runs(of id: RequestID) throws -> [RunRecord] {
    var query = RunQuery()
    query.request = id
    return try session.runs(query).records
  }

  func settled(_ claim: ClaimedRequest, as outcome: RunOutcome, due: WallTime? = nil) throws -> SettledRequest {
    var record = try claim.record.get()
    let run = RunID(sequence: claim.id.sequence, origin: 7)
    let now = SystemClock().wallTime
    try record.apply(.started(run, from: .pending, at: now))
    try record.apply(.ended(outcome))
    record.due = due ?? record.due
    record.ended = now
    let report = RunReport()
    return SettledRequest(
      record: record, lane: claim.lane,
      runs: [
        RunRecord(
          id: run, request: claim.id, identifier: identifier, attempt: 1, started: now, ended: now, outcome: outcome, report: report)
      ])
  }
}

extension FleetSession {
  func enqueue(_ drafts: [FleetDraft]) throws(FleetError) -> [RequestID] {
    try enqueue(drafts.count, bytes: { drafts[$0].record.request.payload.count }, { drafts[$0] })
  }
}

struct FleetQueueTests {
  @Test func claimsComeByRankAndEndInTheHistory() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let ids = try fleet.session.enqueue([
      fleet.draft(payload: [1]), fleet.draft(priority: 5, payload: [2, 0]), fleet.draft(priority: -5, payload: []),
    ])
    let claimed = try fleet.claim(host, 2)
    #expect(claimed.map(\.id) == [ids[1], ids[0]])
    #expect(try claimed.map { try $0.record.get().request.payload } == [[2, 0], [1]])
    #expect(Set(claimed.map(\.epoch)).count == 1)
    let exchange = try fleet.session.exchange(
      host, settling: try claimed.map { try fleet.settled($0, as: .succeeded) }, wanting: [])
    #expect(exchange.fenced.isEmpty)
    #expect(try fleet.session.request(ids[0])?.state == .succeeded)
    #expect(try fleet.runs(of: ids[0]).map(\.outcome) == [.succeeded])
    #expect(try fleet.claim(host, 10).map(\.id) == [ids[2]])
    var scan = RequestScan()
    scan.states = [.succeeded]
    #expect(try fleet.session.scan(scan) { _ in true }.records.map(\.id) == [ids[1], ids[0]])
    scan.states = [.running]
    #expect(try fleet.session.scan(scan) { _ in true }.records.map(\.id) == [ids[2]])
    (scan.states, scan.limit, scan.oldestFirst) = ([], 2, true)
    let page = try fleet.session.scan(scan) { _ in true }
    #expect(page.records.map(\.id) == [ids[0], ids[1]] && page.next == ids[1])
    scan.after = page.next
    #expect(try fleet.session.scan(scan) { _ in true }.records.map(\.id) == [ids[2]])
    #expect(try fleet.session.runs(RunQuery()).records.map(\.request).sorted() == [ids[0], ids[1]])
  }

  @Test func aRequestThatIsAddedWithClaimsIsClaimedAtOnce() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let earlier = try fleet.session.enqueue([fleet.draft()])
    let held = try fleet.claim(host, 1)
    let lane = try fleet.session.lane(Lane(fleet.identifier))
    let exchange = try fleet.session.exchange(
      host, settling: [fleet.settled(held[0], as: .succeeded)], adding: fleet.draft(payload: [7]),
      wanting: [FleetDemand(fleet.identifier, lane: lane, limit: 1)])
    let added = try #require(exchange.added)
    #expect(added.known == .new && added.id != earlier[0] && exchange.fenced.isEmpty)
    #expect(exchange.claimed.map(\.id) == [added.id])
    #expect(try exchange.claimed[0].record.get().request.payload == [7])
    #expect(try fleet.session.request(earlier[0])?.state == .succeeded)
    _ = try fleet.session.fence(host, because: "a test")
    #expect(throws: FleetError.fenced) {
      try fleet.session.exchange(
        host, settling: [], adding: fleet.draft(), wanting: [FleetDemand(fleet.identifier, lane: lane, limit: 2)])
    }
    let counts = try fleet.session.counts()
    #expect(counts.ready == 1 && counts.later == 0, "what was added with refused claims is not there")
  }

  @Test("a connection that has made its plans with empty tables reads none of them as a whole when they have grown")
  func plans() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    // As often as it takes until plans are kept.
    for _ in 0..<8 {
      _ = try fleet.session.enqueue([fleet.draft()])
      let claims = try fleet.claim(host, 10)
      _ = try fleet.session.exchange(host, settling: try claims.map { try fleet.settled($0, as: .succeeded) }, wanting: [])
    }
    try fleet.server.run(
      """
      INSERT INTO taskhost.request (id, identifier, state, lane, due, rank, payload, record)
      SELECT i, 'org.example.fleet', 'pending', 1, 0, 0, '', '' FROM generate_series(1, 20000) i
      """, on: fleet.address)
    func scanned() throws -> Int64? {
      _ = try fleet.session.ask(PostgresStatement("SELECT pg_stat_force_next_flush()"))
      return try fleet.session.ask(
        PostgresStatement(
          "SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables WHERE relname IN ('request', 'ready', 'later')")
      ).int(0, 0)
    }
    let before = try scanned()
    for _ in 0..<3 {
      let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft()])
      let claims = try fleet.claim(host, 1)
      _ = try fleet.session.exchange(host, settling: try claims.map { try fleet.settled($0, as: .succeeded) }, wanting: [])
      _ = try fleet.session.take(host, ids)
      _ = try fleet.session.giveBackUnknown(host, besides: [])
      _ = try fleet.session.renew(host, identifiers: [fleet.identifier])
    }
    #expect(try scanned() == before)
  }

  @Test func liveRequestsAreCountedAndThoseOfALargeTableEstimated() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    _ = try fleet.session.enqueue((0..<4).map { _ in try fleet.draft() } + [fleet.draft(due: SystemClock().wallTime + .seconds(60))])
    #expect(try fleet.session.liveCount(of: fleet.identifier) == 5)
    let claimed = try fleet.claim(host, 2)
    _ = try fleet.session.exchange(
      host, settling: [fleet.settled(claimed[0], as: .failed), fleet.settled(claimed[1], as: .succeeded)], wanting: [])
    #expect(try fleet.session.liveCount(of: fleet.identifier) == 3, "neither dead letters nor what has ended")
    #expect(try fleet.session.liveCount(of: TaskIdentifier("org.example.other")) == 0)
    // Some eight pages for each thousand.
    try fleet.server.run(
      """
      INSERT INTO taskhost.request (id, identifier, state, lane, due, rank, payload, record)
      SELECT i, CASE WHEN i % 4 = 0 THEN 'org.example.other' ELSE 'org.example.fleet' END, 'pending', 1, 0, 0, '', repeat('x', 900)
      FROM generate_series(1, 40000) i
      """, on: fleet.address)
    let count = try fleet.session.liveCount(of: fleet.identifier)
    #expect((25_000...35_000).contains(count), "\(count)")
  }

  @Test func whatIsNotDueWaitsAndIsPromoted() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let soon = SystemClock().wallTime + .seconds(3600)
    let id = try fleet.session.enqueue([fleet.draft(due: soon)])[0]
    let waiting = try fleet.session.exchange(host, settling: [], wanting: [])
    #expect(waiting.promoted == 0)
    let left = try #require(waiting.nextDue)
    #expect(left > .seconds(3500) && left <= .seconds(3600))
    try fleet.server.run("UPDATE taskhost.later SET due = 0", on: fleet.address)
    #expect(try fleet.session.exchange(host, settling: [], wanting: []).promoted == 1)
    #expect(try fleet.claim(host, 10).map(\.id) == [id])
  }

  @Test func aRetryIsReadyForAnybodyWhenItIsDue() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let other = try fleet.join(name: "b")
    let id = try fleet.session.enqueue([fleet.draft()])[0]
    let first = try fleet.claim(host, 1)
    _ = try fleet.session.exchange(host, settling: [fleet.settled(first[0], as: .retried)], wanting: [])
    let second = try fleet.claim(other, 1)
    #expect(second.map(\.id) == [id])
    #expect(try second[0].record.get().attemptsSpent == 1)
    #expect(second[0].epoch > first[0].epoch)
    #expect(second[0].lost == 0)
  }

  @Test func anOwnerWhoseLeaseEndedDecidesNothingMore() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let other = try fleet.join(name: "b")
    let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft()])
    let claimed = try fleet.claim(host, 2)
    // Whatever the database's clock says, another host decides, by what it has seen.
    try fleet.server.run("UPDATE taskhost.host SET lease_until = 0 WHERE name = 'a'", on: fleet.address)
    let seen = try fleet.session.renew(other, identifiers: []).others
    #expect(seen == [host: 0])
    #expect(try !fleet.session.renew(host, identifiers: []).isDraining)
    // It has renewed since.
    #expect(try fleet.session.renew(other, identifiers: [], silent: seen).requeued == 0)
    #expect(try fleet.session.renew(other, identifiers: [], silent: [host: 1]).requeued == 2)
    #expect(throws: FleetError.fenced) { try fleet.claim(host, 1) }
    #expect(throws: FleetError.fenced) { try fleet.session.renew(host, identifiers: []) }
    #expect(throws: FleetError.fenced) {
      try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: [])
    }
    let again = try fleet.claim(other, 10)
    #expect(Set(again.map(\.id)) == Set(ids))
    #expect(again.map(\.lost) == [1, 1])
    // A new incarnation of the same host cannot settle what the old one held either.
    let reborn = try fleet.join()
    let late = try fleet.session.exchange(reborn, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: [])
    #expect(late.fenced == [claimed[0].id])
    #expect(try fleet.runs(of: claimed[0].id).isEmpty)
  }

  @Test("an end whose first answer was lost does not end a later claim of the same host")
  func ended() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let id = try fleet.session.enqueue([fleet.draft()])[0]
    let claimed = try fleet.claim(host, 1)[0]
    var failed = try fleet.settled(claimed, as: .retried)
    failed.epoch = claimed.epoch
    #expect(try fleet.session.record(host, [failed], tells: false).isEmpty)
    let again = try fleet.claim(host, 1)[0]
    #expect(again.id == id && again.epoch > claimed.epoch)
    #expect(try fleet.session.record(host, [failed], tells: false) == [id])
    #expect(try fleet.runs(of: id).count == 1)
    var succeeded = try fleet.settled(again, as: .succeeded)
    succeeded.epoch = again.epoch
    #expect(try fleet.session.record(host, [succeeded], tells: false).isEmpty)
    #expect(try fleet.session.request(id)?.state == .succeeded)
  }

  @Test func aHostThatFrozeWithinATransactionIsFencedToo() throws {
    let fleet = try TestFleet(lease: .milliseconds(300))
    let frozen = try fleet.join()
    let id = try fleet.session.enqueue([fleet.draft()])[0]
    #expect(try fleet.claim(frozen, 1).map(\.id) == [id])
    let held = try PostgresConnection(fleet.address, name: "frozen")
    try held.run(
      [PostgresStatement("BEGIN"), PostgresStatement("SELECT taskhost.hold_lease($1::uuid)", .text(frozen))],
      by: SystemClock.now + .seconds(10))
    let deadline = SystemClock.now + .seconds(20)
    var requeued: Int64 = 0
    while requeued == 0, SystemClock.now < deadline {
      let other = try fleet.join(name: "b")
      requeued = try fleet.session.renew(other, identifiers: [], silent: [frozen: 0]).requeued
    }
    #expect(requeued == 1)
    #expect(throws: PostgresError.self) { try held.run(PostgresStatement("SELECT 1"), by: SystemClock.now + .seconds(10)) }
  }

  @Test func aRunThatItsHostHasToldOfIsLostWithIt() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    _ = try fleet.session.enqueue([fleet.draft(), fleet.draft()])
    let claimed = try fleet.claim(host, 2)
    let now = SystemClock().wallTime
    let run = RunRecord(
      id: RunID(sequence: 1, origin: 7), request: claimed[0].id, identifier: fleet.identifier, attempt: 1, started: now + .seconds(-60))
    try fleet.session.publish(host, running: [run])
    #expect(try fleet.session.running(nil) == [run])
    _ = try fleet.session.fence(host, because: "a test")
    let lost = try #require(try fleet.runs(of: claimed[0].id).first)
    #expect(lost.id == run.id && lost.outcome == .lost && (lost.ended ?? .distantPast) >= now + .seconds(-1))
    #expect(try fleet.session.run(run.id) == lost && fleet.session.runs(RunQuery()).records == [lost])
    let ends = try fleet.session.endedRuns(since: nil, or: .seconds(60), besides: other, told: [:])
    #expect(ends.ended.map(\.run) == [lost] && !ends.isPart && ends.times[lost.id] == lost.ended)
    #expect(try fleet.session.endedRuns(since: nil, or: .seconds(60), besides: other, told: ends.times).ended.isEmpty)
    #expect(try fleet.session.running(nil).isEmpty && fleet.claim(other, 2).count == 2)
    #expect(try fleet.session.successes(of: [fleet.identifier], within: .seconds(60)).isEmpty)
  }

  @Test func keysAreUniqueInTheWholeFleet() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let first = try fleet.session.enqueue(named: [fleet.draft(key: "k")])[0]
    #expect(first.known == .new)
    #expect(try fleet.session.enqueue(named: [fleet.draft(key: "k")]) == [NamedSubmission(id: first.id, known: .held)])
    let claimed = try fleet.claim(host, 1)
    #expect(try fleet.session.enqueue(named: [fleet.draft(key: "k")])[0].known == .held)
    _ = try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: [])
    #expect(try fleet.session.enqueue(named: [fleet.draft(key: "k")])[0].known == .new)
  }

  @Test func anIdempotencyKeyStandsForOneSubmission() throws {
    let fleet = try TestFleet()
    var draft = try fleet.draft(idempotency: "order-1")
    draft.fingerprint = .max
    let first = try fleet.session.enqueue(named: [draft])[0]
    #expect(first.known == .new)
    #expect(try fleet.session.enqueue(named: [draft]) == [NamedSubmission(id: first.id, known: .repeated)])
    draft.fingerprint = 1
    #expect(try fleet.session.enqueue(named: [draft]) == [NamedSubmission(id: first.id, known: .different)])
    #expect(try fleet.session.counts().ready == 1)
  }

  @Test func twoHostsNeverClaimTheSameRequest() async throws {
    let fleet = try TestFleet()
    let ids = try fleet.session.enqueue((0..<2000).map { _ in try fleet.draft() })
    #expect(Set(ids).count == 2000)
    let owned = try await withThrowingTaskGroup(of: [RequestID].self) { [address = fleet.address] group in
      for name in ["a", "b", "c"] {
        group.addTask {
          try await onThread {
            let fleet = try TestFleet(joining: address)
            let host = try fleet.join(name: name)
            var owned: [RequestID] = []
            while case let claimed = try fleet.claim(host, 17), !claimed.isEmpty { owned += claimed.map(\.id) }
            return owned
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(owned.count == 2000)
    #expect(Set(owned) == Set(ids))
  }

  @Test func tablesAreMadeOnceAndNewerOnesAreLeftAlone() throws {
    let fleet = try TestFleet()
    #expect(try FleetSetup.run(fleet.address, historyDays: 1) == .updated(from: 1))
    #expect(fleet.session.lease == .seconds(10))
    let other = #expect(throws: FleetError.self) { try FleetSetup.run(fleet.address, lease: .seconds(1)) }
    #expect(other?.description.contains("its leases last 10000 ms") == true)
    #expect(try FleetSetup.run(fleet.address, lease: .seconds(10)) == .updated(from: 1))
    try fleet.server.run("UPDATE taskhost.fleet SET version = 99", on: fleet.address)
    #expect(throws: FleetError.version(found: 99)) { try FleetSetup.run(fleet.address, historyDays: 1) }
    // A host works on newer tables: they keep what it calls.
    #expect(try FleetSession(fleet.address, name: "old").origin == fleet.session.origin)
    let empty = try fleet.server.makeDatabase()
    #expect(throws: FleetError.notInitialised) { try FleetSession(empty, name: "x") }
    #expect(throws: FleetError.self) { try FleetSession("host=/nowhere dbname=x", name: "x") }
    try fleet.server.run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'", on: "postgres")
    let latin = #expect(throws: FleetError.self) { try FleetSetup.run(fleet.server.address(of: "latin")) }
    #expect(latin?.description.contains("ENCODING 'UTF8'") == true)
    try fleet.server.run("DROP DATABASE latin", on: "postgres")
    try fleet.server.run("UPDATE taskhost.fleet SET version = 1; DROP TABLE taskhost.claim", on: fleet.address)
    let damaged = #expect(throws: FleetError.self) { try FleetSession(fleet.address, name: "x").counts() }
    #expect(damaged?.description.contains("not complete") == true, "\(damaged?.description ?? "")")
    let again = #expect(throws: FleetError.self) { try FleetSetup.run(fleet.address) }
    #expect(again?.description.contains("taskhost.claim is missing") == true, "\(again?.description ?? "")")
  }

  @Test func theDaysOfTheHistoryAreMadeAgain() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    _ = try fleet.session.enqueue([fleet.draft()])
    let claimed = try fleet.claim(host, 1)
    // As for a host that has run for longer than the days that were made when it joined.
    try fleet.server.run(
      "DO $$ DECLARE t text; BEGIN FOR t IN SELECT relname FROM pg_class WHERE relname ~ '^(ended|run)_[0-9]+$' AND relkind = 'r' LOOP "
        + "EXECUTE 'DROP TABLE taskhost.' || t; END LOOP; END $$", on: fleet.address)
    #expect(throws: FleetError.self) {
      try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: [])
    }
    try fleet.session.keepDays()
    let exchange = try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: [])
    #expect(exchange.fenced.isEmpty)
    #expect(try fleet.session.request(claimed[0].id)?.state == .succeeded)
  }

  @Test func aDayIsOverWhenTheClocksOfBothTheDatabaseAndAHostSaySo() throws {
    let fleet = try TestFleet()
    let days = "SELECT count(*) FROM pg_class WHERE relname IN ('run_10', 'ended_10')"
    let keys = "SELECT count(*) FROM taskhost.idempotency"
    try fleet.server.run(
      """
      CREATE TABLE taskhost.run_10 PARTITION OF taskhost.run FOR VALUES FROM (864000000) TO (950400000);
      CREATE TABLE taskhost.ended_10 PARTITION OF taskhost.ended FOR VALUES FROM (864000000) TO (950400000);
      INSERT INTO taskhost.idempotency VALUES ('k', 0, 1, 864000000)
      """, on: fleet.address)
    // As if the database's clock had been set forward for a moment.
    try fleet.session.keepDays(now: WallTime(unixMilliseconds: 864_000_000))
    try fleet.session.clean(now: WallTime(unixMilliseconds: 864_000_000))
    try fleet.server.run("SELECT taskhost.keep_days()", on: fleet.address)
    #expect(try fleet.server.run(days, on: fleet.address) == "2")
    #expect(try fleet.server.run(keys, on: fleet.address) == "1")
    // And as if the host's had.
    try fleet.session.keepDays(now: .distantFuture)
    try fleet.session.clean(now: .distantFuture)
    #expect(try fleet.server.run(days, on: fleet.address) == "0")
    #expect(try fleet.server.run(keys, on: fleet.address) == "0")
  }

  @Test func aDayThatSomebodyHasDetachedComesBackAndOldOnesAreLeftToWhoeverHasThem() throws {
    let fleet = try TestFleet()
    let today = "taskhost.now_ms() / 86400000"
    func detach(_ kind: String, _ day: String) throws {
      try fleet.server.run(
        "DO $$ BEGIN EXECUTE format('ALTER TABLE taskhost.\(kind) DETACH PARTITION taskhost.\(kind)_%s', \(day)); END $$",
        on: fleet.address)
    }
    try detach("run", today)
    try detach("ended", "\(today) + 1")
    // In the way, and of another form.
    try fleet.server.run(
      "DO $$ BEGIN EXECUTE format('ALTER TABLE taskhost.ended_%s DROP COLUMN payload', \(today) + 1); END $$; CREATE TABLE taskhost.run_3 (a int)",
      on: fleet.address)
    try fleet.session.keepDays()
    let attached = "SELECT count(*) FROM pg_inherits WHERE inhparent IN ('taskhost.run'::regclass, 'taskhost.ended'::regclass)"
    #expect(try fleet.server.run(attached, on: fleet.address) == "10")
    let aside = "SELECT count(*) FROM pg_class WHERE relname LIKE 'ended\\_%\\_detached\\_%' OR relname = 'run_3'"
    #expect(try fleet.server.run(aside, on: fleet.address) == "2")
    let host = try fleet.join()
    _ = try fleet.session.enqueue([fleet.draft()])
    let claimed = try fleet.claim(host, 1)
    #expect(try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: []).fenced.isEmpty)
  }

  @Test func aDayThatAnotherTableHasNeedsNoneAndOneThatCannotBeMadeIsNamed() throws {
    let fleet = try TestFleet()
    let today = try #require(Int64(try fleet.server.run("SELECT taskhost.now_ms() / 86400000", on: fleet.address)))
    try fleet.server.run(
      "ALTER TABLE taskhost.ended_\(today) RENAME TO kept; ALTER TABLE taskhost.run DETACH PARTITION taskhost.run_\(today)",
      on: fleet.address)
    #expect(try fleet.session.keepDays() == [], "what cannot be done for one day keeps nothing from the other")
    // Half of a day is another's.
    try fleet.server.run(
      """
      DROP TABLE taskhost.run_\(today);
      CREATE TABLE taskhost.half PARTITION OF taskhost.run FOR VALUES FROM (\(today * 86_400_000)) TO (\(today * 86_400_000 + 1))
      """, on: fleet.address)
    #expect(try fleet.session.keepDays() == ["run_\(today)"])
    let refused = #expect(throws: FleetError.self) { try FleetSetup.run(fleet.address) }
    #expect(refused?.description.contains("run_\(today) of the history could not be made") == true, "\(refused as Any)")
  }

  @Test func theKeysOfAPluginAreCountedBesideThoseOfOthers() throws {
    let fleet = try TestFleet()
    try fleet.server.run(
      """
      INSERT INTO taskhost.idempotency SELECT 'plugin:org.example.a:' || n, 0, 1, 0 FROM generate_series(1, 30) n;
      INSERT INTO taskhost.idempotency SELECT 'plugin:org.example.ab:' || n, 0, 1, 0 FROM generate_series(1, 12000) n;
      INSERT INTO taskhost.idempotency SELECT 'plugin' || n, 0, 1, 0 FROM generate_series(1, 50) n
      """, on: fleet.address)
    #expect(try fleet.session.keyCount(of: TaskIdentifier("org.example.a")) == 30)
    #expect(try fleet.session.keyCount(of: TaskIdentifier("org.example.ab")) == 10_000)
    #expect(try fleet.session.keyCount(of: TaskIdentifier("org.example.b")) == 0)
  }

  @Test func aDrainingHostIsToldSoAndAFencedOneIsListed() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    #expect(try !fleet.session.renew(host, identifiers: [fleet.identifier]).isDraining)
    #expect(try fleet.session.setDraining(true, host: "a") == 1)
    #expect(try fleet.session.renew(host, identifiers: [fleet.identifier]).isDraining)
    #expect(try fleet.session.members().map(\.state) == [.draining])
    _ = try fleet.session.enqueue([fleet.draft()])
    #expect(try fleet.claim(host, 1).count == 1)
    #expect(try fleet.session.fence(host, because: "an operator said so") == (1, 1))
    let member = try #require(try fleet.session.members().first)
    #expect(member.state == .fenced)
    #expect(member.reason == "an operator said so")
    #expect(member.labels == ["x"])
    #expect(member.identifiers == [fleet.identifier.rawValue])
    #expect(try fleet.session.counts().ready == 1)
  }
}
