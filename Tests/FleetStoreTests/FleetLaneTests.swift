import PostgresTestSupport
import TaskModel
import Testing

@testable import FleetStore

/// Requests with different needs, in lanes of their own.
@Suite("Fleet: lanes, in the database")
struct FleetLaneTests {
  private let fleet: TestFleet
  private let host: String

  init() throws {
    fleet = try TestFleet()
    host = try fleet.join()
  }

  /// Adds a request for each rank, each with a concurrency key of its own, and returns their ids.
  private func add(_ ranks: [Int64]) throws -> [RequestID] {
    var drafts: [FleetDraft] = []
    for rank in ranks {
      var draft = try fleet.draft(due: WallTime(unixMilliseconds: rank))
      draft.record.request.gates.concurrencyKey = "account-\(rank)"
      drafts.append(draft)
    }
    let lanes = try fleet.session.ids(of: drafts.map(\.record.lane))
    for index in drafts.indices { drafts[index].lane = lanes[index] }
    return try fleet.session.enqueue(drafts)
  }

  private func find(besides known: [Int64] = [], from start: Int64 = 0) throws -> FleetLaneSearch.Result {
    let search = FleetLaneSearch([fleet.identifier], from: start)
    return try #require(fleet.session.exchange(host, settling: [], wanting: [], watching: known, searching: search).search)
  }

  @Test("all lanes of an identifier together give no more than the greatest limit, the lowest ranks first")
  func together() throws {
    let ids = try add([50, 10, 40, 20, 30])
    let wanted = try find().lanes.map { FleetDemand(fleet.identifier, lane: $0.id, limit: 3) }
    #expect(wanted.count == 5)
    let first = try fleet.session.exchange(host, settling: [], wanting: wanted)
    #expect(first.claimed.map(\.id) == [ids[1], ids[3], ids[4]])
    let rest = try fleet.session.exchange(host, settling: [], wanting: wanted)
    #expect(rest.claimed.map(\.id) == [ids[2], ids[0]])
  }

  @Test("of several lanes, a claim takes the lowest ranks of all, and what else there is if limits keep some of these")
  func acrossLanes() throws {
    func add(_ lane: String, _ ranks: [Int64]) throws -> [RequestID] {
      let drafts = try ranks.map { rank in
        var draft = try fleet.draft(due: WallTime(unixMilliseconds: rank))
        draft.record.request.gates.concurrencyKey = lane
        draft.lane = try fleet.session.lane(draft.record.lane)
        return draft
      }
      return try fleet.session.enqueue(drafts)
    }
    let (one, two) = (try add("one", [1, 2, 100, 101]), try add("two", [3, 4, 102]))
    func claim(_ limit: Int, runsPerKey: Int? = nil) throws -> [RequestID] {
      let wanted = try ["one", "two"].map { key in
        let lane = try fleet.session.lane(Lane(fleet.identifier, RunConstraints(concurrencyKey: key)))
        var demand = FleetDemand(fleet.identifier, lane: lane, limit: limit)
        demand.runsPerKey = runsPerKey
        return demand
      }
      return try fleet.session.exchange(host, settling: [], wanting: wanted).claimed.map(\.id)
    }
    #expect(try claim(3) == [one[0], one[1], two[0]])
    // Of the next two, the first lane may have none: three run of it with what it got.
    #expect(try claim(2, runsPerKey: 3) == [two[1], one[2]])
    #expect(try claim(2, runsPerKey: 3) == [two[2]])
    #expect(try claim(9) == [one[3]])
    let (held, free) = (try add("one", [200, 201]), try add("two", [300]))
    #expect(try claim(1, runsPerKey: 4) == free, "the lowest are held back")
    #expect(try claim(1) == [held[0]])
  }

  @Test("a search goes on where the last one ended, comes round, and finds each lane with ready requests once")
  func round() throws {
    _ = try add(Array(1...450))
    var known: [Int64] = []
    var start: Int64 = 0
    for expected in [200, 200, 50] {
      let found = try find(besides: known, from: start)
      #expect(found.lanes.count == expected)
      known += found.lanes.map(\.id)
      start = found.reached
    }
    #expect(Set(known).count == 450)
  }

  @Test("a lane without requests gives way to a new one, and goes some days later; requests that have come into it meanwhile stay")
  func swept() throws {
    func run(_ statement: String) throws { _ = try fleet.session.ask(PostgresStatement(statement)) }
    func sweep(after days: Int) throws {
      try run("UPDATE taskhost.fleet SET lanes_swept = lanes_swept - \(days)")
      try run("UPDATE taskhost.lane SET retired = retired - \(days)")
      try fleet.session.sweepLanes()
    }
    func lane(_ key: String) throws -> Int64 {
      try fleet.session.lane(Lane(fleet.identifier, RunConstraints(concurrencyKey: key)))
    }
    let plain = try fleet.session.lane(Lane(fleet.identifier))
    let waiting = try add([1])
    let used = try lane("account-1")
    let unused = try lane("unused")
    let late = try lane("late")
    try sweep(after: 0)
    #expect(try [lane("account-1"), fleet.session.lane(Lane(fleet.identifier))] == [used, plain])
    let next = try lane("unused")
    #expect(next > unused)
    try fleet.session.sweepLanes()
    #expect(try lane("unused") == next, "once a day is enough")
    // Whoever had asked for the number before may still use it.
    var draft = try fleet.draft(due: WallTime(unixMilliseconds: 2))
    draft.record.request.gates.concurrencyKey = "late"
    draft.lane = late
    let added = try fleet.session.enqueue([draft])
    try sweep(after: 2)
    let left = try fleet.session.ask(PostgresStatement("SELECT id FROM taskhost.lane WHERE id <> $1 ORDER BY id", .int(plain)))
    #expect((0..<left.count).map { left.int($0, 0) } == [used, late, next])
    let wanted = try find().lanes.map { FleetDemand(fleet.identifier, lane: $0.id, limit: 3) }
    #expect(try fleet.session.exchange(host, settling: [], wanting: wanted).claimed.map(\.id) == waiting + added)
    #expect(try lane("late") > late)
  }

  @Test("an identifier's lanes are found at once, however many another one has before the search comes to them")
  func fair() throws {
    let other = try TaskIdentifier("org.example.other")
    var drafts = [try fleet.draft(due: WallTime(unixMilliseconds: 1))]
    for number in 0..<3000 {
      var draft = try fleet.draft(due: WallTime(unixMilliseconds: 1))
      draft.record.request = TaskRequest(identifier: other)
      draft.record.request.gates.resources = ["nobody-has-\(number)": 1]
      drafts.append(draft)
    }
    drafts[0].record.request.gates.concurrencyKey = "mine"
    let lanes = try fleet.session.ids(of: drafts.map(\.record.lane))
    for index in drafts.indices { drafts[index].lane = lanes[index] }
    _ = try fleet.session.enqueue(drafts)
    let search = FleetLaneSearch([fleet.identifier, other], from: lanes[1000])
    let found = try #require(fleet.session.exchange(host, settling: [], wanting: [], searching: search).search)
    #expect(found.lanes.contains { $0.lane.gates.concurrencyKey == "mine" } && found.lanes.count == 200)
  }

  @Test("lanes whose needs are shut are passed over, whatever their keys")
  func shut() throws {
    var drafts: [FleetDraft] = []
    for number in 0..<600 {
      var draft = try fleet.draft(due: WallTime(unixMilliseconds: 1))
      (draft.record.request.gates.concurrencyKey, draft.record.request.gates.window) = ("account-\(number)", number == 580 ? nil : "night")
      drafts.append(draft)
    }
    let lanes = try fleet.session.ids(of: drafts.map(\.record.lane))
    for index in drafts.indices { drafts[index].lane = lanes[index] }
    _ = try fleet.session.enqueue(drafts)
    var needs = RunConstraints.none
    needs.window = "night"
    var found: [FleetLane] = []
    var start: Int64 = 0
    repeat {
      let search = FleetLaneSearch([fleet.identifier], from: start, besides: [Lane(fleet.identifier, needs)])
      let result = try #require(fleet.session.exchange(host, settling: [], wanting: [], searching: search).search)
      found += result.lanes
      guard result.reached != start else { break }
      start = result.reached
    } while found.isEmpty
    #expect(found.map(\.lane.gates.concurrencyKey) == ["account-580"])
  }

  @Test("lanes without ready requests, without needs, or of other identifiers are not found")
  func empty() throws {
    _ = try fleet.session.enqueue([fleet.draft(due: WallTime(unixMilliseconds: 1))])
    #expect(try find().lanes.isEmpty)
    _ = try add([1, 2])
    let other = FleetLaneSearch([try TaskIdentifier("org.example.other")])
    #expect(try fleet.session.exchange(host, settling: [], wanting: [], searching: other).search?.lanes.isEmpty == true)
    let wanted = try find().lanes.map { FleetDemand(fleet.identifier, lane: $0.id, limit: 10) }
    #expect(try fleet.session.exchange(host, settling: [], wanting: wanted).claimed.count == 2)
    #expect(try find().lanes.isEmpty)
  }
}
