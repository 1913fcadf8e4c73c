/// The limits of ``JSONReader``.
public struct JSONLimits: Sendable {
  /// The maximum nesting of arrays and objects.
  public var depth: Int
  /// The maximum number of values, which bounds memory. Values inside opaque members do not count.
  public var values: Int
  /// The names of members, at any depth, whose values are checked but not read.
  public var opaqueMembers: [String]

  /// Creates limits.
  public init(depth: Int = 128, values: Int = 1_000_000, opaqueMembers: [String] = []) {
    self.depth = depth
    self.values = values
    self.opaqueMembers = opaqueMembers
  }
}

/// Reads JSON strictly (RFC 8259): UTF-8 only, no duplicate names, nothing after the value, no lone surrogates.
///
/// It also reports where each value's text begins and ends, which Foundation's decoder does not: payloads are stored byte for byte as sent.
public struct JSONReader {
  private var scanner: JSONScanner
  private let limits: JSONLimits
  private var values = 0
  /// Whether the position is inside an opaque member.
  private var skipping = false

  /// Reads a text that is one JSON value.
  public static func read(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) -> JSONNode {
    var reader = JSONReader(bytes: bytes, limits: limits)
    return try reader.document()
  }

  /// Whether `bytes` are one JSON value whose arrays and objects are nested at most `depth` deep.
  public static func isValid(_ bytes: [UInt8], depth: Int = 128) -> Bool {
    var reader = JSONReader(bytes: bytes, limits: JSONLimits(depth: depth))
    reader.skipping = true
    return (try? reader.document()) != nil
  }

  private init(bytes: [UInt8], limits: JSONLimits) {
    scanner = JSONScanner(bytes)
    self.limits = limits
  }

  private mutating func document() throws(JSONSyntaxError) -> JSONNode {
    scanner.skipBlanks()
    let node = try value(depth: 0)
    scanner.skipBlanks()
    guard scanner.next == nil else { throw scanner.failure("there is more text after the value") }
    return node
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONNode {
    guard let first = scanner.next else { throw scanner.noValue() }
    if !skipping {
      values += 1
      guard values <= limits.values else {
        throw JSONSyntaxError("more than \(limits.values) values", at: scanner.position, in: scanner.bytes, isLimit: true)
      }
    }
    let start = scanner.position
    let value: JSONNode.Value
    switch first {
    case UInt8(ascii: "{"): value = try object(depth: depth + 1)
    case UInt8(ascii: "["): value = try array(depth: depth + 1)
    case UInt8(ascii: "\""): value = .string(try string())
    case UInt8(ascii: "t"):
      try scanner.word("true")
      value = .bool(true)
    case UInt8(ascii: "f"):
      try scanner.word("false")
      value = .bool(false)
    case UInt8(ascii: "n"):
      try scanner.word("null")
      value = .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): value = .number(try number())
    default: throw scanner.noValue()
    }
    return JSONNode(value: skipping ? .opaque : value, range: start..<scanner.position)
  }

  private func checkDepth(_ depth: Int) throws(JSONSyntaxError) {
    guard depth <= limits.depth else {
      throw JSONSyntaxError(
        "arrays and objects are nested more than \(limits.depth) deep", at: scanner.position, in: scanner.bytes, isTooDeep: true)
    }
  }

  private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONNode.Value {
    try checkDepth(depth)
    _ = scanner.take("[")
    var elements: [JSONNode] = []
    scanner.skipBlanks()
    if scanner.take("]") { return .array([]) }
    while true {
      scanner.skipBlanks()
      let element = try value(depth: depth)
      if !skipping { elements.append(element) }
      scanner.skipBlanks()
      if scanner.take(",") { continue }
      if scanner.take("]") { return .array(elements) }
      throw scanner.failure(scanner.next == nil ? "the text ends inside an array" : "',' or ']' is expected after an array's element")
    }
  }

  private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONNode.Value {
    try checkDepth(depth)
    _ = scanner.take("{")
    var members: [JSONMember] = []
    var names: Set<String> = []
    scanner.skipBlanks()
    if scanner.take("}") { return .object([]) }
    if !skipping { members.reserveCapacity(4) }
    while true {
      scanner.skipBlanks()
      guard let first = scanner.next else { throw scanner.failure("the text ends inside an object") }
      guard first == UInt8(ascii: "\"") else { throw scanner.failure("a member's name in double quotes is expected") }
      let nameStart = scanner.position
      let name = try string()
      if !skipping, isDuplicate(name, of: members, names: &names) {
        throw scanner.failure("the name \"\(name)\" appears twice", at: nameStart)
      }
      scanner.skipBlanks()
      guard scanner.take(":") else { throw scanner.failure("':' is expected after a member's name") }
      scanner.skipBlanks()
      let opens = !skipping && limits.opaqueMembers.contains(name)
      if opens { skipping = true }
      let node = try value(depth: depth)
      if opens { skipping = false }
      if !skipping { members.append(JSONMember(name: name, node: node)) }
      scanner.skipBlanks()
      if scanner.take(",") { continue }
      if scanner.take("}") { return .object(members) }
      throw scanner.failure(scanner.next == nil ? "the text ends inside an object" : "',' or '}' is expected after a member")
    }
  }

  /// Searches small objects, but keeps a set of names for large ones, where searching would take quadratic time.
  private func isDuplicate(_ name: String, of members: [JSONMember], names: inout Set<String>) -> Bool {
    guard members.count >= 16 else { return members.contains { $0.name == name } }
    if names.isEmpty { names = Set(members.map(\.name)) }
    return !names.insert(name).inserted
  }

  /// Reads a number; nil if it is not a whole number or does not fit.
  private mutating func number() throws(JSONSyntaxError) -> Int64? {
    let text = try scanner.number()
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = text.dropFirst(isNegative ? 1 : 0)
    guard digits.count <= 19, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let magnitude = digits.reduce(UInt64(0)) { $0 &* 10 &+ UInt64($1 & 0xF) }
    guard isNegative else { return Int64(exactly: magnitude) }
    return magnitude == UInt64(Int64.max) + 1 ? Int64.min : Int64(exactly: magnitude).map { -$0 }
  }

  /// Reads a string. While skipping, only checks it and returns an empty one.
  private mutating func string() throws(JSONSyntaxError) -> String {
    let text = try scanner.string()
    return skipping ? "" : String(decoding: text, as: UTF8.self)
  }
}

/// A JSON value and the place of its text.
public struct JSONNode: Sendable, Hashable {
  /// The kinds of values.
  public enum Value: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number; nil if it has a fraction or an exponent, or does not fit. Its text is at `range`.
    case number(Int64?)
    /// A string with escapes resolved.
    case string(String)
    /// An array.
    case array([JSONNode])
    /// An object, with its members in the order of the text.
    case object([JSONMember])
    /// A value that was only checked: see ``JSONLimits/opaqueMembers``.
    case opaque
  }

  /// The value.
  public var value: Value
  /// The range of the value's bytes in the text, without whitespace around it.
  public var range: Range<Int>

  /// The value of the member `name`; nil if it is missing or this is not an object.
  public subscript(name: String) -> JSONNode? {
    guard case .object(let members) = value else { return nil }
    return members.first { $0.name == name }?.node
  }

  /// The string; nil if the value is not one.
  public var string: String? { if case .string(let text) = value { text } else { nil } }
  /// The whole number; nil if the value is not one that fits.
  public var integer: Int64? { if case .number(let number) = value { number } else { nil } }
  /// The boolean; nil if the value is not one.
  public var bool: Bool? { if case .bool(let truth) = value { truth } else { nil } }
  /// The elements; nil if the value is not an array.
  public var array: [JSONNode]? { if case .array(let elements) = value { elements } else { nil } }

  /// The kind of the value for an error message, such as "a string".
  public var kind: String {
    switch value {
    case .null: "null"
    case .bool: "a boolean"
    case .number(.some): "a number"
    case .number(.none): "a number with a fraction or too many digits"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .opaque: "a value"
    }
  }
}

/// A member of a JSON object.
public struct JSONMember: Sendable, Hashable {
  /// The name with escapes resolved.
  public var name: String
  /// The value.
  public var node: JSONNode
}
