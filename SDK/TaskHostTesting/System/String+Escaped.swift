extension String {
  /// The text with every control character escaped, so that a plugin's words cannot forge lines or steer a terminal.
  var escapingControlCharacters: String {
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x09: scalars.append(contentsOf: "\\t".unicodeScalars)
      case 0x0A: scalars.append(contentsOf: "\\n".unicodeScalars)
      case 0x0D: scalars.append(contentsOf: "\\r".unicodeScalars)
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069:
        scalars.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// The longest beginning that has at most `limit` bytes of UTF-8 and ends with a whole character of Unicode.
  func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
