/// A pattern for one name, matched in time proportional to the pattern's length times the name's.
struct NamePattern: Sendable, Equatable {
  private let tokens: [Token]
  private let isAnything: Bool

  private enum Token: Sendable, Equatable {
    case byte(UInt8)
    case anyCharacter
    case anyRun
    case set(ranges: [ClosedRange<UInt8>], inverted: Bool)
  }

  static let anything = NamePattern(tokens: [.anyRun])

  private init(tokens: [Token]) {
    self.tokens = tokens
    isAnything = tokens == [.anyRun]
  }

  /// - Throws: ``Refusal``, without the glob, for a component that is not a pattern, or that other tools would read differently.
  init(_ component: [UInt8]) throws(Refusal) {
    func refusal(_ reason: String) -> Refusal { Refusal(text: "", reason: reason) }
    guard !component.isEmpty else { throw refusal("has an empty component; write single slashes, none at the end") }
    guard component != [0x2E], component != [0x2E, 0x2E] else { throw refusal("contains \".\" or \"..\"; name only directories below") }
    var tokens: [Token] = []
    var index = 0
    while index < component.count {
      let byte = component[index]
      index += 1
      switch byte {
      case 0: throw refusal("contains a null byte")
      case UInt8(ascii: "*"):
        if tokens.last == .anyRun { throw refusal("has \"**\" inside a component; it must stand alone between slashes") }
        tokens.append(.anyRun)
      case UInt8(ascii: "?"): tokens.append(.anyCharacter)
      case UInt8(ascii: "{"), UInt8(ascii: "}"):
        throw refusal("has a brace, and alternatives are not supported; write several globs, or \"\\{\" for the brace itself")
      case UInt8(ascii: "\\"):
        guard index < component.count else { throw refusal("ends a component with a backslash") }
        tokens.append(.byte(component[index]))
        index += 1
      case UInt8(ascii: "["):
        guard let (set, end) = Self.set(component, from: index) else {
          throw refusal("has a \"[\" that opens no set of ASCII characters; write \"\\[\" for the bracket itself")
        }
        tokens.append(set)
        index = end
      default: tokens.append(.byte(byte))
      }
    }
    self.init(tokens: tokens)
  }

  func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    if isAnything { return true }
    var token = 0
    var place = 0
    // The place of the last `*` and the current end of its run. On a mismatch the run grows by a byte; earlier runs never need to grow.
    var star: (token: Int, place: Int)?
    while true {
      if token < tokens.count, tokens[token] == .anyRun {
        star = (token, place)
        token += 1
      } else if token == tokens.count, place == name.count {
        return true
      } else if token < tokens.count, place < name.count, let length = length(of: tokens[token], at: place, in: name) {
        token += 1
        place += length
      } else if let last = star, last.place < name.count {
        star = (last.token, last.place + 1)
        token = last.token + 1
        place = last.place + 1
      } else {
        return false
      }
    }
  }

  /// The number of bytes at `place` that the token matches; nil if it does not match.
  private func length(of token: Token, at place: Int, in name: UnsafeRawBufferPointer) -> Int? {
    let byte = name[place]
    switch token {
    case .byte(let wanted): return byte == wanted ? 1 : nil
    case .anyRun: return nil
    case .anyCharacter: return Self.characterLength(at: place, in: name)
    case .set(let ranges, let inverted):
      let isIn = ranges.contains { $0.contains(byte) }
      guard isIn != inverted else { return nil }
      return inverted ? Self.characterLength(at: place, in: name) : 1
    }
  }

  /// The length of the UTF-8 character at `place`; 1 for a byte that begins no character.
  private static func characterLength(at place: Int, in name: UnsafeRawBufferPointer) -> Int {
    let byte = name[place]
    let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1
    guard place + length <= name.count, (1..<max(length, 1)).allSatisfy({ name[place + $0] & 0xC0 == 0x80 }) else { return 1 }
    return length
  }

  /// The set whose `[` stands before `start`, and the index after its `]`.
  private static func set(_ component: [UInt8], from start: Int) -> (Token, Int)? {
    var index = start
    var inverted = false
    if index < component.count, component[index] == UInt8(ascii: "!") || component[index] == UInt8(ascii: "^") {
      inverted = true
      index += 1
    }
    var ranges: [ClosedRange<UInt8>] = []
    while index < component.count {
      let low = component[index]
      if low == UInt8(ascii: "]"), !ranges.isEmpty { return (.set(ranges: ranges, inverted: inverted), index + 1) }
      guard low < 0x80, low != 0 else { return nil }
      if index + 2 < component.count, component[index + 1] == UInt8(ascii: "-"), component[index + 2] != UInt8(ascii: "]") {
        let high = component[index + 2]
        guard high < 0x80, low <= high else { return nil }
        ranges.append(low...high)
        index += 3
      } else {
        ranges.append(low...low)
        index += 1
      }
    }
    return nil
  }
}
