/// Gives out identifiers: readable, valid, each one once.
struct IdentifierBook {
  private var given: Set<String> = []
  private static let longest = 120

  /// An identifier of the parts, joined by dots. A second one of the same parts gets `-2`, a third one `-3`.
  mutating func next(_ parts: String...) -> String {
    let base = String(parts.map(Self.word).filter { !$0.isEmpty }.joined(separator: ".").prefix(Self.longest))
    var (identifier, number) = (base, 2)
    while !given.insert(identifier).inserted {
      identifier = "\(base)-\(number)"
      number += 1
    }
    return identifier
  }

  /// The text with letters, digits, `_`, `-` and inner dots alone.
  static func word(_ text: String) -> String {
    var word: [UInt8] = []
    for byte in text.utf8 {
      let isPlain = Bytes.isAlphanumeric(byte) || [0x5f, 0x2e].contains(byte)
      if isPlain { word.append(byte) } else if word.last != 0x2d, !word.isEmpty { word.append(0x2d) }
    }
    while let last = word.last, last == 0x2d || last == 0x2e { word.removeLast() }
    return String(decoding: word.drop { $0 == 0x2e || $0 == 0x2d || $0 == 0x5f }, as: UTF8.self)
  }
}
