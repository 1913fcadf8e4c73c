/// A key of the terminal.
enum Key: Hashable, Sendable {
  case character(Character)
  case control(Character)
  case enter, escape, backspace, tab, backTab
  case up, down, left, right, pageUp, pageDown, home, end
}

/// Divides the bytes of a terminal into keys (ECMA-48 control sequences as xterm sends them, UTF-8). Unknown sequences are dropped.
struct KeyParser {
  private var pending: [UInt8] = []

  /// The longest sequence that is waited for: a terminal that sends longer ones sends no keys.
  private static let longest = 32

  /// Whether bytes wait for more. An escape alone may be the key, or the begin of a sequence: the caller waits a moment, then calls ``flush()``.
  var isWaiting: Bool { !pending.isEmpty }

  /// The keys that `bytes` complete.
  mutating func feed(_ bytes: [UInt8]) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let (count, key) = next() {
      pending.removeFirst(count)
      if let key { keys.append(key) }
    }
    if pending.count > Self.longest { pending = [] }
    return keys
  }

  /// Nothing follows: what waits is taken as it is.
  mutating func flush() -> [Key] {
    defer { pending = [] }
    return pending.first == 0x1B ? [.escape] : []
  }

  /// The length and the key of the first sequence; nil if it is not complete. A key of nil means none.
  private func next() -> (Int, Key?)? {
    guard let first = pending.first else { return nil }
    switch first {
    case 0x1B: return escapeSequence()
    case 0x0D, 0x0A: return (1, .enter)
    case 0x09: return (1, .tab)
    case 0x7F, 0x08: return (1, .backspace)
    case 0..<0x20: return (1, .control(Character(Unicode.Scalar(first | 0x60))))
    default: return character(first)
    }
  }

  private func character(_ first: UInt8) -> (Int, Key?)? {
    let length =
      switch first {
      case ..<0x80: 1
      case 0xC2..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0..<0xF5: 4
      default: 0
      }
    guard length > 0 else { return (1, nil) }
    guard pending.count >= length else { return nil }
    guard let text = String(validating: pending.prefix(length), as: UTF8.self), let character = text.first else { return (1, nil) }
    return (length, .character(character))
  }

  private func escapeSequence() -> (Int, Key?)? {
    guard pending.count >= 2 else { return nil }
    guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
      return pending[1] == 0x1B ? (1, .escape) : (2, nil)
    }
    guard let end = pending.dropFirst(2).firstIndex(where: { 0x40...0x7E ~= $0 }) else { return nil }
    let number = pending[2..<end].prefix { 0x30...0x39 ~= $0 }
    return (end + 1, Self.key(pending[end], number: String(decoding: number, as: UTF8.self)))
  }

  private static func key(_ final: UInt8, number: String) -> Key? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "Z"): .backTab
    case UInt8(ascii: "~"):
      switch number {
      case "1", "7": .home
      case "4", "8": .end
      case "5": .pageUp
      case "6": .pageDown
      default: nil
      }
    default: nil
    }
  }
}
