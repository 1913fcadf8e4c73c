/// What a server wrote, on its way into a message.
///
/// A server may echo any part of a request in any encoding, so nothing is let through because it looks like no secret: what is let through looks
/// like words, and is short.
enum ForeignText {
  /// Stands for what does not read like words.
  static let leftOut = "[left out]"

  /// Fragments in a row, such as pairs of hexadecimal digits, are a text in pieces when they are this many, or fewer with this many letters and
  /// digits in all.
  private static let shortestRow = (fragments: 5, fewer: 3, characters: 8)

  /// The text without what cannot be seen: control, format, zero-width and the like. What they held apart is joined. Spaces, tabs and ends of
  /// lines become one plain space, full-width letters plain ones.
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

  /// The text with ``leftOut`` in place of each run without a space that may be a token, or a part of one; see ``ForeignWord``. Of an address,
  /// scheme and host stay.
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

  /// The ASCII character of a full-width one; any other as it is.
  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    guard (0xFF01...0xFF5E).contains(scalar.value) else { return scalar }
    return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
  }
}
