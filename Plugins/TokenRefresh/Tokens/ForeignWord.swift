/// A run of characters without a space in a server's text, and whether it reads like a word.
///
/// Words of a language, names such as `invalid_grant`, `AADSTS70008`, `OAuth2` or `UserNotFound`, and short numbers do. A run with more
/// than a few bytes of anything else does not.
struct ForeignWord {
  /// The maximum length of a run: longer than most words, shorter than most tokens.
  private static let longest = 24
  /// The maximum length of a run of lower-case words and underscores, such as an OAuth error.
  private static let longestName = 64
  private static let longestHost = 64
  private static let mostDigits = (row: 8, all: 14)
  /// The minimum number of letters and digits for which their mixture counts.
  private static let shortestMix = 6
  /// The maximum number of letters and digits in a run with small letters, capitals and digits, such as `OAuth2.0`.
  private static let longestMixed = 8
  /// The maximum number of consecutive groups of up to three hexadecimal digits; a time of day and an IP address do not exceed it.
  private static let mostGroups = 4

  /// The run in a form that may be shown unless ``isEncoded``: an address is reduced to scheme and host.
  let shown: String
  /// The number of letters and digits.
  let size: Int
  /// Whether the run may be a token or a part of one.
  let isEncoded: Bool
  /// Whether several such runs in sequence may be a token: single characters, short hexadecimal numbers, letters mixed with digits or
  /// capitals.
  let isFragment: Bool

  var isPunctuation: Bool { size == 0 }

  init(_ text: String) {
    let core = Self.trimmed(text)
    if let address = core.firstRange(of: "://") {
      let origin = Self.origin(core[..<address.lowerBound], core[address.upperBound...])
      shown = origin ?? text
      size = text.unicodeScalars.count
      isEncoded = origin == nil
      isFragment = false
    } else {
      let mix = Mix(core)
      shown = text
      size = mix.size
      isEncoded = Self.isTooLong(core) || text.utf8.count > Redactor.limit || Self.hasEscapes(text) || mix.isEncoded
      isFragment = mix.isFragment
    }
  }

  /// The text without surrounding punctuation.
  private static func trimmed(_ text: String) -> Substring {
    let marks = "\"'`()[]{}<>.,;:!?*/|-–—…«»“”‘’"
    guard let first = text.firstIndex(where: { !marks.contains($0) }), let last = text.lastIndex(where: { !marks.contains($0) }) else {
      return ""
    }
    return text[first...last]
  }

  /// The scheme and host of an address; nil if the host does not read like one.
  private static func origin(_ scheme: Substring, _ rest: Substring) -> String? {
    let host = rest.prefix { !"/?#".contains($0) }
    guard
      scheme == "https" || scheme == "http", !host.isEmpty, host.utf8.count <= longestHost,
      host.utf8.allSatisfy({ Mix.isLetterOrDigit($0) || ".-:[]".utf8.contains($0) })
    else { return nil }
    let labels = host.split { ".:[]".contains($0) }
    return labels.contains { ForeignWord(String($0)).isEncoded } ? nil : "\(scheme)://\(host)"
  }

  private static func isTooLong(_ text: Substring) -> Bool {
    let isName = text.utf8.contains(UInt8(ascii: "_")) && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    if isName { return text.utf8.count > longestName || text.split(separator: "_").contains { $0.utf8.count > longest } }
    // Languages that write without spaces need only one character for a word.
    return text.unicodeScalars.count { !isDense($0) } > longest
  }

  /// Ideographs, kana, Hangul, Thai, Lao, Khmer and Burmese.
  private static func isDense(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3000...0x30FF, 0xAC00...0xD7AF: true
    default: scalar.properties.isIdeographic
    }
  }

  /// Whether the text has signs of an encoding: `%2F`, `=2F`, `\`, `&#`, a final `=`.
  private static func hasEscapes(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    for (position, byte) in bytes.enumerated() {
      let next = bytes.dropFirst(position + 1).prefix(2)
      switch byte {
      case UInt8(ascii: "\\"): return true
      case UInt8(ascii: "&") where next.first == UInt8(ascii: "#"): return true
      case UInt8(ascii: "%") where next.count == 2 && next.allSatisfy(Mix.isHexadecimal): return true
      case UInt8(ascii: "=") where next.count == 2 && next.allSatisfy(Mix.isHexadecimal) && next.first.map { $0 < 0x61 } == true:
        return true
      case UInt8(ascii: "=") where !next.contains(where: Mix.isLetterOrDigit): return true
      default: break
      }
    }
    return false
  }

  /// The mixture of letters, capitals and digits in a run.
  private struct Mix {
    private var letters = 0
    private var digits = 0
    private var hasCapitals = false
    private var hasSmall = false
    /// The number of small letters followed by a capital.
    private var rises = 0
    /// The number of changes between letters and digits, ignoring punctuation between them.
    private var switches = 0
    private var longestDigits = 0
    private var mostGroups = 0
    private let isShortHexadecimal: Bool

    init(_ text: Substring) {
      var digitsInRow = 0
      var groups = 0
      var last: Kind?
      for scalar in text.unicodeScalars {
        guard let kind = Kind(scalar) else {
          digitsInRow = 0
          continue
        }
        switch kind {
        case .digit:
          digits += 1
          digitsInRow += 1
          longestDigits = max(longestDigits, digitsInRow)
        case .capital, .small:
          letters += 1
          digitsInRow = 0
          if kind == .capital { hasCapitals = true } else { hasSmall = true }
        }
        if let last {
          if (last == .digit) != (kind == .digit) { switches += 1 }
          if last == .small, kind == .capital { rises += 1 }
        }
        last = kind
      }
      let parts = text.utf8.split { !Self.isLetterOrDigit($0) }
      for part in parts {
        groups = part.count <= 3 && part.allSatisfy(Self.isHexadecimal) ? groups + 1 : 0
        mostGroups = max(mostGroups, groups)
      }
      let number = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text
      isShortHexadecimal = (1...3).contains(number.utf8.count) && number.utf8.allSatisfy(Self.isHexadecimal)
    }

    var size: Int { letters + digits }

    var isEncoded: Bool {
      if longestDigits > ForeignWord.mostDigits.row || digits > ForeignWord.mostDigits.all { return true }
      if mostGroups > ForeignWord.mostGroups { return true }
      guard size >= ForeignWord.shortestMix else { return false }
      if hasCapitals, hasSmall, digits > 0, size > ForeignWord.longestMixed { return true }
      return switches > 1 || rises * 4 > letters
    }

    var isFragment: Bool { isShortHexadecimal || size <= 1 || (letters > 0 && digits > 0) || rises > 0 }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
      isDigit(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    static func isHexadecimal(_ byte: UInt8) -> Bool {
      isDigit(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private enum Kind {
      case digit
      case capital
      case small

      /// nil if the character is neither a letter nor a digit.
      init?(_ scalar: Unicode.Scalar) {
        if scalar.properties.numericType != nil, !scalar.properties.isIdeographic {
          self = .digit
        } else if scalar.properties.isUppercase {
          self = .capital
        } else if scalar.properties.isAlphabetic {
          self = .small
        } else {
          return nil
        }
      }
    }
  }
}
