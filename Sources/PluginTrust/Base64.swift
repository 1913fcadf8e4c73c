/// Base64 of RFC 4648 with padding, in its one canonical form: what decodes encodes to the same text again.
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
      for place in 0..<4 {
        text.append(place <= group.count ? digits[Int(bits >> (18 - 6 * UInt32(place)) & 0x3f)] : padding)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Exactly `count` bytes; nil for text that is not their canonical form.
  static func bytes(_ text: some Collection<UInt8>, count: Int) -> [UInt8]? {
    guard text.count == (count + 2) / 3 * 4 else { return nil }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var filled = 0
    for character in text where character != padding {
      guard let value = digits.firstIndex(of: character) else { return nil }
      bits = bits << 6 | UInt32(value)
      filled += 6
      if filled >= 8 {
        filled -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(filled)))
        bits &= (1 << UInt32(filled)) - 1
      }
    }
    // Padding in the middle, missing padding and bits left over all show when it is written again.
    guard bytes.count == count, self.text(bytes).utf8.elementsEqual(text) else { return nil }
    return bytes
  }
}
