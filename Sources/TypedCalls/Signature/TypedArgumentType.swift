/// The types of arguments. The cases are named as in a signature.
public enum TypedArgumentType: String, Sendable, Hashable, CaseIterable {
  /// `int8_t` to `int64_t`.
  case i8, i16, i32, i64
  /// `uint8_t` to `uint64_t`.
  case u8, u16, u32, u64
  /// `float` and `double`.
  case f32, f64
  /// `bool` (C99's `_Bool`): one byte, 0 or 1.
  case bool
  /// `const char *`: UTF-8, NUL-terminated, valid until the function returns.
  case str
  /// `const void *` and `size_t`, two C arguments: memory that is valid until the function returns, and its length in bytes.
  case bytes
  /// `taskhost_task`: the run's handle, for the host's functions. It does not come from the payload.
  case task

  /// The number of C arguments.
  public var nativeCount: Int { self == .bytes ? 2 : 1 }

  /// The values of an integer type; nil for other types.
  var integerRange: IntegerRange? {
    switch self {
    case .i8: IntegerRange(Int8.self)
    case .i16: IntegerRange(Int16.self)
    case .i32: IntegerRange(Int32.self)
    case .i64: IntegerRange(Int64.self)
    case .u8: IntegerRange(UInt8.self)
    case .u16: IntegerRange(UInt16.self)
    case .u32: IntegerRange(UInt32.self)
    case .u64: IntegerRange(UInt64.self)
    case .f32, .f64, .bool, .str, .bytes, .task: nil
    }
  }

  /// The required kind of the member in the payload, for error messages.
  var wanted: String {
    switch self {
    case .i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64: "a whole number"
    case .f32, .f64: "a number"
    case .bool: "true or false"
    case .str: "a string"
    case .bytes: "a string of base64"
    case .task: "nothing"
    }
  }
}

/// The range of an integer type, kept as sign and magnitude so that nothing is rounded or wraps.
struct IntegerRange: CustomStringConvertible {
  /// The magnitude of the lowest value; 0 for an unsigned type.
  let lowest: UInt64
  let highest: UInt64
  /// The size of a value in bytes.
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

  /// The range as in "-128 to 127".
  var description: String { "\(lowest > 0 ? "-" : "")\(lowest) to \(highest)" }
}
