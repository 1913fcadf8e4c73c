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
