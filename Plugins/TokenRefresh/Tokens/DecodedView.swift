/// A text with layers of encoding removed. It knows where in the original each byte came from.
struct DecodedView {
  /// The text without the layers removed so far.
  let bytes: [UInt8]
  private let origins: [Range<Int>]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    origins = bytes.indices.map { $0..<$0 + 1 }
  }

  private init(_ parts: [(byte: UInt8, origin: Range<Int>)]) {
    bytes = parts.map(\.byte)
    origins = parts.map(\.origin)
  }

  /// The byte that represents all bytes that are equal in a search: a space may be written `+`, and base64 has two alphabets.
  static func canonical(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "+"), UInt8(ascii: "-"): UInt8(ascii: " ")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: byte
    }
  }

  /// Whether a byte may separate the groups of a long text.
  static func isSeparator(_ byte: UInt8) -> Bool {
    switch canonical(byte) {
    case UInt8(ascii: " "), UInt8(ascii: ":"), 0x09, 0x0A, 0x0D: true
    default: false
    }
  }

  /// The places in the original that contain a needle. Needles have canonical bytes and are keyed by the first of them.
  func places(of needles: [UInt8: Set<[UInt8]>]) -> [Range<Int>] {
    let canonical = bytes.map(Self.canonical)
    var places: [Range<Int>] = []
    for start in canonical.indices {
      for needle in needles[canonical[start]] ?? [] where canonical[start...].starts(with: needle) {
        places.append(origins[start].lowerBound..<origins[start + needle.count - 1].upperBound)
      }
    }
    return places
  }

  func compacted() -> DecodedView {
    DecodedView(bytes.indices.filter { !Self.isSeparator(bytes[$0]) }.map { (byte: bytes[$0], origin: origins[$0]) })
  }

  /// The view with one more layer removed: percent-encoding, JSON escapes and HTML escapes. Nil if there is no such layer.
  func decoded() -> DecodedView? {
    var parts: [(byte: UInt8, origin: Range<Int>)] = []
    parts.reserveCapacity(bytes.count)
    var position = 0
    var changed = false
    while position < bytes.count {
      if let (plain, length) = escape(at: position) {
        let origin = origins[position].lowerBound..<origins[position + length - 1].upperBound
        parts += plain.map { ($0, origin) }
        position += length
        changed = true
      } else {
        parts.append((bytes[position], origins[position]))
        position += 1
      }
    }
    return changed ? DecodedView(parts) : nil
  }

  /// The meaning and the length of the escape that begins at `position`.
  private func escape(at position: Int) -> (plain: [UInt8], length: Int)? {
    switch bytes[position] {
    case UInt8(ascii: "%"): number(from: position + 1, digits: 2, radix: 16).map { ([UInt8(truncatingIfNeeded: $0)], 3) }
    case UInt8(ascii: "\\"): backslash(at: position)
    case UInt8(ascii: "&"): entity(at: position)
    default: nil
    }
  }

  private func backslash(at position: Int) -> (plain: [UInt8], length: Int)? {
    guard position + 1 < bytes.count else { return nil }
    switch bytes[position + 1] {
    case UInt8(ascii: "u"):
      guard let unit = number(from: position + 2, digits: 4, radix: 16) else { return nil }
      if 0xD800..<0xDC00 ~= unit, position + 7 < bytes.count, bytes[position + 6] == UInt8(ascii: "\\"),
        bytes[position + 7] == UInt8(ascii: "u"), let low = number(from: position + 8, digits: 4, radix: 16), 0xDC00..<0xE000 ~= low
      {
        return Self.utf8(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)).map { ($0, 12) }
      }
      return Self.utf8(unit).map { ($0, 6) }
    case UInt8(ascii: "x"): return number(from: position + 2, digits: 2, radix: 16).flatMap(Self.utf8).map { ($0, 4) }
    case UInt8(ascii: "n"): return ([0x0A], 2)
    case UInt8(ascii: "r"): return ([0x0D], 2)
    case UInt8(ascii: "t"): return ([0x09], 2)
    case UInt8(ascii: "b"): return ([0x08], 2)
    case UInt8(ascii: "f"): return ([0x0C], 2)
    case let other where other < 0x80: return ([other], 2)
    default: return nil
    }
  }

  private static let named: [(name: String, byte: UInt8)] = [
    ("amp", UInt8(ascii: "&")), ("lt", UInt8(ascii: "<")), ("gt", UInt8(ascii: ">")), ("quot", UInt8(ascii: "\"")),
    ("apos", UInt8(ascii: "'")),
  ]

  private func entity(at position: Int) -> (plain: [UInt8], length: Int)? {
    // The longest is &#x10FFFF; with some room for leading zeros.
    let window = bytes[position...].prefix(12)
    guard let end = window.firstIndex(of: UInt8(ascii: ";")), end > position + 1 else { return nil }
    let length = end - position + 1
    let name = bytes[position + 1..<end]
    guard name.first == UInt8(ascii: "#") else {
      return Self.named.first { $0.name.utf8.elementsEqual(name) }.map { ([$0.byte], length) }
    }
    let isHexadecimal = name.dropFirst().first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
    let digits = name.dropFirst(isHexadecimal ? 2 : 1)
    return number(from: digits.startIndex, digits: digits.count, radix: isHexadecimal ? 16 : 10).flatMap(Self.utf8).map { ($0, length) }
  }

  private func number(from position: Int, digits: Int, radix: UInt32) -> UInt32? {
    guard digits > 0, position + digits <= bytes.count else { return nil }
    var value: UInt32 = 0
    for byte in bytes[position..<position + digits] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt32.init), digit < radix else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: radix)
      guard !overflow, product <= 0xFFFF_FFF0 else { return nil }
      value = product + digit
    }
    return value
  }

  private static func utf8(_ value: UInt32) -> [UInt8]? {
    Unicode.Scalar(value).map { Array(String(Character($0)).utf8) }
  }
}
