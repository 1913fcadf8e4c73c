/// Why a text is not a valid cron expression.
public struct CronSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The expression.
  public let text: String
  /// What is wrong with it.
  public let observed: String
  /// The expression and what is wrong with it.
  public var description: String { "cron \"\(text)\": \(observed)" }
}
