import Glibc
import HostThreads
import TaskModel
import TestSupport
import Testing

@testable import HostWatches

@Suite("The timer that wakes the machine", .timeLimit(.minutes(1))) struct WakeTimerTests {
  private static let clocks = "/proc/self"
  private static let anHour = Duration.seconds(3590) ... .seconds(3601)
  /// Whether this process may set such timers, on a kernel that has them.
  private static let mayWake = (try? WakeTimer(clocks: clocks)) != nil

  private func now() -> Int64 { SystemClock().wallTime.unixMilliseconds }

  @Test("it expires at its time, also at one that was set again or has passed", .enabled(if: mayWake, "needs CAP_WAKE_ALARM"))
  func expires() async throws {
    let timer = try WakeTimer(clocks: Self.clocks)
    #expect(timer.left == nil)
    try timer.set(now() + 3_600_000)
    #expect(Self.anHour.contains(timer.left ?? .zero))
    try timer.rearm()
    #expect(Self.anHour.contains(timer.left ?? .zero))
    for delay in [30, -5_000] as [Int64] {
      try timer.set(now() + delay)
      let isReadable = try await onThread {
        var wait = pollfd(fd: timer.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, 30_000) == 1
      }
      #expect(isReadable)
      #expect(timer.left == nil)
    }
    try timer.set(now() + 3_600_000)
    try timer.set(nil)
    #expect(timer.left == nil)
  }

  @Test("times at the ends of the range do not trap", .enabled(if: mayWake, "needs CAP_WAKE_ALARM"), arguments: [Int64.min, 0, .max])
  func extremes(_ time: Int64) throws {
    let timer = try WakeTimer(clocks: Self.clocks)
    try timer.set(time)
  }

  @Test("a machine without a clock that wakes it is told of")
  func none() throws {
    let failure = #expect(throws: WakeTimer.Failure.self) { try WakeTimer(clocks: "/nonexistent") }
    #expect(failure?.description == "this machine has no clock that wakes it (/nonexistent is empty)")
  }
}
