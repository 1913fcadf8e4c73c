/// The host's clocks: the system's, or a virtual one under test.
public protocol HostClock: Sendable {
  /// The calendar.
  var wallTime: WallTime { get }
  /// The clock of budgets and waits.
  var monotonicTime: MonotonicTime { get }
  /// When, on the clock of waits, the calendar will show `time`, if nobody sets it; in the past for a time that has passed.
  func monotonicTime(at time: WallTime) -> MonotonicTime
}
