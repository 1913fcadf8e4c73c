import Glibc
public import TaskModel

/// The machine's clocks.
public struct SystemClock: HostClock {
  /// Creates the clock.
  public init() {}

  /// CLOCK_REALTIME, in whole milliseconds.
  public var wallTime: WallTime {
    let time = Self.read(CLOCK_REALTIME)
    return WallTime(unixMilliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// CLOCK_MONOTONIC.
  public var monotonicTime: MonotonicTime { Self.now }

  /// The monotonic time at which the calendar will show `time`; saturates at the ends of the clock.
  public func monotonicTime(at time: WallTime) -> MonotonicTime {
    let (wanted, isFar) = time.unixMilliseconds.multipliedReportingOverflow(by: 1_000_000)
    let (distance, isFarther) = wanted.subtractingReportingOverflow(Self.nanoseconds(of: CLOCK_REALTIME))
    guard !isFar, !isFarther else { return time.unixMilliseconds < 0 ? MonotonicTime(nanoseconds: 0) : .distantFuture }
    return Self.now + .nanoseconds(distance)
  }

  /// The time of the monotonic clock, without a call through the protocol.
  public static var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC)) }

  /// Nanoseconds on the clock that runs from the machine's start, through suspends.
  public static var bootNanoseconds: Int64 { nanoseconds(of: CLOCK_BOOTTIME) }

  /// Waits until `time`, but no longer than a millisecond: the last 130 µs awake, because a thread that sleeps is late by tens of
  /// microseconds.
  public static func waitExactly(until time: MonotonicTime) {
    let end = min(time, now + .milliseconds(1))
    let nap = end + .microseconds(-130)
    if now < nap {
      var until = timespec(tv_sec: Int(nap.nanoseconds / 1_000_000_000), tv_nsec: Int(nap.nanoseconds % 1_000_000_000))
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nil)
    }
    while now < end {}
  }

  /// The processor time of the calling thread.
  public static var threadTime: Duration { .nanoseconds(nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)) }

  /// The processor time of the whole process.
  public static var processTime: Duration { .nanoseconds(nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID)) }

  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    let time = read(clock)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    clock_gettime(clock, &time)
    return time
  }
}
