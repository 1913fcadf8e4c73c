/// A malformed or out-of-range text of a limit.
public struct LimitSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What the text should have been: `rate`, `quota` or `window`.
  public let kind: String
  /// The wrong text, or the wrong part of it.
  public let text: String
  /// What is wrong with it, and how to write it.
  public let observed: String
  /// A sentence with all three.
  public var description: String { "\(kind) \"\(text)\": \(observed)" }
}
