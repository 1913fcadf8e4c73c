extension Unicode.Scalar {
  /// The scalar, or its escape (`\n`, `\u{1b}`) if it is a control character or can change the direction of text.
  func escaped() -> String.UnicodeScalarView {
    switch value {
    case 0x09: return "\\t".unicodeScalars
    case 0x0A: return "\\n".unicodeScalars
    case 0x0D: return "\\r".unicodeScalars
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069:
      return "\\u{\(String(value, radix: 16))}".unicodeScalars
    default: return String(self).unicodeScalars
    }
  }
}

extension String {
  /// The text with every control character escaped, so that a plugin's text cannot forge lines or control a terminal.
  public var escapingControlCharacters: String {
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars { scalars.append(contentsOf: scalar.escaped()) }
    return String(scalars)
  }

  /// Like ``escapingControlCharacters``, but keeps line ends and tabs.
  public var escapingAllButLines: String {
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar == "\n" || scalar == "\t" { scalars.append(scalar) } else { scalars.append(contentsOf: scalar.escaped()) }
    }
    return String(scalars)
  }
}
