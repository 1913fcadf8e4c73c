import FoundationEssentials

/// JSON as the SDK reads and writes it: keys sorted, dates in ISO 8601 with milliseconds.
enum TestJSON {
  /// The bytes of a payload or of settings: text and bytes as they are, anything else as JSON.
  ///
  /// - Throws: `EncodingError`.
  static func bytes(of value: some Encodable) throws -> [UInt8] {
    if let text = value as? JSONText { return Array(text.text.utf8) }
    if let bytes = value as? [UInt8] { return bytes }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
    return [UInt8](try encoder.encode(value))
  }

  /// - Throws: `DecodingError`.
  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      for style in [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()] {
        if let date = try? style.parse(text) { return date }
      }
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date like 2026-01-31T08:30:00Z")
    }
    return try decoder.decode(type, from: Data(bytes))
  }
}
