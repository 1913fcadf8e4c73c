import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

/// What the runs of requests that repeat have come to.
struct FleetRepeatingTests {
  private let hour = SystemClock().wallTime + .seconds(3600)

  private func repeating(_ fleet: TestFleet, key: String? = nil) throws -> FleetDraft {
    var draft = try fleet.draft(key: key)
    draft.record.request.repetition = RepeatRule(every: .seconds(60))
    return draft
  }

  /// Takes the request, and gives it back with runs that ended so.
  private func run(_ id: RequestID, _ outcomes: RunOutcome..., in fleet: TestFleet, by host: String) throws {
    let claim = try #require(try fleet.session.take(host, [id]).first)
    var settled = try fleet.settled(claim, as: .retried)
    settled.runs = outcomes.map { outcome in
      var run = settled.runs[0]
      run.outcome = outcome
      return run
    }
    _ = try fleet.session.exchange(host, settling: [settled], wanting: [])
  }

  private func schedules(_ fleet: TestFleet, limit: Int = 10, onlyFailing: Bool = false) throws -> [ScheduleRecord] {
    try fleet.session.schedules(of: [fleet.identifier], limit: limit, onlyFailing: onlyFailing)
  }

  @Test func eachIsListedFromItsSubmissionOnWithWhatItsRunsHaveComeTo() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let ids =
      try fleet.session.enqueue([fleet.draft(), repeating(fleet)]) + fleet.session.enqueue(named: [repeating(fleet, key: "k")]).map(\.id)
    var listed = try schedules(fleet)
    #expect(listed.map(\.request?.id) == [ids[1], ids[2]] && listed.map(\.key) == [nil, "k"])
    #expect(listed.allSatisfy { $0.lastRun == nil && $0.lastSuccess == nil && $0.failures == 0 })
    try run(ids[1], .succeeded, in: fleet, by: host)
    for _ in 0..<2 { try run(ids[1], .retried, in: fleet, by: host) }
    try run(ids[1], .snoozed, in: fleet, by: host)
    try run(ids[2], .failed, .succeeded, .expired, in: fleet, by: host)
    listed = try schedules(fleet)
    #expect(listed.map(\.failures) == [2, 1] && listed.map(\.lastRun?.outcome) == [.snoozed, .expired])
    #expect(listed.allSatisfy { $0.lastSuccess != nil && $0.failingSince != nil })
    try run(ids[2], .noop, in: fleet, by: host)
    #expect(try schedules(fleet, onlyFailing: true).map(\.request?.id) == [ids[1]])
    #expect(try schedules(fleet, limit: 1).map(\.request?.id) == [ids[1]], "those with failures come first")
    let sum = try #require(try fleet.session.scheduleSums(of: [fleet.identifier])[fleet.identifier])
    let last = try schedules(fleet).last
    #expect(sum.failures == 2 && sum.lastSuccess == last?.lastSuccess)
  }

  @Test func oneThatEndsIsListedNoMoreAndOneThatIsMadeToRepeatIs() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let ids = try fleet.session.enqueue([fleet.draft(due: hour), repeating(fleet)])
    let taken = try fleet.session.take(host, ids)
    let changed = try taken.map { claim in
      var record = try claim.record.get()
      if record.isRepeating { try record.apply(.cancelled) }
      record.request.repetition = RepeatRule(every: .seconds(60))
      return SettledRequest(record: record, lane: claim.lane, runs: [])
    }
    try fleet.session.settle(host, changed)
    #expect(try schedules(fleet).map(\.request?.id) == [ids[0]])
    #expect(try fleet.server.run("SELECT count(*) FROM taskhost.repeating", on: fleet.address) == "1")
  }

  @Test func theRunOfALostHostIsTheLastOne() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let id = try fleet.session.enqueue([repeating(fleet)])[0]
    try run(id, .retried, in: fleet, by: host)
    let claim = try #require(try fleet.claim(host, 1).first)
    var run = try fleet.settled(claim, as: .succeeded).runs[0]
    (run.outcome, run.ended) = (nil, nil)
    try fleet.session.publish(host, running: [run])
    _ = try fleet.session.fence(host, because: "a test")
    let listed = try schedules(fleet)
    #expect(listed.map(\.lastRun?.outcome) == [.lost] && listed.map(\.failures) == [1], "a lost run does not count as a failure")
  }

  @Test func aFleetOfAnEarlierBuildGetsTheTable() throws {
    let fleet = try TestFleet()
    let id = try fleet.session.enqueue([fleet.draft(), repeating(fleet)])[1]
    try fleet.server.run("DROP TABLE taskhost.repeating", on: fleet.address)
    _ = try FleetSetup.run(fleet.address, lease: .seconds(10), historyDays: 7)
    #expect(try schedules(fleet).map(\.request?.id) == [id])
  }
}
