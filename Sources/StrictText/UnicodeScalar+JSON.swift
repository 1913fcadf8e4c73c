extension Unicode.Scalar {
  /// The scalar for a JSON string or an operator's terminal: quotes, backslashes and control characters are escaped as in JSON.
  public var escapedForJSON: String {
    switch value {
    case 0x22: return "\\\""
    case 0x5C: return "\\\\"
    case 0x08: return "\\b"
    case 0x09: return "\\t"
    case 0x0A: return "\\n"
    case 0x0C: return "\\f"
    case 0x0D: return "\\r"
    case 0..<0x20, 0x7F..<0xA0:
      let digits = String(value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: return String(Character(self))
    }
  }
}

extension String {
  /// The text as a JSON string, including its quotes.
  public var quotedForJSON: String { "\"" + unicodeScalars.map(\.escapedForJSON).joined() + "\"" }
}
