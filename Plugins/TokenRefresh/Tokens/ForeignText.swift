/// Prepares a server's text for a message.
///
/// A server may echo any part of a request in any encoding. So it is not enough that a text does not look like a secret: only short text
/// that looks like words passes.
enum ForeignText {
  /// Replaces text that does not read like words.
  static let leftOut = "[left out]"

  /// Consecutive fragments, such as pairs of hexadecimal digits, count as one text in pieces if there are `fragments` of them, or `fewer`
  /// with at least `characters` letters and digits together.
  private static let shortestRow = (fragments: 5, fewer: 3, characters: 8)

  /// The text without invisible characters such as control, format and zero-width ones; the text around them is joined. A run of spaces,
  /// tabs and line ends becomes one plain space; full-width characters become ASCII.
  static func visible(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        if let last = shown.last, last != " " { shown.append(" ") }
      } else if isVisible(scalar) {
        shown.append(plain(scalar))
      }
    }
    return String(shown)
  }

  /// The text with ``leftOut`` in place of each word that may be a token or a part of one; see ``ForeignWord``. Addresses are reduced to
  /// scheme and host.
  static func words(_ text: String) -> String {
    let words = text.split(separator: " ").map { ForeignWord(String($0)) }
    var isLeftOut = words.map(\.isEncoded)
    var row: [Int] = []
    for (position, word) in words.enumerated() where !word.isPunctuation {
      row = word.isFragment ? row + [position] : []
      if isText(row.map { words[$0] }) { for fragment in row { isLeftOut[fragment] = true } }
    }
    var shown: [String] = []
    for (word, isLeftOut) in zip(words, isLeftOut) {
      let next = isLeftOut ? leftOut : word.shown
      if next != leftOut || shown.last != leftOut { shown.append(next) }
    }
    return shown.joined(separator: " ")
  }

  private static func isText(_ row: [ForeignWord]) -> Bool {
    if row.count >= shortestRow.fragments { return true }
    return row.count >= shortestRow.fewer && row.reduce(0) { $0 + $1.size } >= shortestRow.characters
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: !scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// The ASCII form of a full-width character; any other character unchanged.
  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    guard (0xFF01...0xFF5E).contains(scalar.value) else { return scalar }
    return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
  }
}
