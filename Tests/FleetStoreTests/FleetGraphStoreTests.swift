import HostThreads
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

/// Which request waits for which, while hosts end and change them at the same time.
struct FleetGraphStoreTests {
  /// Adds a request that waits for others, as a host does after it has looked at them.
  private func follow(_ predecessors: [RequestID], in fleet: TestFleet, as host: String) throws -> RequestID {
    let id = try #require(try fleet.session.draw(1).first)
    var draft = try fleet.draft()
    let drafted = draft.record
    draft.record = RequestRecord(
      id: id, request: drafted.request, state: .blocked, due: drafted.due, submitted: drafted.submitted, blockedBy: predecessors.first)
    (draft.isDrawn, draft.edges) = (true, predecessors.map { DependencyRecord(predecessor: $0, onFailure: .fail) })
    try fleet.session.settle(host, [], adding: [draft])
    return id
  }

  @Test func whatWaitsIsToldOfTheEndAndFindsTheOutput() throws {
    let fleet = try TestFleet()
    let (host, other) = (try fleet.join(), try fleet.join(name: "b"))
    let first = try fleet.session.enqueue([fleet.draft()])[0]
    let claimed = try fleet.claim(other, 1)
    // The host that runs it knows nothing of this.
    let waiting = try follow([first], in: fleet, as: host)
    #expect(try fleet.session.request(waiting)?.state == .blocked)
    #expect(try fleet.claim(host, 10).isEmpty)
    var done = try fleet.settled(claimed[0], as: .succeeded)
    done.runs[0].report.output = [7, 8]
    let exchange = try fleet.session.exchange(other, settling: [done], wanting: [])
    #expect(exchange.undecided == [waiting], "it is seen at once")
    #expect(try fleet.session.take(host, [waiting]).count == 1)
    #expect(try fleet.session.exchange(other, settling: [], wanting: []).undecided.isEmpty, "one host decides")
    let edges = try fleet.session.takeEdges(host, of: [waiting], with: [])
    #expect(edges[waiting] == [DependencyRecord(predecessor: first, onFailure: .fail, ended: .succeeded, output: [7, 8])])
    // The host is lost before it has decided.
    #expect(try fleet.session.fence("a", because: "test").hosts == 1)
    #expect(try fleet.session.exchange(other, settling: [], wanting: []).undecided == [waiting])
    var record = try fleet.session.take(other, [waiting])[0].record.get()
    #expect(try fleet.session.takeEdges(other, of: [waiting], with: []) == edges)
    try record.apply(.unblocked)
    var decided = SettledRequest(record: record, lane: claimed[0].lane, runs: [])
    decided.edges = edges[waiting] ?? []
    try fleet.session.settle(other, [decided])
    #expect(try fleet.claim(other, 10).map(\.id) == [waiting])
  }

  @Test func whatWaitsForMoreIsGivenNoOutputsAndLosesNone() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft()])
    let claimed = try fleet.claim(host, 2)
    let waiting = try follow(ids, in: fleet, as: host)
    var found: [[[UInt8]]] = []
    for (claim, output) in zip(claimed, [[7], [8]] as [[UInt8]]) {
      var done = try fleet.settled(claim, as: .succeeded)
      done.runs[0].report.output = output
      _ = try fleet.session.exchange(host, settling: [done], wanting: [])
      // It is looked at twice after each end, as by two hosts of which the first one is lost.
      for _ in 0..<2 {
        let taken = try #require(try fleet.session.take(host, [waiting]).first)
        #expect(try (fleet.session.bytes(of: [waiting])[waiting] ?? 0) <= 1 + Limits.payloadBytes)
        let edges = try fleet.session.takeEdges(host, of: [waiting], with: [])[waiting] ?? []
        found.append(edges.map(\.output))
        var given = SettledRequest(record: try taken.record.get(), lane: taken.lane, runs: [])
        given.edges = edges
        try fleet.session.settle(host, [given])
      }
    }
    // The second look at the first end finds it known, and not needed yet.
    #expect(found == [[[7], []], [[], []], [[7], [8]], [[7], [8]]])
    #expect(try fleet.session.bytes(of: [waiting])[waiting] == 2)
  }

  @Test func aRequestWithOthersBehindItCannotBeginToRepeat() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    var draft = try fleet.draft()
    // The submitter chooses the names of resources.
    draft.record.request.gates.resources = ["cron": 1, "a\"}": 2, "every_ms": 3]
    draft = FleetDraft(record: draft.record, lane: try fleet.session.lane(draft.record.lane))
    let first = try fleet.session.enqueue([draft])[0]
    let waiting = try follow([first], in: fleet, as: host)
    func repeatIt() throws {
      let taken = try #require(try fleet.session.take(host, [first]).first)
      var record = try taken.record.get()
      record.request.repetition = RepeatRule(.every(.seconds(60)))
      try fleet.session.settle(host, [SettledRequest(record: record, lane: taken.lane, runs: [])])
    }
    let refused = #expect(throws: FleetError.self) { try repeatIt() }
    #expect(refused == .barred("\(waiting) waits for request \(first) to end, so it cannot repeat: cancel \(waiting) first"))
    _ = try fleet.session.giveBackUnknown(host, besides: [])
    var taken = try #require(try fleet.session.take(host, [waiting]).first)
    var record = try taken.record.get()
    try record.apply(.cancelled)
    try fleet.session.settle(host, [SettledRequest(record: record, lane: taken.lane, runs: [])])
    try repeatIt()
    #expect(throws: FleetError.changed) { try follow([first], in: fleet, as: host) }
    // What repeats already goes on, whoever changes it.
    try repeatIt()
    taken = try #require(try fleet.session.take(host, [first]).first)
    #expect(try taken.record.get().isRepeating)
  }

  @Test func nobodyBeginsToWaitForWhatHasJustEnded() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft()])
    let claimed = try fleet.claim(host, 2)
    _ = try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: [])
    #expect(throws: FleetError.changed) { try follow([claimed[0].id], in: fleet, as: host) }
    _ = try fleet.session.exchange(host, settling: [fleet.settled(claimed[1], as: .failed)], wanting: [])
    #expect(throws: FleetError.changed) { try follow(ids, in: fleet, as: host) }
    #expect(try fleet.session.counts().ready == 0, "nothing of it is there")
  }

  @Test func whatFailedBecauseOfARequestIsFoundFromIt() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let first = try fleet.session.enqueue([fleet.draft()])[0]
    let next = try follow([first], in: fleet, as: host)
    let last = try follow([next], in: fleet, as: host)
    _ = try fleet.session.exchange(host, settling: [fleet.settled(fleet.claim(host, 1)[0], as: .failed)], wanting: [])
    for (id, predecessor) in [(next, first), (last, next)] {
      let taken = try fleet.session.take(host, [id])[0]
      let edges = try fleet.session.takeEdges(host, of: [id], with: [])[id] ?? []
      #expect(edges.map(\.ended) == [.failed] && edges.map(\.predecessor) == [predecessor])
      var record = try taken.record.get()
      try record.apply(.predecessorFailed)
      record.ended = SystemClock().wallTime
      var failed = SettledRequest(record: record, lane: taken.lane, runs: [])
      failed.edges = edges
      try fleet.session.settle(host, [failed])
    }
    #expect(try Set(fleet.session.failed(becauseOf: [first])) == [first, next, last])
    #expect(try Set(fleet.session.leading(to: [last])) == [first, next])
    // Discarded, it is nobody's predecessor, and has none.
    let taken = try fleet.session.take(host, [last])[0]
    var record = try taken.record.get()
    try record.apply(.discarded)
    try fleet.session.settle(host, [SettledRequest(record: record, lane: taken.lane, runs: [])])
    #expect(try fleet.session.edges(of: [last]).isEmpty)
  }
}
