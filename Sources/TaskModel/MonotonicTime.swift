/// A moment of the monotonic clock, in nanoseconds since an arbitrary start. A suspended machine does not count.
///
/// Budgets, grace and every wait of the host are measured on it: a clock that is set never expires anybody.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since the clock's start.
  public var nanoseconds: Int64

  /// The moment that many nanoseconds after the clock's start.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Later than every deadline: "never".
  public static let distantFuture = MonotonicTime(nanoseconds: .max)

  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The moment `duration` later, stopping at ``distantFuture`` instead of overflowing.
  public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
  }

  /// The time from `right` to `left`.
  public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
    .nanoseconds(left.nanoseconds.subtractingReportingOverflow(right.nanoseconds).partialValue)
  }
}
