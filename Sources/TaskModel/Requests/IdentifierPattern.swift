/// An entry of a list of identifiers: a complete identifier, or a prefix followed by `*`.
public struct IdentifierPattern: Sendable, Hashable, CustomStringConvertible {
  /// The pattern as written, including its final `*`.
  public let text: String

  /// Creates a pattern from `*`, an identifier, or the beginning of an identifier followed by `*`.
  public init(_ text: String) throws(InvalidIdentifier) {
    if text != "*" {
      _ = try TaskIdentifier(text.hasSuffix("*") ? String(text.dropLast()) : text)
    }
    self.text = text
  }

  /// Creates the pattern that covers one identifier alone.
  public init(_ identifier: TaskIdentifier) { text = identifier.rawValue }

  /// The one identifier that the pattern names; nil for a wildcard.
  public var exact: TaskIdentifier? { text.hasSuffix("*") ? nil : try? TaskIdentifier(text) }

  /// Whether the pattern covers `identifier`.
  public func matches(_ identifier: TaskIdentifier) -> Bool {
    text.hasSuffix("*") ? identifier.rawValue.hasPrefix(text.dropLast()) : identifier.rawValue == text
  }

  /// The pattern that covers what both cover; nil if they have nothing in common.
  public func intersection(_ other: IdentifierPattern) -> IdentifierPattern? {
    if covers(other) { return other }
    return other.covers(self) ? self : nil
  }

  /// Whether the pattern covers every identifier that `other` covers.
  public func covers(_ other: IdentifierPattern) -> Bool {
    text.hasSuffix("*") ? other.text.utf8.starts(with: text.utf8.dropLast()) : text == other.text
  }

  /// The pattern as written.
  public var description: String { text }
}
