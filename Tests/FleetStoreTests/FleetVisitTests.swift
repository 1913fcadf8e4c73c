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

  @Test("a dead letter whose key is taken before it is back is looked at again") func takenKey() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    _ = try fleet.session.enqueue(named: [fleet.draft(key: "k")])
    _ = try fleet.session.exchange(host, settling: [fleet.settled(fleet.claim(host, 1)[0], as: .failed)], wanting: [])
    let taken = try fleet.session.take(host, fleet.session.scan(RequestScan(RequestQuery())) { _ in true }.records.map(\.id))
    #expect(taken.count == 1 && !taken[0].isHeld)
    _ = try fleet.session.enqueue(named: [fleet.draft(key: "k")])
    var record = try taken[0].record.get()
    try record.apply(.retried)
    #expect(throws: FleetError.changed) {
      try fleet.session.settle(host, [SettledRequest(record: record, lane: taken[0].lane, runs: [])], takesKeys: true)
    }
  }

  @Test func anEventForARequestThatAHostHasIsHeardWhenItIsBack() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    var draft = try fleet.draft()
    draft.record.request.event = EventTrigger("deploy")
    let id = try fleet.session.enqueue([draft])[0]
    #expect(try fleet.session.waiting(forEvent: "deploy") == [id])
    #expect(try fleet.session.note(FleetEvent(name: "deploy", payload: [6]), for: [id]).isEmpty, "nobody has it: it can be taken")
    let claimed = try fleet.claim(host, 1)
    #expect(try fleet.session.note(FleetEvent(name: "deploy", payload: [6]), for: [id]) == [id])
    #expect(try fleet.session.exchange(other, settling: [], wanting: []).unheard.isEmpty)
    _ = try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .retried, due: hour)], wanting: [])
    let heard = try #require(fleet.session.exchange(other, settling: [], wanting: []).unheard.first)
    #expect(heard.request == id && heard.event.name == "deploy" && heard.event.payload == [6])
    let taken = try fleet.session.take(other, [id])
    // It comes again while the first one is delivered.
    #expect(try fleet.session.note(FleetEvent(name: "deploy", payload: [7]), for: [id]) == [id])
    let settled = try SettledRequest(record: taken[0].record.get(), lane: taken[0].lane, runs: [])
    try fleet.session.settle(other, [settled], heard: [heard])
    let again = try #require(fleet.session.exchange(host, settling: [], wanting: []).unheard.first)
    #expect(again.event.payload == [7])
    _ = try fleet.session.take(other, [id])
    try fleet.session.settle(other, [settled], heard: [again])
    #expect(try fleet.session.exchange(host, settling: [], wanting: []).unheard.isEmpty)
  }

  @Test("a cancel of a request that a host has outlives its return and the loss of its host, and any host learns of it")
  func stopped() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    func cancelled(_ host: String) throws -> [RequestID] { try fleet.session.exchange(host, settling: [], wanting: []).cancelled }
    let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft(), fleet.draft()])
    #expect(try !fleet.session.stop(ids[0]), "nobody has it")
    let claims = try fleet.claim(host, 3)
    for id in ids { #expect(try fleet.session.stop(id)) }
    #expect(try cancelled(other).isEmpty)
    #expect(try Set(cancelled(host)) == Set(ids))
    let ended = [try fleet.settled(claims[0], as: .retried, due: hour), try fleet.settled(claims[1], as: .failed)]
    _ = try fleet.session.exchange(host, settling: ended, wanting: [])
    #expect(try cancelled(other) == [ids[0]], "a dead letter may be retried")
    _ = try fleet.session.fence(host, because: "test")
    let lane = try fleet.session.lane(Lane(fleet.identifier))
    let exchange = try fleet.session.exchange(other, settling: [], wanting: [FleetDemand(fleet.identifier, lane: lane, limit: 3)])
    #expect(exchange.claimed.map(\.id) == [ids[2]] && Set(exchange.cancelled) == [ids[0], ids[2]])
  }

  @Test("a deadline is told of whatever the request needs") func late() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    var draft = try fleet.draft()
    draft.record.request.gates.window = "nightly"
    draft.record.request.deadline = SystemClock().wallTime + .milliseconds(300)
    draft.lane = try fleet.session.lane(draft.record.lane)
    let ids = try fleet.session.enqueue([draft])
    let first = try fleet.session.exchange(host, settling: [], wanting: [])
    #expect(first.late == ids || first.nextDue.map { $0 <= .milliseconds(300) } == true)
    let waiting = try PostgresConnection(fleet.address, name: "waiting")
    try waiting.run(PostgresStatement("SELECT pg_sleep(0.35)"), by: SystemClock.now + .seconds(30))
    #expect(try fleet.session.exchange(host, settling: [], wanting: []).late == ids)
  }

  @Test("claims of a host whose row somebody has deleted are free after a day") func strays() throws {
    let fleet = try TestFleet()
    let (gone, host) = (try fleet.join(), try fleet.join(name: "b"))
    let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft()])
    #expect(try fleet.claim(gone, 2).count == 2)
    for statement in [
      "DELETE FROM taskhost.host WHERE incarnation = '\(gone)'", "UPDATE taskhost.claim SET since = 0 WHERE request = \(ids[0].sequence)",
    ] { _ = try fleet.session.ask(PostgresStatement(statement)) }
    try fleet.session.clean()
    #expect(try fleet.claim(host, 2).map(\.id) == [ids[0]])
  }

  @Test("what a host has not done since its lease has ended counts as missed, even if nobody has fenced it") func missed() throws {
    let fleet = try TestFleet()
    let (gone, host) = (try fleet.join(), try fleet.join(name: "b"))
    func began(_ host: String) throws -> Int64? {
      try fleet.session.ask(PostgresStatement("SELECT began FROM taskhost.host WHERE incarnation = $1::uuid", .text(host))).int(0, 0)
    }
    func awakeSince() throws -> Int64 { try fleet.session.renew(host, identifiers: []).awakeSince.unixMilliseconds }
    #expect(try awakeSince() == began(gone))
    _ = try fleet.session.ask(
      PostgresStatement("UPDATE taskhost.host SET lease_until = taskhost.now_ms() - 1 WHERE incarnation = $1::uuid", .text(gone)))
    #expect(try awakeSince() == began(host))
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
    #expect(try fleet.session.requests(of: [name]).named.mapValues(\.id) == [name: id])
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
