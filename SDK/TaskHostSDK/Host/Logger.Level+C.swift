package import CTaskHost
package import Logging

extension Logger.Level {
  /// The host's level; `critical` is its error.
  package var cValue: taskhost_log_level {
    switch self {
    case .trace: taskhost_log_level(TASKHOST_TRACE)
    case .debug: taskhost_log_level(TASKHOST_DEBUG)
    case .info: taskhost_log_level(TASKHOST_INFO)
    case .notice: taskhost_log_level(TASKHOST_NOTICE)
    case .warning: taskhost_log_level(TASKHOST_WARNING)
    case .error, .critical: taskhost_log_level(TASKHOST_ERROR)
    }
  }
}
