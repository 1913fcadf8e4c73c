/// Writes D-Bus values, little endian.
struct BusWriter {
  var bytes: [UInt8] = []

  /// Pads with zeros to a multiple of `count`.
  mutating func align(_ count: Int) { while bytes.count % count != 0 { bytes.append(0) } }

  mutating func append(number: UInt32) {
    align(4)
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
  }

  mutating func append(string: String) {
    append(number: UInt32(string.utf8.count))
    bytes += Array(string.utf8) + [0]
  }

  mutating func append(signature: String) { bytes += [UInt8(truncatingIfNeeded: signature.utf8.count)] + Array(signature.utf8) + [0] }
}
