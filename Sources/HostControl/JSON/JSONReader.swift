/// Reads JSON strictly (RFC 8259): UTF-8 only, no duplicate names, nothing after the value, no lone surrogates.
///
/// Foundation's decoder does not tell where a value's text begins and ends; payloads are kept byte for byte as sent, so this one does.
public struct JSONReader {
  private let bytes: [UInt8]
  private let limits: JSONLimits
  private var position = 0
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
    self.bytes = bytes
    self.limits = limits
  }

  private mutating func document() throws(JSONSyntaxError) -> JSONNode {
    skipBlanks()
    let node = try value(depth: 0)
    skipBlanks()
    guard position == bytes.count else { throw failure("there is more after the value") }
    return node
  }

  private func failure(_ flaw: String, at offset: Int? = nil) -> JSONSyntaxError {
    JSONSyntaxError(flaw, at: offset ?? position, in: bytes)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONNode {
    guard let first = next else { throw failure("the text ends where a value is expected") }
    if !skipping {
      values += 1
      guard values <= limits.values else {
        throw JSONSyntaxError("more than \(limits.values) values", at: position, in: bytes, isLimit: true)
      }
    }
    let start = position
    let value: JSONNode.Value
    switch first {
    case UInt8(ascii: "{"): value = try object(depth: depth + 1)
    case UInt8(ascii: "["): value = try array(depth: depth + 1)
    case UInt8(ascii: "\""): value = .string(try string())
    case UInt8(ascii: "t"): value = try word("true", .bool(true))
    case UInt8(ascii: "f"): value = try word("false", .bool(false))
    case UInt8(ascii: "n"): value = try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): value = .number(try number())
    default: throw failure("\(shown(first)) begins no value")
    }
    return JSONNode(value: skipping ? .opaque : value, range: start..<position)
  }

  private func shown(_ byte: UInt8) -> String {
    (0x21..<0x7F).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte 0x\(String(byte, radix: 16))"
  }

  private mutating func word(_ word: StaticString, _ value: JSONNode.Value) throws(JSONSyntaxError) -> JSONNode.Value {
    let end = position + word.utf8CodeUnitCount
    let matches = word.withUTF8Buffer { text in end <= bytes.count && text.elementsEqual(bytes[position..<end]) }
    guard matches else { throw failure("this word is not \(word)") }
    position = end
    return value
  }

  private func checkDepth(_ depth: Int) throws(JSONSyntaxError) {
    guard depth <= limits.depth else { throw failure("arrays and objects are more than \(limits.depth) deep") }
  }

  private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONNode.Value {
    try checkDepth(depth)
    position += 1
    var elements: [JSONNode] = []
    skipBlanks()
    if next == UInt8(ascii: "]") {
      position += 1
      return .array([])
    }
    while true {
      skipBlanks()
      let element = try value(depth: depth)
      if !skipping { elements.append(element) }
      skipBlanks()
      switch next {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"):
        position += 1
        return .array(elements)
      case nil: throw failure("the text ends inside of an array")
      default: throw failure("',' or ']' is expected after an array's element")
      }
    }
  }

  private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONNode.Value {
    try checkDepth(depth)
    position += 1
    var members: [JSONMember] = []
    var names: Set<String> = []
    skipBlanks()
    if next == UInt8(ascii: "}") {
      position += 1
      return .object([])
    }
    while true {
      skipBlanks()
      guard let first = next else { throw failure("the text ends inside of an object") }
      guard first == UInt8(ascii: "\"") else { throw failure("a member's name in double quotes is expected") }
      let nameStart = position
      let name = try string()
      if !skipping, isDuplicate(name, of: members, names: &names) { throw failure("the name \"\(name)\" comes twice", at: nameStart) }
      skipBlanks()
      guard next == UInt8(ascii: ":") else { throw failure("':' is expected after a member's name") }
      position += 1
      skipBlanks()
      let opens = !skipping && limits.opaqueMembers.contains(name)
      if opens { skipping = true }
      let node = try value(depth: depth)
      if opens { skipping = false }
      if !skipping { members.append(JSONMember(name: name, node: node)) }
      skipBlanks()
      switch next {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        position += 1
        return .object(members)
      case nil: throw failure("the text ends inside of an object")
      default: throw failure("',' or '}' is expected after a member")
      }
    }
  }

  /// Small objects are searched, large ones (where a search would be quadratic) remember their names.
  private func isDuplicate(_ name: String, of members: [JSONMember], names: inout Set<String>) -> Bool {
    guard members.count >= 16 else { return members.contains { $0.name == name } }
    if names.isEmpty { names = Set(members.map(\.name)) }
    return !names.insert(name).inserted
  }

  // MARK: Numbers

  private mutating func digits() throws(JSONSyntaxError) {
    guard let first = next, (0x30...0x39).contains(first) else { throw failure("a digit is expected") }
    while let digit = next, (0x30...0x39).contains(digit) { position += 1 }
  }

  private mutating func number() throws(JSONSyntaxError) -> Int64? {
    let start = position
    let isNegative = next == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let whole = position
    try digits()
    guard bytes[whole] != UInt8(ascii: "0") || position == whole + 1 else { throw failure("a number begins with 0", at: start) }
    let end = position
    var isWhole = true
    if next == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      isWhole = false
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    guard isWhole, end - whole <= 19 else { return nil }
    let magnitude = bytes[whole..<end].reduce(UInt64(0)) { $0 &* 10 &+ UInt64($1 & 0xF) }
    guard isNegative else { return Int64(exactly: magnitude) }
    return magnitude == UInt64(Int64.max) + 1 ? Int64.min : Int64(exactly: magnitude).map { -$0 }
  }

  // MARK: Strings

  private mutating func string() throws(JSONSyntaxError) -> String {
    let start = position
    position += 1
    var runStart = position
    var unescaped: [UInt8]?
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        let run = bytes[runStart..<position]
        position += 1
        guard var text = unescaped else { return skipping ? "" : String(decoding: run, as: UTF8.self) }
        text.append(contentsOf: run)
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        var text = unescaped ?? []
        text.append(contentsOf: bytes[runStart..<position])
        unescaped = nil
        try appendEscape(to: &text)
        unescaped = text
        runStart = position
      case 0..<0x20: throw failure("a control character in a string must be escaped")
      case 0x20..<0x80: position += 1
      default: position += try lengthOfMultibyteCharacter()
      }
    }
    throw failure("the string is not closed", at: start)
  }

  /// - Source: Unicode 15, table 3-7, "Well-Formed UTF-8 Byte Sequences".
  private func lengthOfMultibyteCharacter() throws(JSONSyntaxError) -> Int {
    let second: ClosedRange<UInt8>
    let length: Int
    switch bytes[position] {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: throw failure("byte 0x\(String(bytes[position], radix: 16)) is not UTF-8")
    }
    guard position + length <= bytes.count, second.contains(bytes[position + 1]),
      bytes[(position + 2)..<max(position + 2, position + length)].allSatisfy({ (0x80...0xBF).contains($0) })
    else { throw failure("a character is not UTF-8") }
    return length
  }

  private mutating func appendEscape(to text: inout [UInt8]) throws(JSONSyntaxError) {
    let start = position
    position += 1
    guard let kind = next else { throw failure("the text ends inside of a string") }
    position += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try unicodeEscape(from: start))).utf8)
    default: throw failure("\(shown(kind)) is no escape", at: start)
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try fourHexDigits(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xD800...0xDBFF).contains(first), next == UInt8(ascii: "\\") else { throw failure("half of a surrogate pair", at: start) }
    position += 1
    guard next == UInt8(ascii: "u") else { throw failure("half of a surrogate pair", at: start) }
    position += 1
    let second = try fourHexDigits(from: start)
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw failure("half of a surrogate pair", at: start) }
    return scalar
  }

  private mutating func fourHexDigits(from start: Int) throws(JSONSyntaxError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
        throw failure("\\u needs four hexadecimal digits", at: start)
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}
