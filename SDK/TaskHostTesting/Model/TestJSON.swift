import FoundationEssentials
import TaskHostSDK

/// JSON as the SDK reads and writes it: keys sorted, dates in ISO 8601 with milliseconds.
enum TestJSON {
  /// The bytes of a payload or of settings: text and bytes unchanged, anything else as JSON.
  ///
  /// - Throws: `EncodingError`.
  static func bytes(of value: some Encodable) throws -> [UInt8] {
    if let text = value as? JSONText { return Array(text.text.utf8) }
    if let bytes = value as? [UInt8] { return bytes }
    return try JSON.encode(value)
  }

  /// - Throws: `DecodingError`.
  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try JSON.decoder.decode(type, from: Data(bytes))
  }
}
