/// A text of a limit that is malformed or out of range.
public struct LimitSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What the text should have been: `rate`, `quota` or `window`.
  public let kind: String
  /// The text, or the part of it, that is wrong.
  public let text: String
  /// What is wrong with it, and how to write it.
  public let observed: String
  /// A sentence with all three.
  public var description: String { "\(kind) \"\(text)\": \(observed)" }
}
