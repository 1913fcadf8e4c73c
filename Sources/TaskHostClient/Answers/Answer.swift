package import StrictText

/// JSON from the host: an answer, an event's data, or a part of one.
package struct Answer: Decodable, Sendable {
  /// The whole text that contains `node`.
  private let text: [UInt8]
  package let node: JSONNode

  package var bytes: [UInt8] { Array(text[node.range]) }

  /// Members with bytes from plugins and submitters. They are shown, but not read.
  private static let opaqueMembers = ["payload", "output"]
  /// The maximum number of values, enough for a listing of 10,000 rows.
  private static let values = 20_000_000

  package init(_ text: [UInt8]) throws {
    self.text = text
    node = try JSONReader.read(text, limits: JSONLimits(values: Self.values, opaqueMembers: Self.opaqueMembers))
  }

  package init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? AnswerDecoder else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "only the host's answers can be read so"))
    }
    text = decoder.text
    node = try decoder.present()
  }

  /// Reads the members that `Value` declares, and ignores others.
  ///
  /// - Throws: ``TaskHostError`` if the host's version answers something else.
  package func read<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    do { return try Value(from: AnswerDecoder(node, in: text)) } catch let error as UnexpectedAnswer {
      throw TaskHostError(.unexpected, "the host's answer", "\(error)", remedy: "use taskhost in the host's version")
    }
  }

  package func bytes(of part: JSONNode) -> [UInt8] { Array(text[part.range]) }
}

/// A part of an answer that is both decoded and printed.
package struct Quoted<Value: Decodable>: Decodable {
  package let value: Value
  package let json: Answer

  package init(from decoder: any Decoder) throws {
    value = try Value(from: decoder)
    json = try Answer(from: decoder)
  }
}
