import HostThreads
import TaskModel
import Testing

@testable import TaskHost

@Suite("When a host looks at its fleet") struct FleetLooksTests {
  @Test("a small fleet, a host that has requests and one that nobody tells of anything look every 5 s")
  func often() {
    var looks = FleetLooks()
    #expect(looks.longestPause(members: 100, isIdle: true) == .seconds(5))
    // What comes with an answer may come through a pool.
    looks.told(after: .milliseconds(20))
    #expect(looks.longestPause(members: 100, isIdle: true) == .seconds(5))
    looks.told(after: .seconds(1))
    #expect(looks.longestPause(members: 8, isIdle: true) == .seconds(5))
    #expect(looks.longestPause(members: 100, isIdle: false) == .seconds(5))
  }

  @Test(
    "the more hosts there are, the more rarely each one looks, at least every 30 s",
    arguments: [(16, 10), (48, 30), (100, 30), (Int.max / 16, 30)])
  func rarely(members: Int, seconds: Int) {
    var looks = FleetLooks()
    looks.told(after: .seconds(1))
    for _ in 0..<20 {
      let pause = looks.longestPause(members: members, isIdle: true)
      #expect(pause <= .seconds(seconds) && pause >= .seconds(seconds) * 0.75)
    }
  }

  @Test("until the next look is due, only a notification or a lane that is wanted anew is a reason to look")
  func reasons() {
    var looks = FleetLooks()
    #expect(looks.rest(wanting: []) == nil)
    #expect(looks.looked(wanting: [1, 2], next: .seconds(30)) == .seconds(5))
    #expect(looks.rest(wanting: [1, 2]) == .seconds(5))
    #expect(looks.rest(wanting: [1]) == .seconds(5))
    #expect(looks.rest(wanting: [1, 3]) == nil)
    // Nobody needs to be asked before then.
    #expect(looks.rest.map { $0 > .seconds(4) && $0 <= .seconds(5) } == true)
    looks.told(after: .zero)
    #expect(looks.rest == nil && looks.rest(wanting: [1]) == nil)
    // There may be more of what was found.
    _ = looks.looked(wanting: [1], next: .seconds(30))
    #expect(looks.looked(wanting: [1], next: .seconds(30), leftSome: true) == .zero)
    #expect(looks.rest == nil && looks.rest(wanting: [1]) == nil)
    // Without room for it, an end is the next reason to ask.
    #expect(looks.rest(wanting: []) == .seconds(5) && looks.rest != nil)
    #expect(looks.rest(wanting: [1]) == nil)
    _ = looks.looked(wanting: [1], next: .seconds(30))
    #expect(looks.rest(wanting: [1]) == .seconds(5))
    // A lane opens before that.
    looks.opens(in: .seconds(1))
    #expect(looks.rest.map { $0 <= .seconds(2) } == true && looks.rest(wanting: [1]).map { $0 <= .seconds(2) } == true)
    #expect(looks.looked(wanting: [1], next: .seconds(30)) <= .seconds(2))
    looks.opens(in: nil)
    #expect(looks.rest(wanting: [1]) == .seconds(5))
  }

  @Test("an end that is here before its waking is a reason to look: it would be forgotten otherwise; a submission alone is none")
  func early() throws {
    #expect(!FleetAgent.Work().isAsked)
    #expect(FleetAgent.Work(mustLook: true).isAsked)
    #expect(!FleetAgent.Work(added: 1).isAsked)
    let record = RequestRecord(
      id: RequestID(sequence: 1, origin: 1), request: TaskRequest(identifier: try TaskIdentifier("a")), state: .succeeded,
      due: .distantPast,
      submitted: .distantPast)
    let ended = SurrenderedRequest(record: record, runs: [], eventPayload: nil, checkpoint: nil)
    #expect(FleetAgent.Work(settled: [(ended, .init(lane: 1, incarnation: "", epoch: 1, since: SystemClock.now, bytes: 0))]).isAsked)
  }
}
