/// File names for people: any bytes become one line of valid UTF-8.
enum DisplayName {
  /// Escapes control characters, backslashes and invalid UTF-8 as `\xNN`.
  static func escaped(_ bytes: [UInt8]) -> String {
    let isValid = String(validating: bytes, as: UTF8.self) != nil
    var result: [UInt8] = []
    for byte in bytes {
      if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") || (byte >= 0x80 && !isValid) {
        let digits = Array("0123456789abcdef".utf8)
        result += [UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
