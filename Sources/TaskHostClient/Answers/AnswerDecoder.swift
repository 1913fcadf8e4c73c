package import StrictText

/// Decodes a value that ``JSONReader`` has read. The property `dueUnixMs` reads the member `due_unix_ms`, so only its declaration names the
/// member.
package struct AnswerDecoder: Decoder {
  /// The text that contains `node`.
  package let text: [UInt8]
  /// The name of this member; nil for a whole answer or an element.
  private let key: (any CodingKey)?
  /// nil if there is no such member.
  private let node: JSONNode?

  package init(_ node: JSONNode?, in text: [UInt8], as key: (any CodingKey)? = nil) {
    self.node = node
    self.text = text
    self.key = key
  }

  package var codingPath: [any CodingKey] { key.map { [$0] } ?? [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  package func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = try present().value else { throw unexpected("an object") }
    return KeyedDecodingContainer(ObjectContainer(members: members, object: self))
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let elements = try present().array else { throw unexpected("an array") }
    return ArrayContainer(elements: elements, array: self)
  }

  package func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// The value, which must exist.
  package func present() throws -> JSONNode {
    guard let node else { throw UnexpectedAnswer(key, "is missing") }
    return node
  }

  private func unexpected(_ wanted: String) -> UnexpectedAnswer {
    UnexpectedAnswer(key, node.map { "is \($0.kind), not \(wanted)" } ?? "is missing")
  }
}

extension AnswerDecoder: SingleValueDecodingContainer {
  package func decodeNil() -> Bool { if case .null = node?.value { true } else { false } }

  package func decode(_ type: String.Type) throws -> String {
    guard let text = node?.string else { throw unexpected("a string") }
    return text
  }

  package func decode(_ type: Bool.Type) throws -> Bool {
    guard let truth = node?.bool else { throw unexpected("a truth value") }
    return truth
  }

  package func decode(_ type: Int64.Type) throws -> Int64 {
    guard let number = node?.integer else { throw unexpected("a whole number") }
    return number
  }

  package func decode(_ type: UInt64.Type) throws -> UInt64 {
    guard case .number = node?.value, let range = node?.range, let number = UInt64(String(decoding: text[range], as: UTF8.self)) else {
      throw unexpected("a whole number from 0 to \(UInt64.max)")
    }
    return number
  }

  package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Other numeric types would call this method for themselves, endlessly.
    guard !(type is any Numeric.Type) else { throw unexpected("a number that can be read as Int64 or UInt64") }
    return try Value(from: self)
  }
}

/// A property whose members are in the object that contains the property.
package protocol Inlined: Decodable {}

private struct ObjectContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [JSONMember]
  let object: AnswerDecoder

  var codingPath: [any CodingKey] { object.codingPath }
  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

  private func member(_ key: some CodingKey) -> AnswerDecoder {
    AnswerDecoder(members.first { key.stringValue.names($0.name) }?.node, in: object.text, as: key)
  }

  func contains(_ key: Key) -> Bool { members.contains { key.stringValue.names($0.name) } }
  func decodeNil(forKey key: Key) -> Bool { member(key).decodeNil() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).decode(type) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).decode(type) }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try (type is any Inlined.Type ? object : member(key)).decode(type)
  }
  func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }
  func superDecoder() -> any Decoder { object }
  func superDecoder(forKey key: Key) -> any Decoder { member(key) }
}

private struct ArrayContainer: UnkeyedDecodingContainer {
  let elements: [JSONNode]
  let array: AnswerDecoder
  var currentIndex = 0

  var codingPath: [any CodingKey] { array.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  private mutating func next() -> AnswerDecoder {
    guard !isAtEnd else { return AnswerDecoder(nil, in: array.text, as: array.codingPath.first) }
    defer { currentIndex += 1 }
    return AnswerDecoder(elements[currentIndex], in: array.text, as: array.codingPath.first)
  }

  mutating func decodeNil() -> Bool {
    guard !isAtEnd, case .null = elements[currentIndex].value else { return false }
    currentIndex += 1
    return true
  }
  mutating func decode(_ type: String.Type) throws -> String { try next().decode(type) }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }
  mutating func nestedContainer<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { try next().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
  mutating func superDecoder() -> any Decoder { next() }
}

/// A member that is missing or has an unexpected type.
package struct UnexpectedAnswer: Error, CustomStringConvertible {
  package let description: String

  package init(_ key: (any CodingKey)?, _ flaw: String) { description = "\(key?.stringValue.inSnakeCase ?? "it") \(flaw)" }
}

extension String {
  /// `due_unix_ms` for `dueUnixMs`.
  fileprivate var inSnakeCase: String { reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" } }

  /// Whether `member` is the snake-case form of this name. Makes no copy, because a listing calls this hundreds of thousands of times.
  fileprivate func names(_ member: String) -> Bool {
    var rest = member.utf8.makeIterator()
    for letter in utf8 {
      if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= letter {
        guard rest.next() == UInt8(ascii: "_"), rest.next() == letter | 0x20 else { return false }
      } else if rest.next() != letter {
        return false
      }
    }
    return rest.next() == nil
  }
}
