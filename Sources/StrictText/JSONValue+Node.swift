extension JSONValue {
  /// Reads a text strictly, as ``JSONReader`` does.
  public init(text: [UInt8]) throws(JSONSyntaxError) { self.init(try JSONReader.read(text), of: text) }

  /// - Parameter text: The text that the node was read from.
  init(_ node: JSONNode, of text: [UInt8]) {
    switch node.value {
    case .null, .opaque: self = .null
    case .bool(let truth): self = .bool(truth)
    case .number(let number):
      let written = String(decoding: text[node.range], as: UTF8.self)
      self = number.map { .integer($0) } ?? UInt64(written).map { .unsigned($0) } ?? .number(Double(written) ?? 0)
    case .string(let text): self = .string(text)
    case .array(let elements): self = .array(elements.map { JSONValue($0, of: text) })
    case .object(let members):
      self = .object(Dictionary(members.map { ($0.name, JSONValue($0.node, of: text)) }) { first, _ in first })
    }
  }
}
