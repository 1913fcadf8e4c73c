import HostThreads
import TaskModel
import Testing

@testable import FleetStore

/// What other hosts have ended, as a host tells its observers of it.
struct FleetEndsTests {
  /// Lets a host end `count` requests, each with `bytes` of log lines.
  private func end(_ count: Int, bytes: Int = 0, in fleet: TestFleet, as host: String) throws {
    _ = try fleet.session.enqueue(try (0..<count).map { _ in try fleet.draft() })
    var left = count
    while left > 0 {
      let settled = try fleet.claim(host, 500).map { claim in
        var settled = try fleet.settled(claim, as: .succeeded)
        let line = String(repeating: "7", count: 8192)
        settled.runs[0].report.log = (0..<bytes / 8192).map { _ in LogLine(time: settled.runs[0].started, level: .info, message: line) }
        return settled
      }
      _ = try fleet.session.exchange(host, settling: settled, wanting: [])
      left -= settled.count
    }
  }

  /// How many are in each part of what is told, and whether each is told once.
  private func parts(of fleet: TestFleet, besides other: String) throws -> (counts: [Int], areOnce: Bool) {
    var told: [RunID: WallTime] = [:]
    var (counts, since): ([Int], WallTime?) = ([], nil)
    var isMore = true
    while isMore {
      let ends = try fleet.session.endedRuns(since: since, or: .seconds(60), besides: other, told: told)
      counts.append(ends.ended.count)
      told.merge(ends.times) { $1 }
      since = ends.until.moved(by: .seconds(-10))
      isMore = ends.isPart
    }
    return (counts, told.count == counts.reduce(0, +))
  }

  @Test("what ended is told of in parts, each end once, however many there are at one time")
  func many() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    try end(1200, in: fleet, as: host)
    let (counts, areOnce) = try parts(of: fleet, besides: other)
    #expect(counts == [1000, 200] && areOnce)
    #expect(try fleet.session.endedRuns(since: nil, or: .seconds(60), besides: host, told: [:]).ended.isEmpty)
  }

  @Test("a part has no more bytes than a host should read at once, but at least one end")
  func heavy() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    // Six of them are more than a part may have.
    try end(12, bytes: 100 * 8192, in: fleet, as: host)
    let (counts, areOnce) = try parts(of: fleet, besides: other)
    #expect(counts == [5, 5, 2] && areOnce, "\(counts)")
  }

  @Test("ends without a run are told of in parts too")
  func withoutRun() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    let ids = try fleet.session.enqueue(try (0..<1200).map { _ in try fleet.draft() })
    let cancelled = try fleet.session.take(host, ids).map { taken in
      var record = try taken.record.get()
      try record.apply(.cancelled)
      record.ended = SystemClock().wallTime
      return SettledRequest(record: record, lane: taken.lane, runs: [])
    }
    try fleet.session.settle(host, cancelled)
    let began = SystemClock().wallTime.moved(by: .seconds(-60))
    let first = try fleet.session.endedWithoutRun(since: began, besides: other, told: [:])
    #expect(first.ended.count == 1000 && first.isPart, "\(first.ended.count) \(first.times.count)")
    let rest = try fleet.session.endedWithoutRun(since: first.until, besides: other, told: first.times)
    #expect(rest.ended.count == 200 && !rest.isPart && Set(first.times.keys).union(rest.times.keys) == Set(ids))
  }

  @Test("the age of dead letters is theirs, whatever the names of what they need")
  func letters() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    var draft = try fleet.draft()
    draft.record.request.gates.resources = ["ended_unix_ms": 5]
    _ = try fleet.session.enqueue([FleetDraft(record: draft.record, lane: try fleet.session.lane(Lane(fleet.identifier)))])
    _ = try fleet.session.exchange(host, settling: [fleet.settled(fleet.claim(host, 1)[0], as: .failed)], wanting: [])
    let oldest = try #require(try fleet.session.deadLetters(of: [fleet.identifier]).first?.oldest)
    #expect(oldest > SystemClock().wallTime.moved(by: .seconds(-60)))
  }

  @Test("an advisory lock, which any role of the database may take, keeps no host from what it does")
  func locks() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    _ = try fleet.session.enqueue([fleet.draft()])
    #expect(FleetSchema.functions.allSatisfy { !$0.contains("advisory_") })
    var demand = FleetDemand(fleet.identifier, lane: try fleet.session.lane(Lane(fleet.identifier)), limit: 1)
    demand.rate = (1, .seconds(60))
    // Whoever claims what is limited waits for the others by a row.
    let holder = try PostgresConnection(fleet.address, name: "a test")
    func ask(_ text: String) throws { try holder.run(PostgresStatement(text), by: SystemClock.now + .seconds(10)) }
    try ask("BEGIN")
    try ask("SELECT FROM taskhost.lane WHERE gates = '' FOR NO KEY UPDATE")
    let impatient = try FleetSession(fleet.address, name: "test", patience: .milliseconds(500))
    #expect(throws: FleetError.self) { try impatient.exchange(host, settling: [], wanting: [demand]) }
    try ask("ROLLBACK")
    #expect(try fleet.session.exchange(host, settling: [], wanting: [demand]).claimed.count == 1)
  }
}
