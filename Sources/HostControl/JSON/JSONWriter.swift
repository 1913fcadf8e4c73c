/// Writes JSON as bytes, on one line. The caller balances what it begins and ends.
public struct JSONWriter {
  /// What was written so far.
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Nothing written.
  public init(reservingCapacity capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Begins an object; names and values follow.
  public mutating func beginObject() {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  /// Ends an object.
  public mutating func endObject() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  /// Begins an array; values follow.
  public mutating func beginArray() {
    separate()
    bytes.append(UInt8(ascii: "["))
    needsComma = false
  }

  /// Ends an array.
  public mutating func endArray() {
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// A member's name; its value follows.
  public mutating func name(_ name: String) {
    separate()
    appendQuoted(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A string.
  public mutating func value(_ text: String) {
    separate()
    appendQuoted(text)
  }

  /// A whole number.
  public mutating func value(_ number: some BinaryInteger) {
    separate()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// A truth value.
  public mutating func value(_ truth: Bool) {
    separate()
    bytes.append(contentsOf: (truth ? "true" : "false").utf8)
  }

  /// A value that is JSON already.
  public mutating func raw(_ text: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: text)
  }

  /// A member with a string; nothing when it is nil.
  public mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    self.name(name)
    value(text)
  }

  /// A member with a whole number; nothing when it is nil.
  public mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
    guard let number else { return }
    self.name(name)
    value(number)
  }

  /// A member with a truth value.
  public mutating func member(_ name: String, _ truth: Bool) {
    self.name(name)
    value(truth)
  }

  /// A member that is null.
  public mutating func nullMember(_ name: String) {
    self.name(name)
    raw("null".utf8)
  }

  /// A member with an array of strings.
  public mutating func member(_ name: String, _ texts: [String]) {
    self.name(name)
    beginArray()
    for text in texts { value(text) }
    endArray()
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  private mutating func appendQuoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(Self.hexDigits[Int(byte >> 4)])
        bytes.append(Self.hexDigits[Int(byte & 0xF)])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
