import HostThreads
import TaskModel
import Testing

@Suite("Waiting awake for a short while") struct BriefSpinTests {
  /// How often a wait asked whether it is over; it is at once.
  private func asked(_ spin: inout BriefSpin) -> Int {
    var count = 0
    spin.wait {
      count += 1
      return true
    }
    return count
  }

  @Test("a thread spins after a wait that ended early, until one ends otherwise")
  func spins() {
    var spin = BriefSpin(longest: .seconds(3600))
    #expect(asked(&spin) == 0)
    spin.ended(asAwaited: true)
    #expect(asked(&spin) == 1)
    spin.ended(asAwaited: true)
    #expect(asked(&spin) == 1)
    spin.ended(asAwaited: false)
    #expect(asked(&spin) == 0)
  }

  @Test("a wait that took long ends the spinning, and no spin lasts longer than it may")
  func sleeps() {
    var spin = BriefSpin(longest: .milliseconds(1))
    _ = asked(&spin)
    let began = SystemClock.now
    while SystemClock.now.nanoseconds < began.nanoseconds + 2_000_000 {}
    spin.ended(asAwaited: true)
    #expect(asked(&spin) == 0)
    var other = BriefSpin(longest: .zero)
    other.wait { true }
    other.ended(asAwaited: true)
    other.wait { false }
  }
}
