import HostThreads
import TaskModel
import Testing

@testable import TaskHost

@Suite("The fleet's clock at a host") struct FleetClockTests {
  @Test("it is unknown at first, then the database's time, and never later than that", arguments: [Int64(0), 3_600_000, -3_600_000])
  func follows(ahead: Int64) throws {
    let clock = FleetClock()
    #expect(clock.now == nil)
    func real() -> WallTime { WallTime(unixMilliseconds: SystemClock().wallTime.unixMilliseconds + ahead) }
    clock.note(real(), asked: SystemClock.bootNanoseconds - 5_000_000)
    let (before, now) = (real() + .milliseconds(-100), try #require(clock.now))
    #expect((before...real()).contains(now))
  }

  @Test("an answer that took long moves it only if it was wrong")
  func latency() throws {
    let clock = FleetClock()
    let time = SystemClock().wallTime
    clock.note(time, asked: SystemClock.bootNanoseconds)
    let known = try #require(clock.now)
    // Asked ten seconds ago: what is known lies between then and now.
    clock.note(time + .seconds(-5), asked: SystemClock.bootNanoseconds - 10_000_000_000)
    #expect(try #require(clock.now) >= known)
    clock.note(time + .seconds(-20), asked: SystemClock.bootNanoseconds - 10_000_000_000)
    #expect(try #require(clock.now) < known + .seconds(-9))
  }
}
