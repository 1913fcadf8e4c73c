import CTaskHost
import TaskHostSDK

// The numbers of the plugin contract, each beside the value it stands for.

extension ConflictPolicy {
  /// The policy with that number; `nil`: none.
  init?(code: UInt32) {
    switch Int(code) {
    case TASKHOST_CONFLICT_NONE: self = .none
    case TASKHOST_CONFLICT_KEEP: self = .keep
    case TASKHOST_CONFLICT_REPLACE: self = .replace
    case TASKHOST_CONFLICT_UPDATE: self = .update
    case TASKHOST_CONFLICT_APPEND: self = .append
    default: return nil
    }
  }
}

extension StopReason {
  /// The reason's number.
  var code: taskhost_stop_reason {
    switch self {
    case .none: taskhost_stop_reason(TASKHOST_STOP_NONE)
    case .budget: taskhost_stop_reason(TASKHOST_STOP_BUDGET)
    case .cancelled: taskhost_stop_reason(TASKHOST_STOP_CANCELLED)
    case .conditions: taskhost_stop_reason(TASKHOST_STOP_CONDITIONS)
    case .draining: taskhost_stop_reason(TASKHOST_STOP_DRAINING)
    case .replaced: taskhost_stop_reason(TASKHOST_STOP_REPLACED)
    case .stalled: taskhost_stop_reason(TASKHOST_STOP_STALLED)
    case .other(let code): code
    }
  }
}

extension TaskKind {
  /// The kind with that number; `nil`: none.
  init?(code: taskhost_kind) {
    switch Int(code) {
    case TASKHOST_REFRESH: self = .refresh
    case TASKHOST_PROCESSING: self = .processing
    case TASKHOST_CONTINUED: self = .continued
    default: return nil
    }
  }

  /// The kind's number.
  var code: taskhost_kind {
    switch self {
    case .refresh: taskhost_kind(TASKHOST_REFRESH)
    case .processing: taskhost_kind(TASKHOST_PROCESSING)
    case .continued: taskhost_kind(TASKHOST_CONTINUED)
    }
  }

  /// The time a run may take; `nil`: no limit but the stall limit.
  var budget: Duration? {
    switch self {
    case .refresh: .seconds(30)
    case .processing: .seconds(600)
    case .continued: nil
    }
  }

  /// The time a run has after it has expired.
  var grace: Duration { self == .refresh ? .seconds(5) : .seconds(30) }
}

extension Duration {
  /// Whole milliseconds towards zero.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000_000_000
  }
}
