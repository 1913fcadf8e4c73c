/// Base64 with the standard alphabet and padding (RFC 4648 §4), strictly: every sequence of bytes has one text.
enum PayloadBase64 {
  /// The bytes of `text`; nil: blanks, missing padding, another alphabet, bits left over.
  static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var word: UInt32 = 0
    for (index, character) in text.dropLast(padding).enumerated() {
      guard let value = value(of: character) else { return nil }
      word = word << 6 | value
      if index % 4 == 3 {
        bytes.append(UInt8(truncatingIfNeeded: word >> 16))
        bytes.append(UInt8(truncatingIfNeeded: word >> 8))
        bytes.append(UInt8(truncatingIfNeeded: word))
        word = 0
      }
    }
    switch padding {
    case 1:
      guard word & 0b11 == 0 else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: word >> 10))
      bytes.append(UInt8(truncatingIfNeeded: word >> 2))
    case 2:
      guard word & 0b1111 == 0 else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: word >> 4))
    default: break
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
