extension Duration {
  /// Whole milliseconds, rounded towards zero, saturating at the ends of `Int64`.
  public var wholeMilliseconds: Int64 { whole(unitsPerSecond: 1000, attosecondsPerUnit: 1_000_000_000_000_000) }

  /// Whole nanoseconds, rounded towards zero, saturating at the ends of `Int64`.
  public var wholeNanoseconds: Int64 { whole(unitsPerSecond: 1_000_000_000, attosecondsPerUnit: 1_000_000_000) }

  private func whole(unitsPerSecond: Int64, attosecondsPerUnit: Int64) -> Int64 {
    let (seconds, attoseconds) = components
    let (units, overflow) = seconds.multipliedReportingOverflow(by: unitsPerSecond)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carried) = units.addingReportingOverflow(attoseconds / attosecondsPerUnit)
    return carried ? (seconds < 0 ? .min : .max) : sum
  }
}
