/// The limits for the files that a rule matches. At least one of the first three is set.
struct Limits: Sendable, Equatable {
  var maxAge: Duration?
  /// While the files together have more bytes than this (apparent size, hard links counted once), the oldest is removed.
  var maxTotalBytes: UInt64?
  /// While there are more names than this, the oldest is removed.
  var maxCount: Int?
  /// The number of newest files that are never removed, whatever the limits say.
  var keepNewest = 0
  /// Files younger than this are never removed, whatever the limits say.
  var minAge: Duration = .zero

  /// The age in nanoseconds; negative for a time in the future.
  func age(of time: Int64, at now: Int64) -> Int64 {
    let (difference, overflow) = now.subtractingReportingOverflow(time)
    return overflow ? (time < 0 ? .max : .min) : difference
  }

  func isOldEnough(_ age: Int64) -> Bool { minAge <= .zero || age >= minAge.wholeNanoseconds }
}

extension Duration {
  /// Whole nanoseconds; the settings admit at most 100 years, which fit.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
