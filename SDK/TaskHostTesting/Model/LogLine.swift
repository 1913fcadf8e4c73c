public import TaskHostSDK

/// A line that a plugin logged: control characters escaped, at most 8 KiB.
public struct LogLine: Sendable, Equatable, CustomStringConvertible {
  /// When it was logged, in virtual time since the test host began.
  public let time: Duration
  /// The level. The contract has no `critical`.
  public let level: Logger.Level
  /// The text.
  public let message: String

  /// "warning: disk is slow".
  public var description: String { "\(level): \(message)" }
}
