import CTaskHost

/// How serious a line of this module's is.
enum LogLevel: Sendable {
  case info
  case warning
  case error

  var cValue: taskhost_log_level {
    switch self {
    case .info: taskhost_log_level(TASKHOST_INFO)
    case .warning: taskhost_log_level(TASKHOST_WARNING)
    case .error: taskhost_log_level(TASKHOST_ERROR)
    }
  }
}
