import MemoryStore
import StoreTestSupport
import TaskModel
import Testing

@testable import FleetStore

struct LeasedRequestStoreTests {
  private let own = MemoryRequestStore(origin: 1)
  private let failing: FailingStore
  private let store: LeasedRequestStore

  init() {
    failing = FailingStore(own)
    store = LeasedRequestStore(failing, fleet: 2)
  }

  private func record(_ sequence: Int64, origin: UInt64, due: Int64 = 0) -> RequestRecord {
    .sample(sequence, origin: origin, due: .ms(due), payload: [UInt8(sequence)])
  }

  @Test func requestsOfBothSidesWithOneSequenceAreApart() throws {
    let (here, there) = (record(7, origin: 1), record(7, origin: 2, due: -5))
    try store.commit { transaction in
      try transaction.insert(here)
      try transaction.insert(there)
    }
    #expect(try store.request(here.id)?.id == here.id)
    #expect(try store.request(there.id)?.due == .ms(-5))
    #expect(try own.request(there.id) == nil)
    let (due, next, live) = try store.commit { transaction in
      (
        try transaction.due(in: here.lane, by: .ms(0), limit: 10).map(\.id), try transaction.nextDue(in: here.lane),
        try transaction.liveCount(of: .sample())
      )
    }
    #expect(due == [there.id, here.id])
    #expect(next == .ms(-5))
    #expect(live == 2)
  }

  @Test func aFailedCommitOfTheOwnStoreUndoesBothSides() throws {
    let there = record(1, origin: 2)
    try store.commit { try $0.insert(there) }
    failing.fail(with: .full("test"))
    #expect(throws: StoreError.full("test")) {
      try store.commit { transaction in
        try transaction.insert(record(2, origin: 2))
        #expect(try transaction.surrender(there.id) != nil)
      }
    }
    failing.fail(with: nil)
    #expect(try store.request(there.id)?.state == .pending)
    #expect(try store.counts() == [.pending: 1])
  }

  @Test func whenTheHostsClockIsSetOnlyItsOwnTimesMove() throws {
    var records = [record(1, origin: 1), record(1, origin: 2)]
    for place in records.indices { records[place].request.clock = .boot }
    try store.commit { transaction in
      for record in records { try transaction.insert(record) }
      try transaction.shiftBootTimes(by: .seconds(60))
    }
    #expect(try records.map { try store.request($0.id)?.due } == [.ms(60_000), .ms(0)])
  }

  @Test func aSurrenderedRequestLeavesWithItsPayloadAndItsRuns() throws {
    let there = record(3, origin: 2)
    let run = RunID(sequence: 9, origin: 1)
    try store.commit { transaction in
      try transaction.insert(there)
      try transaction.start(there.id, run: run, at: .ms(1))
    }
    // A running request is nobody's to give.
    #expect(try store.commit { try $0.surrender(there.id) } == nil)
    let given = try store.commit { transaction in
      try transaction.append(
        RunRecord(
          id: run, request: there.id, identifier: .sample(), attempt: 1, started: .ms(1), ended: .ms(2), outcome: .succeeded))
      try transaction.apply(.ended(run, .succeeded, message: nil, began: nil, at: .ms(2)), to: there.id)
      return try transaction.surrender(there.id)
    }
    #expect(given?.record.state == .succeeded)
    #expect(given?.record.request.payload == [3])
    #expect(given?.runs.map(\.id) == [run])
    #expect(try store.request(there.id) == nil)
    #expect(try store.counts() == [:])
    // The same request may come again.
    try store.commit { try $0.insert(there) }
    // The own store gives nothing.
    let here = record(4, origin: 1)
    try store.commit { try $0.insert(here) }
    #expect(try store.commit { try $0.surrender(RequestID(sequence: 99, origin: 2)) } == nil)
  }
}
