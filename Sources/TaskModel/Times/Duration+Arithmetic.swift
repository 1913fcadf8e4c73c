// The standard library's operators end the process when a result is out of range. A module's own declarations stand before those of the
// standard library, so wherever TaskModel is imported it is these that are called. They stop at the ends of the range, about ±5 × 10¹² years.

extension Duration {
  /// The sum, stopping at the ends of the range.
  @inlinable public static func + (left: Duration, right: Duration) -> Duration {
    Duration(attoseconds: left.attoseconds.adding(saturating: right.attoseconds))
  }

  /// The difference, stopping at the ends of the range.
  @inlinable public static func - (left: Duration, right: Duration) -> Duration {
    Duration(attoseconds: left.attoseconds.subtracting(saturating: right.attoseconds))
  }

  /// The product, stopping at the ends of the range.
  @inlinable public static func * (left: Duration, right: some BinaryInteger) -> Duration {
    Duration(attoseconds: left.attoseconds.multiplied(saturatingBy: Int128(clamping: right)))
  }

  /// The product, stopping at the ends of the range. A literal is of this type; without it, the standard library's operator would take it.
  @inlinable public static func * (left: Duration, right: Int) -> Duration {
    Duration(attoseconds: left.attoseconds.multiplied(saturatingBy: Int128(right)))
  }

  /// The quotient rounded towards zero; a division by zero gives the end of the range. A literal is of this type.
  @inlinable public static func / (left: Duration, right: Int) -> Duration {
    Duration(attoseconds: left.attoseconds.divided(saturatingBy: Int128(right)))
  }

  /// The quotient rounded towards zero; a division by zero gives the end of the range.
  @inlinable public static func / (left: Duration, right: some BinaryInteger) -> Duration {
    Duration(attoseconds: left.attoseconds.divided(saturatingBy: Int128(clamping: right)))
  }

  /// Adds, stopping at the ends of the range.
  @inlinable public static func += (left: inout Duration, right: Duration) { left = left + right }

  /// Subtracts, stopping at the ends of the range.
  @inlinable public static func -= (left: inout Duration, right: Duration) { left = left - right }

  /// Multiplies, stopping at the ends of the range.
  @inlinable public static func *= (left: inout Duration, right: Int) { left = left * right }

  /// Divides, stopping at the ends of the range.
  @inlinable public static func /= (left: inout Duration, right: Int) { left = left / right }

  /// Not offered: a factor that is no number, or is too large, ends the process.
  @available(*, unavailable, message: "multiply by a whole number: a fraction that is no number ends the process")
  public static func * (left: Duration, right: Double) -> Duration { left }

  /// Not offered: a divisor that is no number, or is too small, ends the process.
  @available(*, unavailable, message: "divide by a whole number: a fraction that is no number ends the process")
  public static func / (left: Duration, right: Double) -> Duration { left }
}
