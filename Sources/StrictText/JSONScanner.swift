/// Reads the tokens of JSON (RFC 8259) strictly: UTF-8 only, no lone surrogates, no extensions.
///
/// The caller assembles arrays and objects, so the scanner neither nests nor recurses.
public struct JSONScanner {
  /// The whole text.
  public let bytes: [UInt8]
  /// The offset of the next byte, from 0.
  public private(set) var position = 0

  /// Starts at the beginning of the text.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next byte; nil at the end.
  public var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// An error at `offset`, or at the current position.
  public func failure(_ flaw: String, at offset: Int? = nil) -> JSONSyntaxError {
    JSONSyntaxError(flaw, at: offset ?? position, in: bytes)
  }

  /// The error for a position where no value begins.
  public func noValue() -> JSONSyntaxError {
    guard let next else { return failure("the text ends where a value is expected") }
    return failure("\(Self.shown(next)) does not begin a value")
  }

  /// Skips the whitespace that JSON allows between tokens.
  public mutating func skipBlanks() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  /// Skips an ASCII character if it comes next; returns whether it did.
  public mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Skips the word `true`, `false` or `null`. Its first letter must be the next byte.
  public mutating func word(_ word: StaticString) throws(JSONSyntaxError) {
    let end = position + word.utf8CodeUnitCount
    let matches = word.withUTF8Buffer { text in end <= bytes.count && text.elementsEqual(bytes[position..<end]) }
    guard matches else { throw failure("\(word) is expected") }
    position = end
  }

  /// Reads a number and returns its text.
  public mutating func number() throws(JSONSyntaxError) -> ArraySlice<UInt8> {
    let start = position
    _ = take("-")
    let whole = position
    try digits()
    guard bytes[whole] != UInt8(ascii: "0") || position == whole + 1 else { throw failure("a number has a leading 0", at: start) }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return bytes[start..<position]
  }

  private mutating func digits() throws(JSONSyntaxError) {
    guard let first = next, (0x30...0x39).contains(first) else { throw failure("a digit is expected") }
    while let digit = next, (0x30...0x39).contains(digit) { position += 1 }
  }

  /// Reads a string and returns its content as UTF-8 with escapes resolved. Its opening quote must be the next byte.
  public mutating func string() throws(JSONSyntaxError) -> ArraySlice<UInt8> {
    let start = position
    position += 1
    var runStart = position
    var unescaped: [UInt8]?
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        let run = bytes[runStart..<position]
        position += 1
        guard var text = unescaped else { return run }
        text.append(contentsOf: run)
        return text[...]
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

  private static func shown(_ byte: UInt8) -> String {
    (0x21..<0x7F).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte 0x\(String(byte, radix: 16))"
  }

  // MARK: Characters

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
    guard let kind = next else { throw failure("the text ends inside a string") }
    position += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try unicodeEscape(from: start))).utf8)
    default: throw failure("\(Self.shown(kind)) is not a valid escape", at: start)
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try fourHexDigits(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xD800...0xDBFF).contains(first), take("\\"), take("u") else { throw failure("half of a surrogate pair", at: start) }
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
