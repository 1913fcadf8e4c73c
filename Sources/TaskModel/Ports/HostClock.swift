/// The host's clocks: the system's, or a virtual clock in tests.
public protocol HostClock: Sendable {
  /// The current time of the calendar.
  var wallTime: WallTime { get }
  /// The current time of the clock of budgets and waits.
  var monotonicTime: MonotonicTime { get }
  /// The monotonic time at which the calendar will show `time` if nobody sets it; in the past for a time that has passed.
  func monotonicTime(at time: WallTime) -> MonotonicTime
}
