import FleetStore
import TaskModel
import TaskStore
import Testing

@testable import TaskHost

/// Which requests of a store go into a fleet.
struct FleetImportPlanTests {
  private static let store: UInt64 = 5
  private static let fleet: UInt64 = 6
  private let task, other: TaskIdentifier

  init() throws { (task, other) = (try TaskIdentifier("org.example.task"), try TaskIdentifier("org.example.other")) }

  private func id(_ number: Int64) -> RequestID { RequestID(sequence: number, origin: Self.store) }

  private func request(
    _ number: Int64, of identifier: TaskIdentifier? = nil, _ state: RequestState = .pending, after: [Int64] = [],
    ended: RequestState? = nil, _ change: (inout TaskRequest) -> Void = { _ in }
  ) -> ArchivedRequest {
    var request = TaskRequest(identifier: identifier ?? task)
    request.after = after.map { Dependency(.request(id($0))) }
    change(&request)
    let record = RequestRecord(
      id: id(number), request: request, state: state, due: WallTime(unixMilliseconds: 1), submitted: WallTime(unixMilliseconds: 0),
      blockedBy: state == .blocked ? after.first.map { id($0) } : nil, run: state == .running ? RunID(sequence: 1, origin: 5) : nil)
    return ArchivedRequest(
      record: record, edges: after.map { DependencyRecord(predecessor: id($0), onFailure: .fail, ended: ended, output: [7]) })
  }

  private func plan(_ live: [ArchivedRequest], ended: [ArchivedRequest] = [], known: FleetImportPlan.Known = .init()) -> FleetImportPlan {
    let archive = ArchivedRequests(
      origin: Self.store, live: live, ended: ended,
      keys: ended.map { .init(key: "k", fingerprint: 1, request: $0.record.id, submitted: $0.record.submitted) })
    return FleetImportPlan(archive, of: { $0 == task }, known: known)
  }

  private func stays(_ plan: FleetImportPlan) -> [Int64: FleetImportPlan.Stay] {
    Dictionary(uniqueKeysWithValues: plan.staying.map { ($0.record.id.sequence, $0.why) })
  }

  @Test func anEndedRequestWhoseKeyTheFleetHasStays() {
    var known = FleetImportPlan.Known()
    known.idempotencyKeys = ["k"]
    let plan = plan([], ended: [request(1, .succeeded)], known: known)
    #expect(plan.ended.isEmpty && plan.keys.isEmpty && plan.keysLeft == 1)
  }

  @Test func whatWaitsForEachOtherGoesTogetherOrStaysTogether() {
    let plan = plan([
      request(1), request(2, .blocked, after: [1]), request(3, .blocked, after: [2]),
      // The predecessor has another identifier.
      request(4, of: other), request(5, .blocked, after: [4]), request(6, .blocked, after: [5]),
      // What waits for it has.
      request(7), request(8, of: other, .blocked, after: [7]),
      // The predecessor runs.
      request(9, .running), request(10, .blocked, after: [9]),
      // It has ended, and its output is in the edge.
      request(11, .pending, after: [4], ended: .succeeded),
      // It is not in the archive.
      request(12, .blocked, after: [99]),
    ])
    #expect(plan.going.map(\.record.id.sequence) == [1, 2, 3, 11])
    #expect(
      stays(plan) == [
        4: .otherIdentifier, 5: .together, 6: .together, 7: .together, 8: .otherIdentifier, 9: .running, 10: .together, 12: .incomplete,
      ])
  }

  @Test func aDeadLetterGoesWithTheOneThatMadeItFail() {
    let plan = plan([
      request(1, .failed), request(2, .failed, after: [1], ended: .failed),
      request(3, of: other, .failed), request(4, .failed, after: [3], ended: .failed),
      // It goes on without its predecessor.
      request(5, .pending, after: [3], ended: .failed),
    ])
    #expect(plan.going.map(\.record.id.sequence) == [1, 2, 5])
    #expect(stays(plan) == [3: .otherIdentifier, 4: .together])
  }

  @Test func whatTheFleetCannotHoldOrHasStays() throws {
    var known = FleetImportPlan.Known()
    known.uniqueKeys = [.init(task, "held")]
    known.idempotencyKeys = ["used"]
    known.imported = [id(1): RequestID(sequence: 100, origin: Self.fleet)]
    let plan = plan(
      [
        request(1), request(2) { ($0.uniqueKey, $0.onConflict) = ("held", .keep) },
        request(3, .failed) { ($0.uniqueKey, $0.onConflict) = ("held", .keep) }, request(4) { $0.idempotencyKey = "used" },
        request(5) { $0.jitter = .seconds(1) },
      ], known: known)
    #expect(plan.alreadyThere == 1)
    #expect(plan.going.map(\.record.id.sequence) == [3])
    let stays = stays(plan)
    #expect(stays[2] == .uniqueKey && stays[4] == .idempotencyKey)
    guard case .unsupported(let why) = try #require(stays[5]) else { return #expect(Bool(false), "\(stays)") }
    #expect(why.contains("jitter_ms without a unique key"))
  }

  @Test func allIdsBecomeThoseOfTheFleetInTheSameOrder() throws {
    let plan = plan([request(3, .blocked, after: [1, 2]), request(2)], ended: [request(4, .succeeded)])
    #expect(plan.going.isEmpty, "1 is not in the archive")
    var edges = request(3, .blocked, after: [1, 2])
    edges.edges[0].ended = .succeeded
    let whole = self.plan([edges, request(2)], ended: [request(4, .succeeded)])
    // 1 has no row, and 4 comes for its key.
    #expect(whole.idCount == 4)
    let drawn = [40, 10, 30, 20].map { RequestID(sequence: $0, origin: Self.fleet) }
    let arrivals = whole.arrivals(
      drawn, known: [:],
      windows: [.init(identifier: task, key: "w", request: id(9), until: .distantFuture)])
    func fleet(_ number: Int64) -> RequestID { RequestID(sequence: number, origin: Self.fleet) }
    #expect(arrivals.requests.map(\.archived.record.id) == [fleet(20), fleet(30), fleet(40)])
    #expect(arrivals.requests.map(\.origin) == [id(2), id(3), id(4)])
    let blocked = arrivals.requests[1].archived
    #expect(blocked.edges.map(\.predecessor) == [fleet(10), fleet(20)] && blocked.edges[0].output == [7])
    #expect(blocked.record.request.after == [Dependency(.request(fleet(10))), Dependency(.request(fleet(20)))])
    #expect(arrivals.keys.map(\.request) == [fleet(40)])
    #expect(arrivals.windows.isEmpty, "its request is not there")
  }
}
