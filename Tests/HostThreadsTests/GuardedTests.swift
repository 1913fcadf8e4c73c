import HostThreads
import TaskModel
import Testing

@Suite("A guarded value") struct GuardedTests {
  @Test("a wait without a value ends at its deadline, not before", arguments: [-1, 0, 1, 30]) func deadline(milliseconds: Int64) {
    let deadline = SystemClock.now + .milliseconds(milliseconds)
    #expect(Guarded(0).wait(until: deadline) { (_) -> Int? in nil } == nil)
    #expect(SystemClock.now >= deadline)
  }

  @Test("a value that is there is taken at once, even after the deadline") func late() {
    let guarded = Guarded<Int?>(7)
    #expect(guarded.wait(until: SystemClock.now + .seconds(-1)) { $0.take() } == 7)
    #expect(guarded.withLock { $0 } == nil)
  }

  @Test("a signal has a waiting thread look again, and the time it looks again by may change") func turns() throws {
    let turn = Guarded(0)
    try HostThread.start("pong") { take(turn, odd: true) }
    take(turn, odd: false)
    #expect(turn.wait(until: SystemClock.now + .seconds(60)) { (turn) -> Int? in turn == 2000 ? turn : nil } == 2000)
  }

  private func take(_ turn: Guarded<Int>, odd: Bool) {
    for _ in 0..<1000 {
      turn.wait { (turn) -> Guarded<Int>.Look<Void> in
        guard (turn % 2 == 1) == odd else { return .again(by: SystemClock.now + .seconds(Int64(turn + 1))) }
        turn += 1
        return .done(())
      }
      turn.broadcast()
    }
  }
}
