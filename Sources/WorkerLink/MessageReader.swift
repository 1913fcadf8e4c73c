import TaskModel

/// Decodes the fields of an untrusted message: every length is checked against its limit and the remaining bytes before use.
struct MessageReader {
  private let bytes: [UInt8]
  /// At most `bytes.count`.
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var remaining: Int { bytes.count - position }

  /// Reads the beginning of a message and returns its kind.
  mutating func kind() throws(LinkError) -> UInt8 {
    guard try byte("magic") == LinkFormat.magic else { throw .malformed(what: "it does not begin with the link's magic byte") }
    let version = try byte("version")
    guard version == LinkFormat.versionByte else { throw .version(found: version) }
    return try byte("kind")
  }

  /// Requires that all bytes are used.
  func end() throws(LinkError) {
    guard remaining == 0 else { throw .malformed(what: "\(remaining) bytes after its end") }
  }

  @inline(__always) mutating func byte(_ what: StaticString) throws(LinkError) -> UInt8 {
    guard remaining > 0 else { throw Self.ends(in: what) }
    defer { position += 1 }
    return bytes[position]
  }

  @inline(__always)
  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type, _ what: StaticString) throws(LinkError) -> Value {
    let size = MemoryLayout<Value>.size
    guard remaining >= size else { throw Self.ends(in: what) }
    let start = position
    position += size
    return Value(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Value.self) })
  }

  mutating func number(_ what: StaticString, in range: ClosedRange<Int> = 0...Int.max) throws(LinkError) -> Int {
    let value = Int(try integer(Int64.self, what))
    guard range.contains(value) else { throw .malformed(what: "\(what) is \(value), not \(range.lowerBound) to \(range.upperBound)") }
    return value
  }

  /// A time from outside, within ``TaskModel/WallTime/calendar``.
  mutating func moment(_ what: StaticString) throws(LinkError) -> WallTime {
    let time = try read(WallTime.self, what)
    guard WallTime.calendar.contains(time) else { throw .malformed(what: "\(what) lies outside of the years 1970 to 9999") }
    return time
  }

  mutating func flag(_ what: StaticString) throws(LinkError) -> Bool {
    let value = try byte(what)
    guard value <= 1 else { throw .malformed(what: "\(what) is \(value), neither 0 nor 1") }
    return value == 1
  }

  mutating func read<Value: WireValue>(_ type: Value.Type, _ what: StaticString) throws(LinkError) -> Value {
    try Value(reading: &self, what)
  }

  mutating func optional<Value: WireValue>(_ type: Value.Type, _ what: StaticString) throws(LinkError) -> Value? {
    try flag(what) ? try Value(reading: &self, what) : nil
  }

  mutating func optional<Value>(
    _ what: StaticString, _ read: (inout MessageReader) throws(LinkError) -> Value
  ) throws(LinkError) -> Value? {
    try flag(what) ? try read(&self) : nil
  }

  mutating func list<Value>(
    _ what: StaticString, atMost limit: Int, _ read: (inout MessageReader) throws(LinkError) -> Value
  ) throws(LinkError) -> [Value] {
    // An element has at least one byte: a count above the remaining bytes is refused before any memory is reserved.
    let count = try length(what, atMost: limit)
    var values: [Value] = []
    values.reserveCapacity(min(count, 64))
    for _ in 0..<count { values.append(try read(&self)) }
    return values
  }

  mutating func list<Value: WireValue>(_ type: Value.Type, _ what: StaticString, atMost limit: Int) throws(LinkError) -> [Value] {
    try list(what, atMost: limit) { (reader) throws(LinkError) in try Value(reading: &reader, what) }
  }

  mutating func blob(_ what: StaticString, atMost limit: Int) throws(LinkError) -> [UInt8] {
    Array(take(try length(what, atMost: limit)))
  }

  mutating func text(_ what: StaticString, atLeast least: Int = 0, atMost limit: Int) throws(LinkError) -> String {
    let count = try length(what, atMost: limit)
    guard count >= least else { throw .malformed(what: "\(what) has \(count) bytes, less than \(least)") }
    guard let text = String(validating: take(count), as: UTF8.self) else { throw .malformed(what: "\(what) is not valid UTF-8") }
    return text
  }

  mutating func identifier(_ what: StaticString) throws(LinkError) -> TaskIdentifier {
    let count = Int(try byte(what))
    guard count <= remaining else { throw Self.ends(in: what) }
    guard let text = String(validating: take(count), as: UTF8.self), let identifier = try? TaskIdentifier(text) else {
      throw .malformed(what: "\(what) is not an identifier")
    }
    return identifier
  }

  /// A 32-bit length within `limit` and the remaining bytes.
  private mutating func length(_ what: StaticString, atMost limit: Int) throws(LinkError) -> Int {
    let count = Int(try integer(UInt32.self, what))
    guard count <= limit else { throw .malformed(what: "\(what) has \(count) bytes or entries, more than \(limit)") }
    guard count <= remaining else { throw Self.ends(in: what) }
    return count
  }

  /// The caller has compared `count` with ``remaining``.
  private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    let start = position
    position += count
    return bytes[start..<position]
  }

  private static func ends(in what: StaticString) -> LinkError { .malformed(what: "it ends in \(what)") }
}
