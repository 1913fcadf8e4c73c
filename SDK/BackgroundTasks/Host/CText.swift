/// Strings on their way to C.
enum CText {
  /// `text` for people: a NUL byte, where C would cut it, becomes U+2400 (a picture of NUL).
  static func printable(_ text: String) -> String {
    guard text.utf8.contains(0) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{2400}" : $0 }))
  }
}
