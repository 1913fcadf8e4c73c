/// JSON that you write out, for a payload or settings: `.json(#"{"days": 7}"#)`. It is handed over as it is, also where it is not JSON.
public struct JSONText: Encodable, Sendable {
  /// The text.
  public let text: String

  /// That text.
  public init(_ text: String) {
    self.text = text
  }
}

extension Encodable where Self == JSONText {
  /// JSON that you write out.
  public static func json(_ text: String) -> JSONText { JSONText(text) }
}
