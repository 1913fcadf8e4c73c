import HostThreads
import TaskModel

/// A clock that moves when it is told to, and both its faces together.
final class ManualClock: HostClock {
  private let passed = Guarded(Duration.zero)
  private static let begin = WallTime(unixMilliseconds: 1_800_000_000_000)

  var wallTime: WallTime { Self.begin + passed.withLock { $0 } }
  var monotonicTime: MonotonicTime { MonotonicTime(nanoseconds: 1_000_000_000) + passed.withLock { $0 } }
  func monotonicTime(at time: WallTime) -> MonotonicTime { monotonicTime + (time - wallTime) }

  func advance(_ duration: Duration) { passed.withLock { $0 += duration } }
}
