// Unicode joins an ASCII character such as `/` or `<` to its neighbours, so that both are one `Character`: U+0600 before it does. Code that goes by
// `Character` misses it then. The kernel, the loader, shells and browsers do not, because they go by bytes or code points.

extension StringProtocol {
  /// The parts between the places of an ASCII character, such as the names of a path.
  public func parts(between mark: Unicode.Scalar, omittingEmpty: Bool = true) -> [String] {
    utf8.split(separator: UInt8(ascii: mark), omittingEmptySubsequences: omittingEmpty).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether an ASCII character is anywhere in it.
  public func has(_ mark: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: mark)) }
}

extension String {
  /// The text with others in place of some scalars.
  public func replacing(scalars others: [Unicode.Scalar: String]) -> String {
    var replaced = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let other = others[scalar] { replaced.append(contentsOf: other.unicodeScalars) } else { replaced.append(scalar) }
    }
    return String(replaced)
  }

  /// The text without markup of HTML, of Slack or of desktop notifications: with `&lt;` for `<`, and so on.
  public var escapingMarkup: String { replacing(scalars: ["&": "&amp;", "<": "&lt;", ">": "&gt;"]) }

  /// The text as a word of a shell, in single quotation marks.
  public var inShellQuotes: String { "'" + replacing(scalars: ["'": "'\\''"]) + "'" }

  /// The text in which each of these ASCII characters is a `Character` of its own, for code that looks for them by `Character`: what Unicode joins to
  /// one is written as `\u{600}`.
  public func isolating(_ marks: String) -> String {
    let wanted = Set(marks.utf8)
    func isJoined(_ character: Character) -> Bool { character.utf8.count > 1 && character.utf8.contains(where: wanted.contains) }
    guard !utf8.allSatisfy({ $0 < 0x80 }), contains(where: isJoined) else { return self }
    return reduce(into: "") { text, character in
      guard isJoined(character) else { return text.append(character) }
      for scalar in character.unicodeScalars {
        text += scalar.isASCII ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
  }
}
