import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("The lanes that need a turn") struct AgendaTests {
  private let agenda = Agenda()
  private let handler: HandlerState

  init() { handler = HandlerState(contract: .sample(), agenda: agenda) }

  private func at(_ second: Int) -> WallTime { .testStart + .seconds(second) }

  /// The lane for `number`. Its next request is due at `second`; if nil, none is pending.
  private func lane(_ number: Int, due second: Int?) -> LaneState {
    var gates = RunConstraints()
    gates.concurrencyKey = "\(number)"
    let lane = handler.lane(gates)
    lane.nextDue = second.map { .at(at($0)) } ?? .never
    return lane
  }

  private func present(by second: Int) -> [String] {
    agenda.lanes(dueBy: at(second)).compactMap(\.gates.concurrencyKey).sorted()
  }

  /// The lanes that wait, in order, as many as `count`.
  private func waiting(_ count: Int = .max) -> [String] {
    var keys: [String] = []
    agenda.visitWaiting { lane in
      lane.gates.concurrencyKey.map { keys.append($0) }
      return keys.count < count
    }
    return keys
  }

  @Test("a lane is present from its time on, and one whose time is unknown always")
  func times() {
    _ = lane(1, due: 10)
    _ = lane(2, due: 20)
    let unknown = lane(3, due: nil)
    unknown.nextDue = .unknown
    #expect(present(by: 9) == ["3"])
    #expect(present(by: 10) == ["1", "3"])
    #expect(present(by: 30) == ["1", "2", "3"])
    // A time that has not come takes it back.
    #expect(present(by: 19) == ["1", "3"])
    #expect(waiting() == ["2"])
  }

  @Test("a lane follows its time, earlier or later, also while it is present; without a request it is gone")
  func changes() {
    let (first, second) = (lane(1, due: 10), lane(2, due: 20))
    first.nextDue = .at(at(30))
    second.nextDue = .at(at(5))
    #expect(present(by: 10) == ["2"])
    #expect(waiting() == ["1"])
    second.nextDue = .at(at(40))
    #expect(present(by: 35) == ["1"])
    first.nextDue = .never
    second.nextDue = .never
    #expect(present(by: 100) == [])
    #expect(waiting() == [])
    first.nextDue = .at(at(50))
    #expect(present(by: 100) == ["1"])
  }

  @Test("those that wait are visited by their times, as far as wanted, and stay")
  func order() {
    let times = [40, 10, 30, 20, 50]
    let lanes = times.enumerated().map { lane($0.offset, due: $0.element) }
    lanes[1].nextDue = .at(at(45))
    #expect(present(by: 0) == [])
    #expect(waiting() == ["3", "2", "0", "1", "4"])
    #expect(waiting(2) == ["3", "2"])
    #expect(waiting() == ["3", "2", "0", "1", "4"])
  }
}
