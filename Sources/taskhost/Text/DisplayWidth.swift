/// The columns that text takes at a terminal.
enum DisplayWidth {
  /// The scalars that are two columns wide (Markus Kuhn's wcwidth, after Unicode's East Asian Width; and emoji).
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
    0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
  ]

  /// The columns of `text`, which has no control characters.
  static func of(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  /// `text` in exactly `columns` columns: padded with blanks, or cut, with an ellipsis in place of the rest.
  ///
  /// - Parameter keepsEnd: Whether the beginning is cut off: identifiers begin alike.
  static func fit(_ text: String, _ columns: Int, keepsEnd: Bool = false) -> String {
    let width = of(text)
    if width <= columns { return text + String(repeating: " ", count: columns - width) }
    guard columns > 0 else { return "" }
    let kept = keepsEnd ? String(begin(String(text.reversed()), columns - 1).reversed()) : begin(text, columns - 1)
    let padding = String(repeating: " ", count: columns - 1 - of(kept))
    return (keepsEnd ? "…\(kept)" : "\(kept)…") + padding
  }

  /// As much of the beginning as `columns` have room for.
  private static func begin(_ text: String, _ columns: Int) -> String {
    var used = 0
    return String(
      text.prefix { character in
        used += width(character)
        return used <= columns
      })
  }

  /// The lines of `text` in at most `columns` columns, broken at blanks where there are any.
  static func wrap(_ text: String, _ columns: Int) -> [String] {
    guard of(text) > columns, columns > 1 else { return [text] }
    var (lines, line, used) = ([String](), "", 0)
    for character in text {
      let next = width(character)
      if used + next > columns {
        if let blank = line.lastIndex(of: " "), blank > line.startIndex {
          lines.append(String(line[..<blank]))
          line = String(line[line.index(after: blank)...])
        } else {
          lines.append(line)
          line = ""
        }
        used = of(line)
      }
      line.append(character)
      used += next
    }
    return lines + [line]
  }

  private static func width(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    // A joined emoji is as wide as its first part, a letter with accents as the letter.
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
  }
}
