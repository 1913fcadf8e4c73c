import StrictText

/// JSON of the host: an answer, an event's data, or a part of one.
struct Answer: Decodable, Sendable {
  /// The whole text that it is in.
  private let text: [UInt8]
  /// What it is.
  let node: JSONNode

  /// The JSON as sent.
  var bytes: [UInt8] { Array(text[node.range]) }

  /// Members with the bytes of others; they are shown, not read.
  private static let opaqueMembers = ["payload", "output"]
  /// Values of a listing of 10,000, and more.
  private static let values = 20_000_000

  /// Reads the JSON of `text`.
  init(_ text: [UInt8]) throws {
    self.text = text
    node = try JSONReader.read(text, limits: JSONLimits(values: Self.values, opaqueMembers: Self.opaqueMembers))
  }

  init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? AnswerDecoder else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "only the host's answers are read so"))
    }
    text = decoder.text
    node = try decoder.present()
  }

  /// The members that `Value` declares; others are left alone.
  ///
  /// - Throws: ``CommandFailure``: the host is of a version that answers something else.
  func read<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    do { return try Value(from: AnswerDecoder(node, in: text)) } catch let error as UnexpectedAnswer {
      throw CommandFailure(.refused, "the host's answer", "\(error)", remedy: "use the taskhost of the host's version")
    }
  }

  /// The text of a part.
  func bytes(of part: JSONNode) -> [UInt8] { Array(text[part.range]) }
}

/// A part of an answer that is both read and passed on.
struct Quoted<Value: Decodable>: Decodable {
  let value: Value
  let json: Answer

  init(from decoder: any Decoder) throws {
    value = try Value(from: decoder)
    json = try Answer(from: decoder)
  }
}
