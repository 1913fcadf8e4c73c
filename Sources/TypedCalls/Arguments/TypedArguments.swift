/// The arguments of one call, read from a payload and checked against a signature.
public struct TypedArguments: Sendable, Hashable {
  /// A value for each argument except `task`, in the signature's order.
  public let values: [TypedValue]
}

/// The value of one argument, as passed to the function.
public enum TypedValue: Sendable, Hashable {
  /// An omitted optional argument: 0, false or NULL.
  case absent
  /// A value of any integer type, sign-extended to 64 bits if the type is signed.
  case integer(bits: UInt64)
  /// `f32`, finite.
  case float(Float)
  /// `f64`, finite.
  case double(Double)
  /// `bool`.
  case bool(Bool)
  /// `str`: UTF-8 without any 0 byte.
  case text([UInt8])
  /// `bytes`.
  case bytes([UInt8])
}
