extension Duration {
  /// Whole milliseconds, rounded up, clamped to 0 and the largest value.
  var millisecondsRoundedUp: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let attosecondsPerMillisecond: Int64 = 1_000_000_000_000_000
    let fraction = UInt64((attoseconds + attosecondsPerMillisecond - 1) / attosecondsPerMillisecond)
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
    let (sum, carry) = whole.addingReportingOverflow(fraction)
    return overflow || carry ? .max : sum
  }
}
