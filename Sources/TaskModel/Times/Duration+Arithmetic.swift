// The standard library's operators trap when a result is out of range. A module's declarations take precedence over those of the standard
// library, so files that import TaskModel call these operators. They saturate at the ends of the range, about ±5 × 10¹² years.

extension Duration {
  /// The sum, saturating at the ends of the range.
  @inlinable public static func + (left: Duration, right: Duration) -> Duration {
    Duration(attoseconds: left.attoseconds.adding(saturating: right.attoseconds))
  }

  /// The difference, saturating at the ends of the range.
  @inlinable public static func - (left: Duration, right: Duration) -> Duration {
    Duration(attoseconds: left.attoseconds.subtracting(saturating: right.attoseconds))
  }

  /// The product, saturating at the ends of the range.
  @inlinable public static func * (left: Duration, right: some BinaryInteger) -> Duration {
    Duration(attoseconds: left.attoseconds.multiplied(saturatingBy: Int128(clamping: right)))
  }

  /// The product, saturating at the ends of the range. A literal is an `Int`; without this overload, it would select the standard library's
  /// operator.
  @inlinable public static func * (left: Duration, right: Int) -> Duration {
    Duration(attoseconds: left.attoseconds.multiplied(saturatingBy: Int128(right)))
  }

  /// The quotient rounded towards zero; a division by zero gives the end of the range. A literal is an `Int`.
  @inlinable public static func / (left: Duration, right: Int) -> Duration {
    Duration(attoseconds: left.attoseconds.divided(saturatingBy: Int128(right)))
  }

  /// The quotient rounded towards zero; a division by zero gives the end of the range.
  @inlinable public static func / (left: Duration, right: some BinaryInteger) -> Duration {
    Duration(attoseconds: left.attoseconds.divided(saturatingBy: Int128(clamping: right)))
  }

  /// Adds, saturating at the ends of the range.
  @inlinable public static func += (left: inout Duration, right: Duration) { left = left + right }

  /// Subtracts, saturating at the ends of the range.
  @inlinable public static func -= (left: inout Duration, right: Duration) { left = left - right }

  /// Multiplies, saturating at the ends of the range.
  @inlinable public static func *= (left: inout Duration, right: Int) { left = left * right }

  /// Divides, saturating at the ends of the range.
  @inlinable public static func /= (left: inout Duration, right: Int) { left = left / right }

  /// Unavailable: a factor that is NaN or too large traps.
  @available(*, unavailable, message: "multiply by a whole number: a NaN traps")
  public static func * (left: Duration, right: Double) -> Duration { left }

  /// Unavailable: a divisor that is NaN or too small traps.
  @available(*, unavailable, message: "divide by a whole number: a NaN traps")
  public static func / (left: Duration, right: Double) -> Duration { left }
}
