/// Why a run was asked to stop.
public enum StopReason: String, Sendable, CaseIterable {
  /// It used up its time budget.
  case budget
  /// Its request was cancelled.
  case cancelled
  /// A condition it requires was lost.
  case conditions
  /// The host is shutting down.
  case draining
  /// A newer request took its unique key.
  case replaced
  /// `continued`: it made no progress for too long.
  case stalled
}
