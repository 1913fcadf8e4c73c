import Synchronization
import TaskModel

/// The clocks of a test host. Any thread may read them, with any lock held; only the test host's clock thread moves them.
final class VirtualClock: HostClock {
  private let nanoseconds = Atomic<Int64>(0)
  /// The wall clock at the beginning, plus all later jumps.
  private let wallStart: Atomic<Int64>

  init(start: WallTime) { wallStart = Atomic(start.unixMilliseconds) }

  var elapsed: Duration { .nanoseconds(nanoseconds.load(ordering: .acquiring)) }
  var monotonicTime: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  var wallTime: WallTime { start + elapsed }
  func monotonicTime(at time: WallTime) -> MonotonicTime { monotonicTime + (time - wallTime) }

  private var start: WallTime { WallTime(unixMilliseconds: wallStart.load(ordering: .acquiring)) }

  /// The moment since the test host began; negative if it was before.
  func elapsed(at time: WallTime) -> Duration { time - start }

  /// The calendar's offset from the monotonic clock.
  var reference: ClockReference { ClockReference(boot: "test", offset: start.unixMilliseconds) }

  func move(to moment: Duration) { nanoseconds.store(moment.wholeNanoseconds, ordering: .releasing) }

  func setCalendar(by distance: Duration) { wallStart.store((start + distance).unixMilliseconds, ordering: .releasing) }
}
