import CTaskHost

/// Why the host asked a run to stop.
public enum StopReason: Sendable, Equatable {
  /// The host has not asked.
  case none
  /// The run's time budget is spent.
  case budget
  /// The run's request was cancelled.
  case cancelled
  /// A condition that the request requires was lost.
  case conditions
  /// The host is shutting down.
  case draining
  /// A newer request replaced the run's request.
  case replaced
  /// A continued task made no progress for too long.
  case stalled
  /// A reason unknown to this SDK, with its number in `taskhost.h`.
  case other(Int32)

  init(cValue: taskhost_stop_reason) {
    self =
      switch Int(cValue) {
      case TASKHOST_STOP_NONE: .none
      case TASKHOST_STOP_BUDGET: .budget
      case TASKHOST_STOP_CANCELLED: .cancelled
      case TASKHOST_STOP_CONDITIONS: .conditions
      case TASKHOST_STOP_DRAINING: .draining
      case TASKHOST_STOP_REPLACED: .replaced
      case TASKHOST_STOP_STALLED: .stalled
      default: .other(cValue)
      }
  }
}
