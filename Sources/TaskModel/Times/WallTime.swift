/// A moment of the calendar, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Due times of requests are wall times: they survive a restart and follow a changed clock. Budgets use ``MonotonicTime``.
public struct WallTime: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970, UTC; negative for earlier times.
  public var unixMilliseconds: Int64

  /// The moment that many milliseconds after the start of 1970, UTC.
  public init(unixMilliseconds: Int64) { self.unixMilliseconds = unixMilliseconds }

  /// Before every other time.
  public static let distantPast = WallTime(unixMilliseconds: .min)
  /// Later than every time: "never", or "unknown".
  public static let distantFuture = WallTime(unixMilliseconds: .max)

  /// The moment that many seconds after the start of 1970, UTC, saturating at the ends of the range.
  public init(unixSeconds: Int) { unixMilliseconds = Int64(unixSeconds).multiplied(saturatingBy: 1000) }

  /// The accepted range of times from outside: from 1970 to the end of the year 9999, the last that RFC 3339 can write.
  public static let calendar = WallTime(unixMilliseconds: 0)...WallTime(unixMilliseconds: 253_402_300_799_999)

  /// The times that move when a clock was set. Later and earlier ones stay: "never" stays never, and no sum overflows.
  public static let movable = WallTime(unixMilliseconds: -(1 << 61))...WallTime(unixMilliseconds: 1 << 61)

  /// The moment `duration` later; the same moment outside of ``movable``.
  public func moved(by duration: Duration) -> WallTime { Self.movable.contains(self) ? self + duration : self }

  /// Orders by time.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.unixMilliseconds < right.unixMilliseconds }

  /// The moment `duration` later, saturating at the ends of the range.
  public static func + (time: WallTime, duration: Duration) -> WallTime {
    WallTime(unixMilliseconds: time.unixMilliseconds.adding(saturating: duration.wholeMilliseconds))
  }

  /// The time from `right` to `left`, saturating at the ends of the range.
  public static func - (left: WallTime, right: WallTime) -> Duration {
    .milliseconds(left.unixMilliseconds.subtracting(saturating: right.unixMilliseconds))
  }
}
