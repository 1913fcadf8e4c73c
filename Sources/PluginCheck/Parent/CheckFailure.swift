/// Why the checker could not perform a check. It says nothing about the plugin.
public struct CheckFailure: Error, Sendable, CustomStringConvertible {
  /// What was seen.
  public let observed: String

  /// Creates a failure.
  public init(_ observed: String) { self.observed = observed }

  /// What was seen.
  public var description: String { observed }
}
