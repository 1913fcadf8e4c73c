import HostThreads
import PostgresTestSupport
import TaskModel
import Testing

@testable import FleetStore

/// Which hosts get a request first.
@Suite("Fleet: preferences, in the database")
struct FleetPreferenceTests {
  private let fleet: TestFleet
  /// The host that has what the requests prefer, and another one.
  private let near, far: String

  init() throws {
    fleet = try TestFleet()
    near = try fleet.session.register(
      FleetHost(name: "near", program: "test", labels: ["x", "eu-west"], identifiers: [fleet.identifier]))
    far = try fleet.session.register(FleetHost(name: "far", program: "test", labels: ["x"], identifiers: [fleet.identifier]))
  }

  private func lane(_ prefer: String, last: String? = nil) -> Lane {
    var gates = RunConstraints.none
    (gates.prefer, gates.lastHost) = (prefer, last)
    return Lane(fleet.identifier, gates)
  }

  /// Adds requests that are ready. Those that are `young` are due in a minute, as if the database's clock had been set back: none of them may
  /// be taken by others before, however slow the test is.
  private func add(_ lane: Lane, young: [Bool]) throws -> [RequestID] {
    let drafts = try young.indices.map { index in
      var draft = try fleet.draft(due: WallTime(unixMilliseconds: Int64(index)))
      draft.record.request.gates = lane.gates
      draft.lane = try fleet.session.lane(lane)
      return draft
    }
    let ids = try fleet.session.enqueue(drafts)
    let list = zip(ids, young).filter(\.1).map { "\($0.0.sequence)" }.joined(separator: ", ")
    if !list.isEmpty { try run("UPDATE taskhost.request SET due = taskhost.now_ms() + 60000 WHERE id IN (\(list))") }
    return ids
  }

  @discardableResult private func run(_ sql: String) throws -> String { try fleet.server.run(sql, on: fleet.address) }

  private func look(_ host: String, _ lane: Lane, limit: Int = 10) throws -> FleetExchange {
    var demand = FleetDemand(fleet.identifier, lane: try fleet.session.lane(lane), limit: limit)
    demand.prefers = lane.gates.preferredHosts
    return try fleet.session.exchange(host, settling: [], wanting: [demand])
  }

  @Test(
    "a host that has the label or the name takes a request at once; another one takes what has been due for 5 s",
    arguments: ["eu-west", "near"])
  func waiting(_ prefer: String) throws {
    let ids = try add(lane(prefer), young: [true, false, true])
    let other = try look(far, lane(prefer))
    #expect(other.claimed.map(\.id) == [ids[1]])
    // When the next one may be taken: 5 s after it is due.
    let next = try #require(other.nextDue)
    #expect(next > .seconds(10) && next <= .seconds(65), "\(next)")
    let again = try look(far, lane(prefer))
    #expect(again.claimed.isEmpty && again.promoted == 0)
    let preferred = try look(near, lane(prefer))
    #expect(preferred.claimed.map(\.id) == [ids[0], ids[2]] && preferred.nextDue == nil)
    #expect(try look(far, lane(prefer)).nextDue == nil, "nothing is left")
  }

  @Test("a request that becomes due meanwhile is looked at when it is due")
  func due() throws {
    _ = try add(lane("eu-west"), young: [true])
    _ = try fleet.session.enqueue([fleet.draft(due: SystemClock().wallTime + .seconds(3600))])
    #expect(try #require(look(far, lane("eu-west")).nextDue) <= .seconds(65))
    _ = try look(near, lane("eu-west"))
    #expect(try #require(look(far, lane("eu-west")).nextDue) > .seconds(3000))
  }

  @Test(
    "nobody waits for a host that is not there, that takes nothing, or that has no handler",
    arguments: [
      "fenced = 1", "lease_until = 0", "draining = true", "leaving = 1", "labels = '{x}'", "identifiers = '{org.example.other}'",
    ])
  func absent(_ change: String) throws {
    let ids = try add(lane("eu-west"), young: [true])
    #expect(try look(far, lane("eu-west")).claimed.isEmpty)
    try run("UPDATE taskhost.host SET \(change) WHERE name = 'near'")
    let free = try look(far, lane("eu-west"))
    #expect(free.claimed.map(\.id) == ids && free.nextDue == nil)
  }

  @Test("the last host is preferred by its name; before the first run, nobody is")
  func lastHost() throws {
    #expect(lane(Preference.lastHost).gates.preferredHosts == nil)
    let first = try add(lane(Preference.lastHost), young: [true])
    #expect(try look(far, lane(Preference.lastHost)).claimed.map(\.id) == first)
    let second = try add(lane(Preference.lastHost, last: "near"), young: [true])
    #expect(try look(far, lane(Preference.lastHost, last: "near")).claimed.isEmpty)
    #expect(try look(near, lane(Preference.lastHost, last: "near")).claimed.map(\.id) == second)
  }

  @Test("only the head of a lane is looked at for requests that have waited for long enough")
  func head() throws {
    let ids = try add(lane("eu-west"), young: [true, true, true, false, false, true, true, true, true, false])
    #expect(try look(far, lane("eu-west"), limit: 1).claimed.map(\.id) == [ids[3]])
    // The fourth is young now, and the one behind is out of sight until the young ones are gone.
    try run("UPDATE taskhost.request SET due = taskhost.now_ms() + 60000 WHERE id = \(ids[4].sequence)")
    #expect(try look(far, lane("eu-west"), limit: 1).claimed.isEmpty)
    #expect(try look(far, lane("eu-west"), limit: 3).claimed.map(\.id) == [ids[9]])
  }

  @Test("limits of the fleet count what is taken after the wait too")
  func limited() throws {
    let ids = try add(lane("eu-west"), young: [true, false, false])
    func take() throws -> [RequestID] {
      var demand = FleetDemand(fleet.identifier, lane: try fleet.session.lane(lane("eu-west")), limit: 10)
      (demand.rate, demand.prefers) = ((1, .seconds(3600)), "eu-west")
      return try fleet.session.exchange(far, settling: [], wanting: [demand]).claimed.map(\.id)
    }
    #expect(try take() == [ids[1]])
    #expect(try take() == [])
  }

  @Test("what is given back without a run may be taken at once when its time has passed")
  func givenBack() throws {
    let ids = try add(lane("eu-west"), young: [false])
    let claim = try #require(try look(near, lane("eu-west")).claimed.first)
    #expect(try fleet.session.giveBackUnknown(near, besides: []) == 1)
    #expect(claim.id == ids[0])
    #expect(try look(far, lane("eu-west")).claimed.map(\.id) == ids)
  }

  @Test("a placement says who gets it first, and until when")
  func placement() throws {
    let ids = try add(lane("eu-west"), young: [true, false])
    let young = try #require(try fleet.session.placement(of: ids[0], preferring: "eu-west"))
    #expect(young.hosts.map(\.name) == ["far", "near"] && young.preferred?.hosts == ["near"])
    let due = try #require(Int64(try run("SELECT due FROM taskhost.request WHERE id = \(ids[0].sequence)")))
    #expect(young.preferred?.until == WallTime(unixMilliseconds: due) + Preference.wait)
    #expect(try fleet.session.placement(of: ids[0], preferring: "x")?.preferred?.hosts == ["far", "near"])
    for (id, prefer) in [(ids[0], "us"), (ids[0], nil), (ids[1], "eu-west")] {
      #expect(try fleet.session.placement(of: id, preferring: prefer)?.preferred == nil, "\(prefer ?? "")")
    }
  }

  @Test("a function that has grown has one form, which the roles of the earlier one may call")
  func forms() throws {
    let role = "application_\(UInt32.random(in: 0 ... .max))"
    try run("CREATE ROLE \(role)")
    defer { _ = try? run("DROP OWNED BY \(role); DROP ROLE \(role)") }
    for form in ["identifier text", "identifier text, payload jsonb DEFAULT NULL"] {
      try run("CREATE FUNCTION taskhost.submit(\(form)) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'")
    }
    try run("GRANT EXECUTE ON FUNCTION taskhost.submit(text, jsonb) TO \(role)")
    #expect(try FleetSetup.run(fleet.address, historyDays: 7) == .updated(from: 1))
    #expect(try run("SELECT count(*) FROM pg_proc WHERE pronamespace = 'taskhost'::regnamespace AND proname = 'submit'") == "1")
    #expect(try run("SELECT has_function_privilege('\(role)', 'taskhost.submit'::regproc, 'EXECUTE')") == "t")
    #expect(try run("SELECT taskhost.submit('\(fleet.identifier)', prefer => 'eu-west') IS NULL") == "f")
    #expect(
      try run("SELECT has_function_privilege('public', 'taskhost.submit'::regproc, 'EXECUTE')") == "f", "what PUBLIC had is not handed on")
  }
}
