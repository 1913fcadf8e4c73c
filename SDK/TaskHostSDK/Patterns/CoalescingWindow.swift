/// How long triggers are collected before a run.
public struct CoalescingWindow: Sendable, Equatable {
  /// Quiet time: the run is due this long after the last trigger.
  public var debounce: Duration

  /// The run is due at the latest this long after the first trigger, however many follow.
  public var maximumDelay: Duration

  /// A window. Default: 2 s of quiet, 30 s at most.
  public init(debounce: Duration = .seconds(2), maximumDelay: Duration = .seconds(30)) {
    self.debounce = debounce
    self.maximumDelay = maximumDelay
  }
}
