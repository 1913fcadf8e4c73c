/// An entry of a list of identifiers: a complete identifier, or a prefix followed by `*`.
public struct IdentifierPattern: Sendable, Hashable, CustomStringConvertible {
  /// The pattern as written, its final `*` included.
  public let text: String

  /// Accepts `*`, an identifier, or the beginning of one followed by `*`.
  public init(_ text: String) throws(InvalidIdentifier) {
    if text != "*" {
      _ = try TaskIdentifier(text.hasSuffix("*") ? String(text.dropLast()) : text)
    }
    self.text = text
  }

  /// The one identifier it names; nil for a wildcard.
  public var exact: TaskIdentifier? { text.hasSuffix("*") ? nil : try? TaskIdentifier(text) }

  /// Whether it covers `identifier`.
  public func matches(_ identifier: TaskIdentifier) -> Bool {
    text.hasSuffix("*") ? identifier.rawValue.hasPrefix(text.dropLast()) : identifier.rawValue == text
  }

  /// The pattern as written.
  public var description: String { text }
}
