// Numbers from outside can lie at the ends of their range, where `+`, `-` and `*` trap. These functions saturate instead.

extension FixedWidthInteger {
  /// The sum, saturating at the ends of the range.
  @inlinable public func adding(saturating other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, saturating at the ends of the range.
  @inlinable public func subtracting(saturating other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// The product, saturating at the ends of the range.
  @inlinable public func multiplied(saturatingBy other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }

  /// The quotient rounded towards zero; a division by zero gives the end of the range on the side of the dividend, and 0 for 0.
  @inlinable public func divided(saturatingBy other: Self) -> Self {
    guard other != 0 else { return self == 0 ? 0 : (self < 0 ? .min : .max) }
    let (quotient, overflow) = dividedReportingOverflow(by: other)
    return overflow ? .max : quotient
  }
}
