import StrictText

/// A term about a payload: the value of a member of the JSON that was submitted.
struct PayloadTerm: Sendable, Hashable {
  /// A value to compare with.
  struct Value: Sendable, Hashable {
    let text: String
    /// Whether only a string is meant. Otherwise also a number, `true`, `false` or `null` that is written so.
    let isString: Bool
  }

  /// The names of the members, from the outermost.
  let path: [String]
  /// One of them must be there.
  let values: [Value]

  init(_ term: FilterTerm) {
    path = term.path
    values = term.values.map { Value(text: $0.text, isString: $0.isQuoted) }
  }

  /// Whether the member of `document` has one of the values. Any element of an array counts.
  ///
  /// - Parameter bytes: The text of the document.
  func matches(_ document: JSONNode, in bytes: [UInt8]) -> Bool { matches(document, path[...], bytes) }

  /// The reader of JSON bounds how deep this goes.
  private func matches(_ node: JSONNode, _ path: ArraySlice<String>, _ bytes: [UInt8]) -> Bool {
    if let elements = node.array { return elements.contains { matches($0, path, bytes) } }
    guard let name = path.first else { return values.contains { Self.isEqual(node, $0, bytes) } }
    guard case .object(let members) = node.value else { return false }
    // Compares bytes: Swift's == holds for canonically equivalent strings too.
    return members.contains { $0.name.utf8.elementsEqual(name.utf8) && matches($0.node, path.dropFirst(), bytes) }
  }

  private static func isEqual(_ node: JSONNode, _ value: Value, _ bytes: [UInt8]) -> Bool {
    switch node.value {
    case .string(let text): text.utf8.elementsEqual(value.text.utf8)
    case .number, .bool, .null: !value.isString && bytes[node.range].elementsEqual(value.text.utf8)
    case .array, .object, .opaque: false
    }
  }
}
