import StrictText

/// Names of files as people may see them: whatever bytes they hold, one line of valid UTF-8 comes out.
enum DisplayName {
  /// Escapes control characters, backslashes and invalid UTF-8 as `\xNN`.
  static func escaped(_ bytes: [UInt8]) -> String {
    let isValid = String(validating: bytes, as: UTF8.self) != nil
    var result: [UInt8] = []
    for byte in bytes {
      if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") || (byte >= 0x80 && !isValid) {
        result += "\\x\(Hex.text([byte]))".utf8
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
