/// How long triggers are gathered before they make one run.
public struct CoalescingWindow: Sendable, Equatable {
  /// Quiet time: the run is due that long after the last trigger.
  public var debounce: Duration

  /// The run is due at latest that long after the first trigger, however many follow.
  public var maximumDelay: Duration

  /// A window. Default: 2 s of quiet, 30 s at most.
  public init(debounce: Duration = .seconds(2), maximumDelay: Duration = .seconds(30)) {
    self.debounce = debounce
    self.maximumDelay = maximumDelay
  }
}
