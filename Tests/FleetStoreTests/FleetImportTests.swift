import HostThreads
import PostgresTestSupport
import TaskModel
import TaskStore
import TestSupport
import Testing

@testable import FleetStore

/// Requests that come from a store.
struct FleetImportTests {
  private static let store: UInt64 = 5

  private func record(
    _ id: RequestID, in fleet: TestFleet, _ state: RequestState = .pending, key: String? = nil, payload: [UInt8] = [],
    due: WallTime = WallTime(unixMilliseconds: 0)
  ) -> RequestRecord {
    var request = TaskRequest(identifier: fleet.identifier, payload: payload)
    request.retry = RetryPolicy()
    request.uniqueKey = key
    if key != nil { request.onConflict = .keep }
    return RequestRecord(
      id: id, request: request, state: state, due: due, submitted: WallTime(unixMilliseconds: 0), attemptsSpent: 1,
      ended: state.isFinal ? WallTime(unixMilliseconds: 1) : nil)
  }

  private func arrival(_ archived: ArchivedRequest, from sequence: Int64) -> FleetImport.Request {
    FleetImport.Request(archived, from: RequestID(sequence: sequence, origin: Self.store))
  }

  @Test func whatCameIsAsItWasInTheStore() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let ids = try fleet.session.draw(5).sorted()
    let hour = SystemClock().wallTime + .seconds(3600)
    var arrivals = FleetImport()
    let first = ArchivedRequest(
      record: record(ids[0], in: fleet, key: "k", payload: [1]), eventPayload: [2], checkpoint: [3],
      edges: [DependencyRecord(predecessor: ids[4], onFailure: .fail, ended: .succeeded, output: [9])])
    var waiting = record(ids[1], in: fleet, .blocked)
    waiting.blockedBy = ids[0]
    arrivals.requests = [
      arrival(first, from: 10),
      arrival(ArchivedRequest(record: waiting, edges: [DependencyRecord(predecessor: ids[0], onFailure: .fail)]), from: 11),
      arrival(ArchivedRequest(record: record(ids[2], in: fleet, .failed, key: "k")), from: 12),
      arrival(ArchivedRequest(record: record(ids[3], in: fleet, .succeeded)), from: 13),
    ]
    arrivals.keys = [.init(key: "once", fingerprint: .max, request: ids[3], submitted: WallTime(unixMilliseconds: 7))]
    arrivals.windows = [
      .init(identifier: fleet.identifier, key: "w", request: ids[3], until: hour),
      .init(identifier: fleet.identifier, key: "past", request: ids[3], until: WallTime(unixMilliseconds: 1)),
    ]
    var sent: [Int] = []
    let added = try fleet.session.bringIn(arrivals) { sent.append($0) }
    #expect(added == (1, 1) && sent == [4])
    #expect(try fleet.session.request(ids[2])?.state == .failed && fleet.session.request(ids[3])?.state == .succeeded)
    #expect(try fleet.session.known(["once"])["once"]?.fingerprint == .max)
    #expect(try fleet.session.windows(of: [(fleet.identifier, "w"), (fleet.identifier, "past")]).map(\.request) == [ids[3]])
    let known = try fleet.session.imported(from: Self.store)
    #expect(known.count == 4 && known[RequestID(sequence: 11, origin: Self.store)] == ids[1])
    let claimed = try fleet.claim(host, 10)
    #expect(claimed.map(\.id) == [ids[0]])
    #expect(claimed[0].eventPayload == [2] && claimed[0].checkpoint == [3])
    #expect(try claimed[0].record.get().attemptsSpent == 1 && claimed[0].record.get().request.payload == [1])
    #expect(try fleet.session.edges(of: [ids[0]])[ids[0]]?.map(\.output) == [[9]])
    let exchange = try fleet.session.exchange(host, settling: [fleet.settled(claimed[0], as: .succeeded)], wanting: [])
    #expect(exchange.undecided == [ids[1]], "the one that waits is told")
  }

  @Test func aKeyThatIsTakenMeanwhileUndoesAll() throws {
    let fleet = try TestFleet()
    let ids = try fleet.session.draw(501).sorted()
    var arrivals = FleetImport()
    for (index, id) in ids.enumerated() {
      arrivals.requests.append(
        arrival(ArchivedRequest(record: record(id, in: fleet, key: index == 500 ? "k" : nil)), from: Int64(index)))
    }
    _ = try fleet.session.enqueue(named: [fleet.draft(key: "k")])
    #expect(throws: FleetError.changed) { try fleet.session.bringIn(arrivals) { _ in } }
    #expect(try fleet.session.imported(from: Self.store).isEmpty)
    #expect(try fleet.session.counts().ready == 1)
    // The connection can be used, and what was left out is not in the way.
    arrivals.requests.removeLast()
    _ = try fleet.session.bringIn(arrivals) { _ in }
    #expect(try fleet.session.counts().ready == 501)
    // The same again is not there twice.
    #expect(throws: FleetError.changed) { try fleet.session.bringIn(arrivals) { _ in } }
    #expect(try fleet.session.counts().ready == 501)
  }

  @Test func anImportedScheduleIsNotAbandonedBeforeItsHostHasJoined() throws {
    let fleet = try TestFleet()
    let id = try fleet.session.draw(1)[0]
    let name = ScheduleName(fleet.identifier)
    var arrivals = FleetImport()
    arrivals.requests = [arrival(ArchivedRequest(record: record(id, in: fleet, key: name.uniqueKey)), from: 1)]
    _ = try fleet.session.bringIn(arrivals) { _ in }
    _ = try fleet.join(name: "other")
    #expect(try fleet.session.declare([], host: "other").isEmpty)
    _ = try fleet.session.ask(PostgresStatement("UPDATE taskhost.schedule SET since = since - 2 * 86400000"))
    try fleet.session.clean()
    _ = try fleet.join(name: "third")
    #expect(try fleet.session.declare([], host: "third") == [id])
  }
}
