import HostThreads
import TaskModel
import Testing

@Suite("System clock") struct SystemClockTests {
  private let clock = SystemClock()

  @Test("a wall time ahead is as far ahead on the monotonic clock") func ahead() {
    let time = clock.monotonicTime(at: clock.wallTime + .seconds(100))
    let distance = time - SystemClock.now
    #expect(distance > .seconds(50) && distance <= .seconds(100))
  }

  @Test("wall times beyond the clock are the ends of time", arguments: [Int64.max, Int64.min]) func ends(milliseconds: Int64) {
    let time = clock.monotonicTime(at: WallTime(unixMilliseconds: milliseconds))
    #expect(milliseconds > 0 ? time == .distantFuture : time < SystemClock.now)
  }

  @Test("a wall time that has passed is in the past, however long ago", arguments: [Int64(0), 1, -9_000_000_000_000])
  func past(milliseconds: Int64) { #expect(clock.monotonicTime(at: WallTime(unixMilliseconds: milliseconds)) < SystemClock.now) }

  @Test("neither clock goes back while nobody sets it") func monotonic() {
    var last = SystemClock.now
    for _ in 0..<1000 {
      let now = SystemClock.now
      #expect(now >= last)
      last = now
    }
  }
}
