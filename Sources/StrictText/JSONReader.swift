/// What ``JSONReader`` accepts.
public struct JSONLimits: Sendable {
  /// Arrays and objects inside each other.
  public var depth: Int
  /// Values in all that are read; a bound on memory. Those inside of opaque members do not count.
  public var values: Int
  /// Names of members whose values are only checked, wherever they stand: what others wrote and nobody here reads.
  public var opaqueMembers: [String]

  /// The limits as given.
  public init(depth: Int = 128, values: Int = 1_000_000, opaqueMembers: [String] = []) {
    self.depth = depth
    self.values = values
    self.opaqueMembers = opaqueMembers
  }
}

/// Reads JSON strictly (RFC 8259): UTF-8 only, no duplicate names, nothing after the value, no lone surrogates.
///
/// Foundation's decoder does not tell where a value's text begins and ends; payloads are kept byte for byte as sent, so this one does.
public struct JSONReader {
  private var scanner: JSONScanner
  private let limits: JSONLimits
  private var values = 0
  /// Whether the position is inside of an opaque member.
  private var skipping = false

  /// Reads the one value of `bytes`.
  public static func read(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) -> JSONNode {
    var reader = JSONReader(bytes: bytes, limits: limits)
    return try reader.document()
  }

  /// Whether `bytes` are one JSON value whose arrays and objects are not deeper than `depth`.
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
    guard scanner.next == nil else { throw scanner.failure("there is more after the value") }
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
    guard depth <= limits.depth else { throw scanner.failure("arrays and objects are more than \(limits.depth) deep") }
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
      throw scanner.failure(scanner.next == nil ? "the text ends inside of an array" : "',' or ']' is expected after an array's element")
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
      guard let first = scanner.next else { throw scanner.failure("the text ends inside of an object") }
      guard first == UInt8(ascii: "\"") else { throw scanner.failure("a member's name in double quotes is expected") }
      let nameStart = scanner.position
      let name = try string()
      if !skipping, isDuplicate(name, of: members, names: &names) {
        throw scanner.failure("the name \"\(name)\" comes twice", at: nameStart)
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
      throw scanner.failure(scanner.next == nil ? "the text ends inside of an object" : "',' or '}' is expected after a member")
    }
  }

  /// Small objects are searched, large ones (where a search would be quadratic) remember their names.
  private func isDuplicate(_ name: String, of members: [JSONMember], names: inout Set<String>) -> Bool {
    guard members.count >= 16 else { return members.contains { $0.name == name } }
    if names.isEmpty { names = Set(members.map(\.name)) }
    return !names.insert(name).inserted
  }

  /// The number, if it is a whole one that fits.
  private mutating func number() throws(JSONSyntaxError) -> Int64? {
    let text = try scanner.number()
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = text.dropFirst(isNegative ? 1 : 0)
    guard digits.count <= 19, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let magnitude = digits.reduce(UInt64(0)) { $0 &* 10 &+ UInt64($1 & 0xF) }
    guard isNegative else { return Int64(exactly: magnitude) }
    return magnitude == UInt64(Int64.max) + 1 ? Int64.min : Int64(exactly: magnitude).map { -$0 }
  }

  /// What is skipped is only checked.
  private mutating func string() throws(JSONSyntaxError) -> String {
    let text = try scanner.string()
    return skipping ? "" : String(decoding: text, as: UTF8.self)
  }
}

/// A JSON value that was read, with the place of its text.
public struct JSONNode: Sendable, Hashable {
  /// What the value is.
  public enum Value: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number; nil when it has a fraction or an exponent, or does not fit: its text is still at `range`.
    case number(Int64?)
    /// A string, escapes resolved.
    case string(String)
    /// An array.
    case array([JSONNode])
    /// An object, members in the order of the text.
    case object([JSONMember])
    /// Checked but not read, see ``JSONLimits/opaqueMembers``.
    case opaque
  }

  /// What the value is.
  public var value: Value
  /// The bytes of the value in the text, blanks around it left out.
  public var range: Range<Int>

  /// The member with that name, if this is an object that has one.
  public subscript(name: String) -> JSONNode? {
    guard case .object(let members) = value else { return nil }
    return members.first { $0.name == name }?.node
  }

  /// The string, if it is one.
  public var string: String? { if case .string(let text) = value { text } else { nil } }
  /// The number, if it is a whole one that fits.
  public var integer: Int64? { if case .number(let number) = value { number } else { nil } }
  /// The truth value, if it is one.
  public var bool: Bool? { if case .bool(let truth) = value { truth } else { nil } }
  /// The elements, if it is an array.
  public var array: [JSONNode]? { if case .array(let elements) = value { elements } else { nil } }

  /// What it is, in an error's words: "a string", …
  public var kind: String {
    switch value {
    case .null: "null"
    case .bool: "a truth value"
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
  /// Its name, escapes resolved.
  public var name: String
  /// Its value.
  public var node: JSONNode
}
