/// The host's clocks: the system's, or a virtual clock in tests.
public protocol HostClock: Sendable {
  /// The calendar.
  var wallTime: WallTime { get }
  /// The clock of budgets and waits.
  var monotonicTime: MonotonicTime { get }
  /// The monotonic time at which the calendar will show `time`, unless someone sets it; in the past for a time that has passed.
  func monotonicTime(at time: WallTime) -> MonotonicTime
}
