/// A hash that is the same on every machine and in every version, since what it decides is stored.
///
/// - Source: FNV-1a, 64 bits (RFC 9923). It detects mistakes and spreads values; it does not resist malice.
struct StableHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func mix(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

  mutating func mix(_ bytes: some Sequence<UInt8>) { for byte in bytes { mix(byte) } }

  mutating func mix<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number.littleEndian) { for byte in $0 { mix(byte) } }
  }

  /// A share of `whole`, from none to all of it, in whole milliseconds.
  ///
  /// - Source: The last steps are those of MurmurHash3: in FNV-1a alone, the last bytes do not reach the high bits.
  func share(of whole: UInt64) -> UInt64 {
    var hash = value
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    hash ^= hash >> 33
    return hash.multipliedFullWidth(by: whole.addingReportingOverflow(1).partialValue).high
  }
}
