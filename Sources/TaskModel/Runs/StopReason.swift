/// Why the host asked a run to stop.
public enum StopReason: String, Sendable, CaseIterable {
  /// The run used up its time budget.
  case budget
  /// The run's request was cancelled.
  case cancelled
  /// A required condition was lost.
  case conditions
  /// The host is shutting down.
  case draining
  /// A newer request took its unique key.
  case replaced
  /// A `continued` run made no progress for too long.
  case stalled
}
