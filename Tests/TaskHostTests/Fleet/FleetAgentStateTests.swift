import FleetStore
import HostThreads
import TaskModel
import TaskScheduler
import Testing

@testable import TaskHost

@Suite("Fleet: what a host holds") struct FleetAgentStateTests {
  private static func ended(_ number: Int64, epoch: Int64 = 1) throws -> SurrenderedRequest {
    let record = RequestRecord(
      id: RequestID(sequence: number, origin: 1), request: TaskRequest(identifier: try TaskIdentifier("a")), state: .pending,
      due: .distantPast, submitted: .distantPast)
    return SurrenderedRequest(record: record, runs: [], fencingToken: epoch)
  }

  private static func holding(epoch: Int64, isRead: Bool = true) -> FleetAgent.Holding {
    FleetAgent.Holding(lane: 7, incarnation: "i", epoch: epoch, since: SystemClock.now, bytes: 3, isHandedOver: isRead)
  }

  @Test("a request that was claimed again before its end was noted here stays held")
  func again() throws {
    var state = FleetAgent.State()
    let request = try Self.ended(1)
    state.holdings[request.record.id] = Self.holding(epoch: 1)
    state.settled = [request]
    let ended = state.takeEnded()
    #expect(ended.count == 1 && state.settled.isEmpty)
    state.holdings[request.record.id] = Self.holding(epoch: 2)
    state.cancelled = [request.record.id]
    state.letGo(of: ended)
    #expect(state.holdings[request.record.id]?.epoch == 2 && state.cancelled == [request.record.id])
    // The answer was lost, and the request has been claimed again since: its earlier end must not be recorded a second time.
    state.unrecorded = ended
    #expect(state.takeEnded().isEmpty)
    state.settled = [try Self.ended(1, epoch: 2)]
    state.letGo(of: state.takeEnded())
    #expect(state.holdings.isEmpty && state.cancelled.isEmpty)
  }

  @Test("what an earlier claim has left, as after a lease that has ended, is not the end of a later one")
  func earlier() throws {
    var state = FleetAgent.State()
    let old = try Self.ended(1)
    state.holdings[old.record.id] = Self.holding(epoch: 2)
    state.settled = [old]
    #expect(state.heldCounts(besides: []) == [7: 1])
    #expect(state.stillHeld([(old.record.id, 2)], besides: [(old, Self.holding(epoch: 1))]) == [old.record.id])
    #expect(state.takeEnded().isEmpty && state.settled.isEmpty)
    #expect(state.holdings[old.record.id]?.epoch == 2)
  }

  @Test("what could not be recorded is tried again, before what has ended since")
  func retrying() throws {
    var state = FleetAgent.State()
    for number in 1...2 { state.holdings[RequestID(sequence: Int64(number), origin: 1)] = Self.holding(epoch: 1) }
    state.settled = [try Self.ended(1)]
    state.unrecorded = state.takeEnded()
    state.settled = [try Self.ended(2)]
    #expect(state.heldCounts(besides: []) == [7: 0])
    #expect(state.takeEnded().map(\.request.record.id.sequence) == [1, 2])
    #expect(state.takeEnded().isEmpty)
  }

  @Test("what another transaction keeps from being recorded takes no room, and is tried again after a while")
  func locked() throws {
    var state = FleetAgent.State()
    for number in 1...2 { state.holdings[RequestID(sequence: Int64(number), origin: 1)] = Self.holding(epoch: 1) }
    state.settled = [try Self.ended(1)]
    let due = SystemClock.now + .seconds(1)
    (state.locked, state.lockedDue) = (state.takeEnded(), due)
    #expect(state.heldCounts(besides: []) == [7: 1])
    state.retryLocked(due + (.zero - .milliseconds(1)))
    #expect(state.takeEnded().isEmpty)
    state.retryLocked(due)
    #expect(state.takeEnded().map(\.request.record.id.sequence) == [1] && state.locked.isEmpty)
  }

  @Test("what has ended takes no room, whichever thread records it")
  func room() throws {
    var state = FleetAgent.State()
    for number in 1...10 { state.holdings[RequestID(sequence: Int64(number), origin: 1)] = Self.holding(epoch: 1) }
    state.settled = try (1...2).map { try Self.ended($0) }
    let ended = state.takeEnded()
    state.settled = try (3...5).map { try Self.ended($0) }
    state.recording = [(try Self.ended(6), Self.holding(epoch: 1))]
    #expect(state.heldCounts(besides: ended) == [7: 4])
  }

  @Test("a request that the host cannot read takes no room")
  func unread() throws {
    var state = FleetAgent.State()
    for number in 1...3 { state.holdings[RequestID(sequence: Int64(number), origin: 1)] = Self.holding(epoch: 1, isRead: number == 2) }
    #expect(state.heldCounts(besides: []) == [7: 1] && state.heldBytes == 3)
  }

  @Test("what has ended is weighed as long as it is here, wherever it waits")
  func weight() throws {
    var state = FleetAgent.State()
    let heavy = try (Int64(1)...4).map { number in
      var ended = try Self.ended(number)
      ended.checkpoint = [UInt8](repeating: 0, count: 1000)
      return (request: ended, holding: Self.holding(epoch: 1))
    }
    state.settled = [heavy[0].request]
    (state.unrecorded, state.recording) = ([heavy[1]], [heavy[2]])
    #expect(state.endedBytes(besides: [heavy[3]]) == 4000)
    state.recording = []
    #expect(state.endedBytes(besides: []) == 2000)
  }

  @Test("much that has ended is left to a thread that waits or records, and to none that is busy or pauses")
  func leaving() throws {
    var state = FleetAgent.State()
    for many in [false, true] {
      if many { state.settled = try (1...32).map { try Self.ended($0) } }
      for (sending, isLeft) in [(FleetAgent.Sending.nothing, many), (.ends, true), (.submissions, false), (.pause, false)] {
        state.sending = sending
        #expect(state.areForOutbox == isLeft)
      }
    }
  }

  @Test("large ends are recorded with few others, and at least one at a time")
  func large() throws {
    var state = FleetAgent.State()
    for number in 1...4 { state.holdings[RequestID(sequence: Int64(number), origin: 1)] = Self.holding(epoch: 1) }
    state.settled = try (Int64(1)...4).map { number in
      var ended = try Self.ended(number)
      ended.checkpoint = [UInt8](repeating: 0, count: number == 3 ? 20 << 20 : 7 << 20)
      return ended
    }
    var taken: [[Int64]] = []
    while case let ended = state.takeEnded(), !ended.isEmpty {
      taken.append(ended.map(\.request.record.id.sequence))
      state.letGo(of: ended)
    }
    #expect(taken == [[1, 2], [3], [4]])
  }

  @Test("what is not held any more is not recorded")
  func stale() throws {
    var state = FleetAgent.State()
    state.settled = try (1...40).map { try Self.ended($0) }
    #expect(state.areManySettled)
    #expect(state.takeEnded().isEmpty && !state.areManySettled)
  }
}
