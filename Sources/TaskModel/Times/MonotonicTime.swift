/// A moment of the monotonic clock, in nanoseconds since an arbitrary start. Time while the machine is suspended does not count.
///
/// The host measures budgets, grace and every wait on this clock, so setting the calendar never expires a run.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since the clock's start.
  public var nanoseconds: Int64

  /// The moment that many nanoseconds after the clock's start.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Later than every deadline: "never".
  public static let distantFuture = MonotonicTime(nanoseconds: .max)

  /// Orders by time.
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The moment `duration` later, saturating at the ends of the range.
  public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    MonotonicTime(nanoseconds: time.nanoseconds.adding(saturating: duration.wholeNanoseconds))
  }

  /// The time from `right` to `left`, saturating at the ends of the range.
  public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
    .nanoseconds(left.nanoseconds.subtracting(saturating: right.nanoseconds))
  }
}
