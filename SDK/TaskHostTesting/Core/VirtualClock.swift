import Synchronization
import TaskModel

/// The clocks of a test host. They can be read with any lock held; the test host's clock thread moves them.
final class VirtualClock: HostClock {
  private let nanoseconds = Atomic<Int64>(0)
  /// What the wall clock was at the beginning, jumps included.
  private let wallStart: Atomic<Int64>

  init(start: WallTime) { wallStart = Atomic(start.unixMilliseconds) }

  /// Time since the test host began.
  var elapsed: Duration { .nanoseconds(nanoseconds.load(ordering: .acquiring)) }
  var monotonicTime: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  var wallTime: WallTime { start + elapsed }
  func monotonicTime(at time: WallTime) -> MonotonicTime { monotonicTime + (time - wallTime) }

  private var start: WallTime { WallTime(unixMilliseconds: wallStart.load(ordering: .acquiring)) }

  /// When that is, since the test host began; negative if it was before.
  func elapsed(at time: WallTime) -> Duration { time - start }

  /// What the calendar is to the clock that nobody sets.
  var reference: ClockReference { ClockReference(boot: "test", offset: start.unixMilliseconds) }

  func move(to moment: Duration) { nanoseconds.store(moment.wholeNanoseconds, ordering: .releasing) }

  func setCalendar(by distance: Duration) { wallStart.store((start + distance).unixMilliseconds, ordering: .releasing) }
}
