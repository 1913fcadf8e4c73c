/// Reads D-Bus values from bytes; values beyond the end are nil, whatever the bytes claim.
struct BusReader {
  private let bytes: [UInt8]
  private let isBigEndian: Bool

  init(_ bytes: [UInt8], isBigEndian: Bool) {
    self.bytes = bytes
    self.isBigEndian = isBigEndian
  }

  func number(at offset: Int) -> UInt32? {
    guard offset >= 0, offset + 4 <= bytes.count else { return nil }
    let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    return isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
  }

  /// A text of `length` bytes followed by a zero.
  func text(at offset: Int, length: Int) -> String? {
    guard offset >= 0, length >= 0, length < bytes.count, offset + length < bytes.count, bytes[offset + length] == 0 else { return nil }
    return String(validating: bytes[offset..<offset + length], as: UTF8.self)
  }

  func byte(at offset: Int) -> UInt8? { bytes.indices.contains(offset) ? bytes[offset] : nil }
}
