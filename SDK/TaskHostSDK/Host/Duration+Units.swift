extension Duration {
  /// Whole milliseconds, rounded up; 0 for a negative duration, the largest value on overflow.
  var millisecondsRoundedUp: UInt64 { roundedUp(unitsPerSecond: 1000) }

  /// Whole nanoseconds, rounded in the same way.
  var nanosecondsRoundedUp: UInt64 { roundedUp(unitsPerSecond: 1_000_000_000) }

  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  private func roundedUp(unitsPerSecond units: UInt64) -> UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let attosecondsPerUnit = 1_000_000_000_000_000_000 / units
    let fraction = (UInt64(attoseconds) + attosecondsPerUnit - 1) / attosecondsPerUnit
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: units)
    let (sum, carry) = whole.addingReportingOverflow(fraction)
    return overflow || carry ? .max : sum
  }
}
