package import FoundationEssentials

/// The JSON of payloads, settings, outputs, state and checkpoints: sorted keys, and dates in ISO 8601 with milliseconds.
package enum JSON {
  package static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
    return [UInt8](try encoder.encode(value))
  }

  /// Empty bytes mean `{}`, so a type with only optional members needs no payload. Dates may omit the fraction.
  ///
  /// - Throws: `DecodingError`; ``describe(_:as:)`` turns it into a sentence.
  package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try decoder.decode(type, from: bytes.isEmpty ? Data("{}".utf8) : Data(bytes))
  }

  /// The decoder for values, which rejects empty bytes.
  package static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      let styles = [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()]
      for style in styles {
        if let date = try? style.parse(text) { return date }
      }
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date like 2026-01-31T08:30:00Z")
    }
    return decoder
  }

  /// A sentence with the place, such as `payload.items[2].name: missing`. `root` names the whole.
  static func describe(_ error: DecodingError, as root: String) -> String {
    switch error {
    case .keyNotFound(let key, let context):
      "\(place(context.codingPath + [key], in: root)): missing"
    case .valueNotFound(let type, let context):
      "\(place(context.codingPath, in: root)): expected \(type), found null"
    case .typeMismatch(_, let context), .dataCorrupted(let context):
      "\(place(context.codingPath, in: root)): \(context.debugDescription)"
    @unknown default:
      "\(root): \(error)"
    }
  }

  private static func place(_ path: [any CodingKey], in root: String) -> String {
    path.reduce(into: root) { place, key in
      if let index = key.intValue {
        place += "[\(index)]"
      } else {
        place += ".\(key.stringValue)"
      }
    }
  }
}
