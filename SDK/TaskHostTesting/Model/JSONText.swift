/// JSON that you write out, for a payload or settings: `.json(#"{"days": 7}"#)`. It is passed on unchanged, even if it is not valid JSON.
public struct JSONText: Encodable, Sendable {
  /// The text.
  public let text: String

  /// Wraps the text.
  public init(_ text: String) {
    self.text = text
  }
}

extension Encodable where Self == JSONText {
  /// JSON that you write out.
  public static func json(_ text: String) -> JSONText { JSONText(text) }
}
