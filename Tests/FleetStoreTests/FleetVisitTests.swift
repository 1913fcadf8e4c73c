import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

/// Requests that a host takes to change them, and gives back.
struct FleetVisitTests {
  private let hour = SystemClock().wallTime + .seconds(3600)

  @Test func whatIsTakenIsNobodyElsesUntilItIsBack() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    let ids = try fleet.session.enqueue([fleet.draft(payload: [1]), fleet.draft(due: hour)])
    let taken = try fleet.session.take(host, ids)
    #expect(taken.map(\.id) == ids)
    #expect(try fleet.claim(other, 10).isEmpty)
    #expect(try fleet.session.take(other, ids).isEmpty)
    var record = try taken[0].record.get()
    record.request.payload = [2]
    var changed = SettledRequest(record: record, lane: taken[0].lane, runs: [], eventPayload: [9], checkpoint: [3])
    changed.hasNewPayload = true
    try fleet.session.settle(host, [changed])
    let claimed = try fleet.claim(other, 10)
    #expect(try claimed.map { try $0.record.get().request.payload } == [[2]])
    #expect(claimed[0].eventPayload == [9] && claimed[0].checkpoint == [3])
    // A retry takes its checkpoint along, and leaves the payload that it had.
    var retried = try fleet.settled(claimed[0], as: .retried)
    retried.checkpoint = [4]
    retried.record.request.payload = []
    _ = try fleet.session.exchange(other, settling: [retried], wanting: [])
    let again = try fleet.claim(host, 1)[0]
    #expect(try again.record.get().request.payload == [2])
    #expect(again.checkpoint == [4] && again.eventPayload == nil)
  }

  @Test func whatAFencedHostHadTakenIsAsItWas() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft(due: hour), fleet.draft()])
    let first = try fleet.claim(host, 1)
    #expect(first[0].id == ids[0])
    var failed = try fleet.settled(first[0], as: .failed)
    failed.record.lastMessage = "no"
    _ = try fleet.session.exchange(host, settling: [failed], wanting: [])
    #expect(try fleet.session.request(ids[0])?.state == .failed)
    let taken = try fleet.session.take(host, ids)
    #expect(taken.count == 3)
    #expect(try fleet.session.fence("a", because: "test").requests == 2)
    let counts = try fleet.session.counts()
    #expect((counts.ready, counts.later, counts.held, counts.failed) == (1, 1, 0, 1))
    #expect(throws: FleetError.fenced) {
      try fleet.session.settle(host, [SettledRequest(record: taken[0].record.get(), lane: taken[0].lane, runs: [])])
    }
    // It was not lost with a run.
    let other = try fleet.join(name: "b")
    #expect(try fleet.claim(other, 1).map(\.lost) == [0])
  }

  @Test func aRequestGivesItsKeyToAnotherInOneTransaction() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    var draft = try fleet.draft(due: hour, key: "k")
    draft.record.request.onConflict = .replace
    let old = try fleet.session.enqueue(named: [draft])[0].id
    draft.record.request.idempotencyKey = "i"
    // Nothing is remembered of a submission that a host goes on with.
    #expect(try fleet.session.enqueue(named: [draft]) == [NamedSubmission(id: old, known: .held)])
    let taken = try fleet.session.take(host, [old])
    var record = try taken[0].record.get()
    record.request.uniqueKey = nil
    try record.apply(.cancelled)
    record.ended = SystemClock().wallTime
    let new = try #require(try fleet.session.draw(1).first)
    var added = FleetDraft(
      record: RequestRecord(id: new, request: draft.record.request, state: .pending, due: hour, submitted: record.submitted),
      lane: draft.lane)
    added.isDrawn = true
    try fleet.session.settle(host, [SettledRequest(record: record, lane: taken[0].lane, runs: [])], adding: [added])
    #expect(try fleet.session.request(old)?.state == .cancelled)
    #expect(try fleet.session.request(new)?.request.uniqueKey == "k")
    #expect(try fleet.session.enqueue(named: [draft]) == [NamedSubmission(id: new, known: .repeated)])
  }

  @Test func aDeadLetterWhoseKeyIsHeldSaysSo() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let first = try fleet.session.enqueue(named: [fleet.draft(key: "k")])[0].id
    _ = try fleet.session.exchange(host, settling: [fleet.settled(fleet.claim(host, 1)[0], as: .failed)], wanting: [])
    #expect(try fleet.session.take(host, [first]).map(\.isHeld) == [false])
    #expect(try fleet.session.giveBackUnknown(host, besides: []) == 0)
    #expect(try fleet.session.enqueue(named: [fleet.draft(due: hour, key: "k")])[0].known == .new)
    #expect(try fleet.session.take(host, [first]).map(\.isHeld) == [true])
  }

  @Test func anEventForARequestThatAnotherHostHasIsHeardWhenItIsBack() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    var draft = try fleet.draft()
    draft.record.request.event = EventTrigger("deploy")
    let id = try fleet.session.enqueue([draft])[0]
    #expect(try fleet.session.waiting(forEvent: "deploy") == [id])
    let claimed = try fleet.claim(host, 1)
    // Its owner knows its events itself.
    #expect(try fleet.session.raise("deploy", payload: nil, for: [id], besides: host) == 0)
    #expect(try fleet.session.raise("deploy", payload: [7], for: [id], besides: other) == 1)
    #expect(try fleet.session.exchange(other, settling: [], wanting: []).unheard.isEmpty)
    _ = try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .retried, due: hour)], wanting: [])
    let heard = try fleet.session.exchange(other, settling: [], wanting: []).unheard
    #expect(heard.map(\.request) == [id] && heard.first?.event == "deploy" && heard.first?.payload == [7])
    let taken = try fleet.session.take(other, [id])
    try fleet.session.settle(other, [SettledRequest(record: taken[0].record.get(), lane: taken[0].lane, runs: [])], heard: [id])
    #expect(try fleet.session.exchange(host, settling: [], wanting: []).unheard.isEmpty)
  }

  @Test func whatANewerHostHasWrittenHidesNothingElse() throws {
    let fleet = try TestFleet()
    let ids = try fleet.session.enqueue([fleet.draft(due: hour), fleet.draft(due: hour), fleet.draft(due: hour)])
    try fleet.server.run("UPDATE taskhost.request SET record = '{\"newer\":1}' WHERE id = \(ids[1].sequence)", on: fleet.address)
    var scan = RequestScan()
    (scan.oldestFirst, scan.limit) = (true, 1)
    var found: [RequestID] = []
    repeat {
      let page = try fleet.session.scan(scan) { _ in true }
      found += page.records.map(\.id)
      scan.after = page.next
    } while scan.after != nil
    #expect(found == [ids[0], ids[2]])
    #expect(try fleet.session.waiting(dueBy: hour, limit: 9).map(\.id) == [ids[0], ids[2]])
    #expect(throws: FleetError.self) { try fleet.session.request(ids[1]) }
  }

  @Test func aScheduleEndsWithTheLastHostThatHasIt() throws {
    let fleet = try TestFleet()
    let name = ScheduleName(fleet.identifier)
    var draft = try fleet.draft(due: hour, key: name.uniqueKey)
    draft.record.request.repetition = RepeatRule(every: .seconds(60))
    let id = try fleet.session.enqueue(named: [draft])[0].id
    #expect(try fleet.session.requests(of: [name]).mapValues(\.id) == [name: id])
    #expect(try fleet.session.declare([name], host: "a").isEmpty)
    #expect(try fleet.session.declare([name], host: "b").isEmpty)
    #expect(try fleet.session.declare([], host: "a").isEmpty)
    #expect(try fleet.session.declare([], host: "b") == [id])
  }

  @Test func aRequestThatAHostHasIsStoppedByItOrByItsNextOwner() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let id = try fleet.session.enqueue([fleet.draft()])[0]
    #expect(try !fleet.session.stop(id))
    _ = try fleet.claim(host, 1)
    #expect(try fleet.session.stop(id))
    #expect(try fleet.session.exchange(host, settling: [], wanting: []).cancelled == [id])
    _ = try fleet.session.fence("a", because: "test")
    let other = try fleet.join(name: "b")
    let lane = try fleet.session.lane(Lane(fleet.identifier))
    let exchange = try fleet.session.exchange(other, settling: [], wanting: [FleetDemand(fleet.identifier, lane: lane, limit: 1)])
    #expect(exchange.claimed.map(\.id) == [id] && exchange.cancelled == [id])
  }
}
