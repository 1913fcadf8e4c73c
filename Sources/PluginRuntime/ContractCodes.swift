import CTaskHost
import TaskModel

// The numbers of the plugin contract and the values that they stand for.

extension TaskResult {
  /// The meaning of a handler's return value.
  init(_ code: taskhost_result) {
    switch Int(code) {
    case Int(TASKHOST_SUCCESS): self = .success
    case Int(TASKHOST_NOOP): self = .noop
    case Int(TASKHOST_SNOOZE): self = .snooze
    case Int(TASKHOST_RETRY): self = .retry
    case Int(TASKHOST_FAILURE): self = .failure
    default: self = .outOfRange(code)
    }
  }
}

extension StopReason {
  /// The reason's number.
  var code: taskhost_stop_reason {
    switch self {
    case .budget: taskhost_stop_reason(TASKHOST_STOP_BUDGET)
    case .cancelled: taskhost_stop_reason(TASKHOST_STOP_CANCELLED)
    case .conditions: taskhost_stop_reason(TASKHOST_STOP_CONDITIONS)
    case .draining: taskhost_stop_reason(TASKHOST_STOP_DRAINING)
    case .replaced: taskhost_stop_reason(TASKHOST_STOP_REPLACED)
    case .stalled: taskhost_stop_reason(TASKHOST_STOP_STALLED)
    }
  }
}

extension TaskKind {
  /// The kind's number.
  var code: taskhost_kind {
    switch self {
    case .refresh: taskhost_kind(TASKHOST_REFRESH)
    case .processing: taskhost_kind(TASKHOST_PROCESSING)
    case .continued: taskhost_kind(TASKHOST_CONTINUED)
    }
  }

  /// The kind with that number; nil means none.
  init?(code: taskhost_kind) {
    switch Int(code) {
    case Int(TASKHOST_REFRESH): self = .refresh
    case Int(TASKHOST_PROCESSING): self = .processing
    case Int(TASKHOST_CONTINUED): self = .continued
    default: return nil
    }
  }
}

extension LogLine.Level {
  /// The level with that number.
  init(_ code: taskhost_log_level) throws(CallFailure) {
    switch Int(code) {
    case Int(TASKHOST_TRACE): self = .trace
    case Int(TASKHOST_DEBUG): self = .debug
    case Int(TASKHOST_INFO): self = .info
    case Int(TASKHOST_NOTICE): self = .notice
    case Int(TASKHOST_WARNING): self = .warning
    case Int(TASKHOST_ERROR): self = .error
    default: throw CallFailure(.invalid, "log level \(code) is none of TASKHOST_TRACE … TASKHOST_ERROR")
    }
  }
}

/// A value that a plugin says with a number of `taskhost.h`.
protocol ContractCode {
  /// The value with that number; nil means none.
  init?(code: UInt32)
}

extension ConflictPolicy: ContractCode {
  init?(code: UInt32) {
    switch Int(code) {
    case Int(TASKHOST_CONFLICT_NONE): self = .none
    case Int(TASKHOST_CONFLICT_KEEP): self = .keep
    case Int(TASKHOST_CONFLICT_REPLACE): self = .replace
    case Int(TASKHOST_CONFLICT_UPDATE): self = .update
    case Int(TASKHOST_CONFLICT_APPEND): self = .append
    default: return nil
    }
  }
}

extension LostConditionPolicy: ContractCode {
  init?(code: UInt32) {
    switch Int(code) {
    case Int(TASKHOST_LOST_CONDITION_STOP): self = .stop
    case Int(TASKHOST_LOST_CONDITION_FINISH): self = .finish
    default: return nil
    }
  }
}

extension RetryPolicy.Backoff: ContractCode {
  init?(code: UInt32) {
    switch Int(code) {
    case Int(TASKHOST_BACKOFF_EXPONENTIAL): self = .exponential
    case Int(TASKHOST_BACKOFF_LINEAR): self = .linear
    default: return nil
    }
  }
}

extension Dependency.FailurePolicy: ContractCode {
  init?(code: UInt32) {
    switch Int(code) {
    case Int(TASKHOST_ON_FAILURE_FAIL): self = .fail
    case Int(TASKHOST_ON_FAILURE_IGNORE): self = .ignore
    default: return nil
    }
  }
}

extension DaylightPolicy.Gap: ContractCode {
  init?(code: UInt32) {
    switch Int(code) {
    case Int(TASKHOST_GAP_SHIFT): self = .shift
    case Int(TASKHOST_GAP_SKIP): self = .skip
    default: return nil
    }
  }
}

extension DaylightPolicy.Repeated: ContractCode {
  init?(code: UInt32) {
    switch Int(code) {
    case Int(TASKHOST_REPEAT_FIRST): self = .first
    case Int(TASKHOST_REPEAT_LAST): self = .last
    case Int(TASKHOST_REPEAT_BOTH): self = .both
    default: return nil
    }
  }
}

extension Disposition {
  /// The disposition's number.
  var code: UInt32 {
    switch self {
    case .created: UInt32(TASKHOST_CREATED)
    case .kept: UInt32(TASKHOST_KEPT)
    case .replaced: UInt32(TASKHOST_REPLACED)
    case .updated: UInt32(TASKHOST_UPDATED)
    case .appended: UInt32(TASKHOST_APPENDED)
    }
  }
}
