import TaskModel

/// Appends fields to a message. Texts for people are adapted to ``PluginText``; the reader checks everything else.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: The expected size in bytes.
  init(kind: UInt8, capacity: Int) {
    bytes.reserveCapacity(capacity)
    bytes.append(LinkFormat.magic)
    bytes.append(LinkFormat.versionByte)
    bytes.append(kind)
  }

  @inline(__always) mutating func byte(_ value: UInt8) { bytes.append(value) }

  @inline(__always) mutating func integer(_ value: some FixedWidthInteger & BitwiseCopyable) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// A number that should not be negative, as 64 bits.
  mutating func number(_ value: Int) { integer(Int64(value)) }

  mutating func flag(_ value: Bool) { byte(value ? 1 : 0) }

  mutating func write(_ value: some WireValue) { value.write(to: &self) }

  mutating func optional(_ value: (some WireValue)?) {
    guard let value else { return byte(0) }
    byte(1)
    value.write(to: &self)
  }

  mutating func optional<Value>(_ value: Value?, _ write: (inout MessageWriter, Value) -> Void) {
    guard let value else { return byte(0) }
    byte(1)
    write(&self, value)
  }

  mutating func list<Value>(_ values: [Value], _ write: (inout MessageWriter, Value) -> Void) {
    count(values.count)
    for value in values { write(&self, value) }
  }

  mutating func list(_ values: [some WireValue]) { list(values) { $0.write($1) } }

  mutating func blob(_ value: [UInt8]) {
    count(value.count)
    bytes.append(contentsOf: value)
  }

  /// A text for programs, never cut.
  mutating func text(_ value: String) {
    count(value.utf8.count)
    append(value)
  }

  /// An identifier, whose length takes one byte.
  mutating func identifier(_ value: TaskIdentifier) {
    byte(UInt8(truncatingIfNeeded: value.rawValue.utf8.count))
    append(value.rawValue)
  }

  private mutating func append(_ text: String) {
    if text.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil { bytes.append(contentsOf: text.utf8) }
  }

  private mutating func count(_ value: Int) { integer(UInt32(clamping: value)) }
}
