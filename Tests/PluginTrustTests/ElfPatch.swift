/// Writing numbers into a 64-bit little-endian ELF file.
struct ElfPatch {
  var bytes: [UInt8]

  mutating func set<Number: FixedWidthInteger>(_ offset: Int, _ value: Number) {
    for index in 0..<MemoryLayout<Number>.size { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
  }

  func number(_ offset: Int, size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
  }

  /// File offsets of the program headers of a type.
  func headers(_ type: UInt32) -> [Int] {
    let start = Int(number(32, size: 8))
    return (0..<Int(number(56, size: 2))).map { start + 56 * $0 }.filter { number($0, size: 4) == UInt64(type) }
  }

  /// File offset of the value of the entry with that tag in the dynamic section.
  func dynamicValue(_ tag: UInt64) -> Int? {
    guard let header = headers(2).first else { return nil }
    let start = Int(number(header + 8, size: 8))
    let size = Int(number(header + 32, size: 8))
    return stride(from: start, to: start + size, by: 16).first { number($0, size: 8) == tag }.map { $0 + 8 }
  }
}
