package import FoundationEssentials

extension Date {
  package init(unixMilliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(unixMilliseconds) / 1000)
  }

  /// Milliseconds since 1970 for `earliest_begin_unix_ms`: rounded up, at least 1 because 0 means now, clamped to the largest value.
  package var earliestBeginMilliseconds: Int64 {
    // Dates are binary fractions of a second: without dropping fractions of a microsecond, 0.1 s could round up to 101 ms.
    let milliseconds = (timeIntervalSince1970 * 1000 - 0.001).rounded(.up)
    guard milliseconds >= 1 else { return 1 }
    return Int64(exactly: milliseconds) ?? .max
  }

  /// Milliseconds since 1970, rounded to the nearest; 0 for a date that does not fit.
  var unixMilliseconds: Int64 { Int64(exactly: (timeIntervalSince1970 * 1000).rounded()) ?? 0 }
}
