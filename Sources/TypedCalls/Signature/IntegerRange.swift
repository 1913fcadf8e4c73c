/// The values of an integer type, kept as sign and magnitude so that nothing is rounded or wraps.
struct IntegerRange: CustomStringConvertible {
  /// The magnitude of the lowest value; 0 for an unsigned type.
  let lowest: UInt64
  let highest: UInt64
  /// Bytes of a value.
  let width: Int

  init<Integer: FixedWidthInteger>(_ type: Integer.Type) {
    lowest = UInt64(Integer.min.magnitude)
    highest = UInt64(Integer.max.magnitude)
    width = Integer.bitWidth / 8
  }

  /// The value's bits as a sign-extended 64-bit number; nil if the type cannot hold it.
  func bits(isNegative: Bool, magnitude: UInt64) -> UInt64? {
    if isNegative { return magnitude <= lowest ? 0 &- magnitude : nil }
    return magnitude <= highest ? magnitude : nil
  }

  /// "-128 to 127".
  var description: String { "\(lowest > 0 ? "-" : "")\(lowest) to \(highest)" }
}
