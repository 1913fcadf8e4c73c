import CTaskHost

/// Why a run was asked to stop.
public enum StopReason: Sendable, Equatable {
  /// It was not.
  case none
  /// Its time budget is spent.
  case budget
  /// Its request was cancelled.
  case cancelled
  /// A condition it requires was lost.
  case conditions
  /// The host is shutting down.
  case draining
  /// A newer request took its unique key.
  case replaced
  /// A continued task without progress for too long.
  case stalled
  /// A reason this SDK does not know, with its number in `taskhost.h`.
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
