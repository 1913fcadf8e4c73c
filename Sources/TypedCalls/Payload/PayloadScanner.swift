/// Reads the JSON (RFC 8259) of a payload word by word: strict UTF-8, no lone surrogates, nothing that is only nearly JSON.
///
/// The host's own JSON reader is for what clients write to its control API and stands above this module. Here values are as exact as they
/// are written, an array or object inside of a payload is refused where it begins, so nothing is nested and nothing recurses.
struct PayloadScanner {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// A value; the text of an array or object is left where it begins.
  mutating func value() throws(TypedPayloadError) -> PayloadValue {
    guard let first = next else { throw failure("the text ends where a value is expected") }
    switch first {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default: throw failure("\(Self.shown(first)) begins no value")
    }
  }

  /// A string in double quotes.
  mutating func string() throws(TypedPayloadError) -> [UInt8] {
    let start = position
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return text
      case UInt8(ascii: "\\"): try appendEscape(to: &text)
      case 0..<0x20: throw failure("a control character in a string must be escaped")
      case 0x20..<0x80:
        text.append(byte)
        position += 1
      default:
        let length = try lengthOfMultibyteCharacter()
        text.append(contentsOf: bytes[position..<(position + length)])
        position += length
      }
    }
    throw failure("the string is not closed", at: start)
  }

  /// An error with the place in the text.
  func failure(_ flaw: String, at offset: Int? = nil) -> TypedPayloadError {
    var (line, column) = (1, 1)
    for byte in bytes.prefix(offset ?? position) {
      if byte == 0x0A {
        (line, column) = (line + 1, 1)
      } else if byte & 0b1100_0000 != 0b1000_0000 {
        column += 1
      }
    }
    return TypedPayloadError(argument: nil, flaw: "the payload is not JSON: line \(line), column \(column): \(flaw)")
  }

  private static func shown(_ byte: UInt8) -> String {
    (0x21..<0x7F).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte 0x\(String(byte, radix: 16))"
  }

  // MARK: Words and numbers

  private mutating func word(_ word: StaticString, _ value: PayloadValue) throws(TypedPayloadError) -> PayloadValue {
    let end = position + word.utf8CodeUnitCount
    let matches = word.withUTF8Buffer { text in end <= bytes.count && text.elementsEqual(bytes[position..<end]) }
    guard matches else { throw failure("this word is not \(word)") }
    position = end
    return value
  }

  private mutating func digits() throws(TypedPayloadError) {
    guard let first = next, (0x30...0x39).contains(first) else { throw failure("a digit is expected") }
    while let digit = next, (0x30...0x39).contains(digit) { position += 1 }
  }

  private mutating func number() throws(TypedPayloadError) -> ArraySlice<UInt8> {
    let start = position
    _ = take("-")
    let whole = position
    try digits()
    guard bytes[whole] != UInt8(ascii: "0") || position == whole + 1 else { throw failure("a number begins with 0", at: start) }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return bytes[start..<position]
  }

  // MARK: Characters

  /// - Source: Unicode 15, table 3-7, "Well-Formed UTF-8 Byte Sequences".
  private func lengthOfMultibyteCharacter() throws(TypedPayloadError) -> Int {
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

  private mutating func appendEscape(to text: inout [UInt8]) throws(TypedPayloadError) {
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
    default: throw failure("\(Self.shown(kind)) is no escape", at: start)
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(TypedPayloadError) -> Unicode.Scalar {
    let first = try fourHexDigits(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xD800...0xDBFF).contains(first), take("\\"), take("u") else { throw failure("half of a surrogate pair", at: start) }
    let second = try fourHexDigits(from: start)
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw failure("half of a surrogate pair", at: start) }
    return scalar
  }

  private mutating func fourHexDigits(from start: Int) throws(TypedPayloadError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Self.hexValue(byte) else {
        throw failure("\\u needs four hexadecimal digits", at: start)
      }
      value = value << 4 | digit
      position += 1
    }
    return value
  }

  private static func hexValue(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
