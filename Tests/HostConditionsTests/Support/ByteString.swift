/// Bytes as a protocol lays them out.
struct ByteString {
  var bytes: [UInt8] = []

  mutating func append(_ values: any FixedWidthInteger...) {
    for value in values { append(number: value) }
  }

  private mutating func append(number: some FixedWidthInteger) { withUnsafeBytes(of: number) { bytes += $0 } }

  /// A `struct nlattr` with its value, filled up to four bytes.
  mutating func attribute(_ type: UInt16, _ value: [UInt8]) {
    append(UInt16(4 + value.count), type)
    bytes += value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
  }

  /// A `struct nlmsghdr` with its body, filled up to four bytes.
  static func message(_ type: UInt16, flags: UInt16 = 0, _ body: [UInt8]) -> [UInt8] {
    var whole = ByteString()
    whole.append(UInt32(16 + body.count), type, flags, UInt32(1), UInt32(0))
    return whole.bytes + body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
  }

  /// The body of a message about an interface.
  static func link(index: Int32, flags: UInt32, name: String, family: UInt8 = 0) -> [UInt8] {
    var body = ByteString()
    body.append(family, UInt8(0), UInt16(1), index, flags, UInt32(0))
    body.attribute(3, Array(name.utf8) + [0])
    return body.bytes
  }

  /// The body of a message about a route.
  static func route(
    family: UInt8 = 2, length: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1, flags: UInt32 = 0, _ attributes: [(UInt16, UInt32)]
  ) -> [UInt8] {
    var body = ByteString()
    body.append(family, length, UInt8(0), UInt8(0), table, UInt8(3), UInt8(0), type, flags)
    for (type, value) in attributes {
      var number = ByteString()
      number.append(value)
      body.attribute(type, number.bytes)
    }
    return body.bytes
  }
}
