/// Writes JSON as bytes, on one line. The caller must end every array and object that it begins.
///
/// It makes no intermediate strings, because the answer to an array of 10,000 requests has two million bytes.
public struct JSONWriter {
  /// The bytes written so far.
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Creates a writer without content.
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

  /// The bytes of one object with the members that `write` writes.
  public static func object(reservingCapacity capacity: Int = 256, _ write: (inout JSONWriter) throws -> Void) rethrows -> [UInt8] {
    var writer = JSONWriter(reservingCapacity: capacity)
    try writer.object(write)
    return writer.bytes
  }

  /// Writes an object with the members that `write` writes.
  public mutating func object(_ write: (inout JSONWriter) throws -> Void) rethrows {
    beginObject()
    try write(&self)
    endObject()
  }

  /// Writes a member that is an object with the members that `write` writes.
  public mutating func object(_ name: String, _ write: (inout JSONWriter) -> Void) {
    self.name(name)
    object(write)
  }

  /// Writes a member's name; its value follows.
  ///
  /// - Parameter suffix: Appended to the name; must not need escaping.
  public mutating func name(_ name: String, suffix: StaticString = "") {
    separate()
    bytes.append(UInt8(ascii: "\""))
    appendEscaped(name)
    suffix.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a string.
  public mutating func value(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    appendEscaped(text)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a whole number.
  @inlinable public mutating func value(_ number: some BinaryInteger) {
    digits(UInt64(number.magnitude), isNegative: number < 0)
  }

  @usableFromInline mutating func digits(_ number: UInt64, isNegative: Bool) {
    separate()
    if isNegative { bytes.append(UInt8(ascii: "-")) }
    bytes.appendDecimal(number)
  }

  /// Writes the bytes that `append` appends as a string; they must not need escaping.
  public mutating func value(_ append: (inout [UInt8]) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    append(&bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a boolean.
  public mutating func value(_ truth: Bool) {
    separate()
    bytes.append(contentsOf: (truth ? "true" : "false").utf8)
  }

  /// Writes a value that is already JSON.
  public mutating func raw(_ text: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: text)
  }

  /// The same for an array, in a tenth of the time: other modules' calls of the general form append byte by byte.
  public mutating func raw(_ text: [UInt8]) {
    separate()
    bytes.append(contentsOf: text)
  }

  /// Writes a member that is a string; writes nothing if it is nil.
  public mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    self.name(name)
    value(text)
  }

  /// Writes a member that is a whole number; writes nothing if it is nil.
  @inlinable public mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
    guard let number else { return }
    self.name(name)
    value(number)
  }

  /// Writes a member that is a boolean.
  public mutating func member(_ name: String, _ truth: Bool) {
    self.name(name)
    value(truth)
  }

  /// Writes a member that is null.
  public mutating func nullMember(_ name: String) {
    self.name(name)
    raw("null".utf8)
  }

  /// Writes a member that is an array of strings.
  public mutating func member(_ name: String, _ texts: [String]) {
    self.name(name)
    beginArray()
    for text in texts { value(text) }
    endArray()
  }

  /// Like `member(_:_:)` for a string, with a name from an enumeration.
  public mutating func member(_ name: some RawRepresentable<String>, _ text: String?) { member(name.rawValue, text) }

  /// Like `member(_:_:)` for a whole number, with a name from an enumeration.
  @inlinable public mutating func member(_ name: some RawRepresentable<String>, _ number: (some BinaryInteger)?) {
    member(name.rawValue, number)
  }

  /// Writes a member that is an array of objects, one for each value, with the members that `write` writes.
  @inlinable public mutating func array<Value>(_ name: String, _ values: [Value], _ write: (inout JSONWriter, Value) -> Void) {
    self.name(name)
    beginArray()
    for value in values { object { write(&$0, value) } }
    endArray()
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  private mutating func appendEscaped(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      guard utf8.contains(where: Self.needsEscape) else { return bytes.append(contentsOf: utf8) }
      for byte in utf8 { appendEscaped(byte) }
    }
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
  }

  private mutating func appendEscaped(_ byte: UInt8) {
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
}

extension [UInt8] {
  /// Appends the decimal digits of `number`.
  fileprivate mutating func appendDecimal(_ number: UInt64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var first = 20
      var rest = number
      repeat {
        first -= 1
        digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      append(contentsOf: digits[first...])
    }
  }
}
