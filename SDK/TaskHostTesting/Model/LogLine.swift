import CTaskHost
public import TaskHostSDK

/// A line a plugin logged: control characters escaped, at most 8 KiB.
public struct LogLine: Sendable, Equatable, CustomStringConvertible {
  /// When, on the virtual clock, from the test host's beginning.
  public let time: Duration
  /// How important. The contract has no `critical`.
  public let level: Logger.Level
  /// What it says.
  public let message: String

  /// "warning: disk is slow".
  public var description: String { "\(level): \(message)" }
}

extension Logger.Level {
  /// The level with that number of `taskhost.h`; `nil`: none.
  init?(cValue: taskhost_log_level) {
    switch Int(cValue) {
    case TASKHOST_TRACE: self = .trace
    case TASKHOST_DEBUG: self = .debug
    case TASKHOST_INFO: self = .info
    case TASKHOST_NOTICE: self = .notice
    case TASKHOST_WARNING: self = .warning
    case TASKHOST_ERROR: self = .error
    default: return nil
    }
  }
}
