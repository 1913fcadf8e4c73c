/// A moment of the calendar, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Requests are due at wall times: they survive a restart and follow a changed clock. Budgets use ``MonotonicTime``.
public struct WallTime: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970, UTC; negative before it.
  public var unixMilliseconds: Int64

  /// The moment that many milliseconds after 1970 began.
  public init(unixMilliseconds: Int64) { self.unixMilliseconds = unixMilliseconds }

  /// Later than every time: "never", or "nobody knows when".
  public static let distantFuture = WallTime(unixMilliseconds: .max)

  /// Earlier on the calendar.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.unixMilliseconds < right.unixMilliseconds }

  /// The moment `duration` later, stopping at the ends of the range instead of overflowing.
  public static func + (time: WallTime, duration: Duration) -> WallTime {
    let (sum, overflow) = time.unixMilliseconds.addingReportingOverflow(duration.wholeMilliseconds)
    guard overflow else { return WallTime(unixMilliseconds: sum) }
    return WallTime(unixMilliseconds: duration < .zero ? .min : .max)
  }

  /// The time from `right` to `left`, stopping at the ends of the range.
  public static func - (left: WallTime, right: WallTime) -> Duration {
    let (difference, overflow) = left.unixMilliseconds.subtractingReportingOverflow(right.unixMilliseconds)
    return .milliseconds(overflow ? (left < right ? Int64.min : Int64.max) : difference)
  }
}
