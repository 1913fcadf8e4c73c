import FoundationEssentials
import StrictText

extension JSONValue {
  var text: String? {
    guard case .string(let text) = self, !text.isEmpty else { return nil }
    return text
  }

  /// The number, even if it is written as a string, as some servers write `expires_in`.
  var seconds: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .number(let value): value
    case .string(let text): Double(text)
    case .null, .bool, .array, .object: nil
    }
  }
}

extension JSONEncoder {
  /// Writes members sorted by name, slashes unescaped, and dates in RFC 3339.
  static func sorted(_ more: OutputFormatting = []) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = more.union([.sortedKeys, .withoutEscapingSlashes])
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }
}
