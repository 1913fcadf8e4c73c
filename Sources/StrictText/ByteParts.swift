// What goes by `Character` does not see an ASCII mark that Unicode joins to what stands before or after it, such as U+0600 before a slash. The
// kernel, the loader, shells and browsers go by bytes.

extension StringProtocol {
  /// The parts between the places of an ASCII mark, such as the names of a path.
  public func parts(between mark: Unicode.Scalar, omittingEmpty: Bool = true) -> [String] {
    utf8.split(separator: UInt8(ascii: mark), omittingEmptySubsequences: omittingEmpty).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether an ASCII mark is anywhere in it.
  public func has(_ mark: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: mark)) }
}

extension String {
  /// The text with others in place of some scalars, such as `&lt;` for `<`.
  public func replacing(scalars others: [Unicode.Scalar: String]) -> String {
    var replaced = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let other = others[scalar] { replaced.append(contentsOf: other.unicodeScalars) } else { replaced.append(scalar) }
    }
    return String(replaced)
  }

  /// The text in which each of these ASCII marks is a `Character` of its own, for those who look for them by `Character`: what is joined to one is
  /// written as `\u{600}`.
  public func isolating(_ marks: String) -> String {
    let wanted = Set(marks.utf8)
    guard contains(where: { $0.utf8.count > 1 && $0.utf8.contains(where: wanted.contains) }) else { return self }
    return reduce(into: "") { text, character in
      guard character.utf8.count > 1, character.utf8.contains(where: wanted.contains) else { return text.append(character) }
      for scalar in character.unicodeScalars {
        text += scalar.isASCII ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
  }
}
