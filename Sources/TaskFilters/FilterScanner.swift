import StrictText
import TaskModel

/// Splits the text of a filter into terms: words with a colon and values, separated by blanks.
///
/// ```
/// filter = [term *(blank term)]
/// term   = name *("." part) ":" value *("," value)
/// part   = word / quoted
/// value  = word / quoted
/// quoted = %x22 *(any character, with \" and \\ for " and \) %x22
/// ```
/// A word ends at a blank, a comma or a quote; one before the colon also at a dot or a colon.
struct FilterScanner {
  /// The maximum number of terms.
  static let terms = 32
  /// The maximum number of values of one term, and of parts of one path.
  static let values = 64

  private let scalars: [Unicode.Scalar]
  private var index = 0

  /// The terms of `text`, in its order.
  static func terms(of text: String) throws(FilterError) -> [FilterTerm] {
    try FilterError.checkLength(of: text)
    var scanner = FilterScanner(scalars: Array(text.unicodeScalars))
    var terms: [FilterTerm] = []
    scanner.skipBlanks()
    while scanner.next != nil {
      let position = scanner.position
      guard terms.count < Self.terms else {
        throw FilterError(position: position, message: "there are more than \(Self.terms) terms: write fewer")
      }
      terms.append(try scanner.term())
      guard scanner.next.map(isBlank) ?? true else {
        throw FilterError(position: scanner.position, message: "a blank is expected after a quoted value")
      }
      scanner.skipBlanks()
    }
    return terms
  }

  private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

  private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }
  private var position: Int { index + 1 }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" }

  private mutating func skipBlanks() { while next.map(Self.isBlank) == true { index += 1 } }

  private mutating func term() throws(FilterError) -> FilterTerm {
    let start = position
    let name = try word(endingAt: [":", ".", ","])
    guard !name.isEmpty else {
      throw FilterError(position: start, message: "a word is expected, such as state:failed\(seen)")
    }
    var path: [String] = []
    while take(".") {
      let at = position
      guard path.count < Self.values else {
        throw FilterError(position: at, message: "there are more than \(Self.values) names: write fewer")
      }
      let part = next == "\"" ? try quoted() : try word(endingAt: [":", ".", ","])
      guard !part.isEmpty else { throw FilterError(position: at, message: "the name of a member is expected after the dot\(seen)") }
      path.append(part)
    }
    guard take(":") else {
      throw FilterError(position: start, message: Self.valueless(Self.shown(([name] + path).joined(separator: "."))))
    }
    var values: [FilterTerm.Value] = []
    repeat {
      let at = position
      guard values.count < Self.values else {
        throw FilterError(position: at, message: "there are more than \(Self.values) values: write fewer")
      }
      if next == "\"" {
        values.append(FilterTerm.Value(text: try quoted(), isQuoted: true, position: at))
      } else {
        let text = try word(endingAt: [","])
        guard !text.isEmpty else {
          throw FilterError(position: at, message: "\(Self.shown(name)) has no value here\(seen): for an empty text write \"\"")
        }
        values.append(FilterTerm.Value(text: text, isQuoted: false, position: at))
      }
    } while take(",")
    return FilterTerm(name: name, path: path, values: values, position: start)
  }

  /// What is wrong with a term that has no colon. People write an identifier or a state alone.
  private static func valueless(_ text: String) -> String {
    guard FilterWord(rawValue: text) == nil else { return "\"\(text)\" has no value: write \(text):VALUE" }
    let word = RequestState(rawValue: text) == nil ? FilterWord.identifier : .state
    return "\"\(text)\" has no word before it: write \(word.rawValue):\(text)"
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    index += 1
    return true
  }

  /// The characters up to a blank, a quote or one of `ends`.
  private mutating func word(endingAt ends: [Unicode.Scalar]) throws(FilterError) -> String {
    var text = String.UnicodeScalarView()
    while let scalar = next, !Self.isBlank(scalar), scalar != "\"", !ends.contains(scalar) {
      try check(scalar)
      text.append(scalar)
      index += 1
    }
    if next == "\"", !text.isEmpty {
      throw FilterError(position: position, message: "a quote may stand only around a whole value or name: escape nothing before it")
    }
    return String(text)
  }

  private mutating func quoted() throws(FilterError) -> String {
    let start = position
    var text = String.UnicodeScalarView()
    index += 1
    while let scalar = next {
      index += 1
      switch scalar {
      case "\"": return String(text)
      case "\\":
        guard let escaped = next, escaped == "\"" || escaped == "\\" else {
          throw FilterError(position: position, message: "after \\ in quotes, \" or \\ is expected")
        }
        text.append(escaped)
        index += 1
      // Keys and tags may have tabs.
      case "\t": text.append(scalar)
      default:
        index -= 1
        try check(scalar)
        index += 1
        text.append(scalar)
      }
    }
    throw FilterError(position: start, message: "the quote that begins here does not end")
  }

  /// Refuses control characters, which nobody types and no terminal shows.
  private func check(_ scalar: Unicode.Scalar) throws(FilterError) {
    guard scalar.properties.generalCategory == .control else { return }
    throw FilterError(position: position, message: "there is the control character U+\(Self.number(scalar)): leave it out")
  }

  private static func number(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// What is at the position, for a sentence.
  private var seen: String { next.map { Self.isBlank($0) ? ", not a blank" : ", not \"\($0)\"" } ?? ", but the filter ends" }

  /// The beginning of a word, for a sentence.
  static func shown(_ word: String) -> String { String(word.prefix(40)) }
}
