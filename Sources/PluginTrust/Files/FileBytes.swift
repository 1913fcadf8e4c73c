/// Bytes that were read from a file, and the little-endian numbers in them.
///
/// Every accessor is total: bytes beyond the end are zero, so a damaged file cannot trap the host. Readers ask for exactly the bytes that
/// they decode, and get them or an ``Rejection``.
struct FileBytes: Sendable {
  let bytes: [UInt8]

  func number<Number: FixedWidthInteger & UnsignedInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
    var value: Number = 0
    for index in 0..<MemoryLayout<Number>.size where bytes.indices.contains(offset + index) {
      value |= Number(bytes[offset + index]) << (8 * index)
    }
    return value
  }
}
