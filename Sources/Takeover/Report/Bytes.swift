/// Questions about bytes of text, as C's functions answer them in the C locale.
enum Bytes {
  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) }
  static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) }
  /// Blank or tab, which separate the fields of a crontab.
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
  /// What `isspace` takes for space.
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  /// The lines of a text, and whether the last one has its line end. A text of no bytes has no line.
  static func lines(of bytes: [UInt8]) -> (lines: [ArraySlice<UInt8>], endsWithLineEnd: Bool) {
    guard !bytes.isEmpty else { return ([], true) }
    var lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
    let ends = bytes.last == 0x0a
    if ends { lines.removeLast() }
    return (lines, ends)
  }

  /// The text; nil if it is not UTF-8, or has a zero byte.
  static func text(_ bytes: some Sequence<UInt8>) -> String? {
    let bytes = Array(bytes)
    return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
  }

  /// The text for people: what is not UTF-8 is replaced.
  static func shown(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
}
