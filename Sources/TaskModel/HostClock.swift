/// The host's clocks: the system's, or a virtual one under test.
public protocol HostClock: Sendable {
  /// The calendar.
  var wallTime: WallTime { get }
  /// The clock of budgets and waits.
  var monotonicTime: MonotonicTime { get }
}
