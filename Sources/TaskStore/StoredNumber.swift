import TaskModel

/// Reads numbers from rows. A file can contain anything: a number that no host writes becomes the nearest number that a host writes.
enum StoredNumber {
  /// A count, 0 to 2³¹ − 1, so that adding 1 never overflows.
  static func count(_ value: Int64) -> Int { Int(Int32(clamping: max(0, value))) }

  /// The number of missed occurrences to run, clamped to its range, because each of them is computed.
  static func missedRuns(_ value: Int) -> Int { min(max(value, Limits.missedRuns.lowerBound), Limits.missedRuns.upperBound) }

  /// A priority, clamped to its range.
  static func priority(_ value: Int64) -> Int {
    min(max(Int(clamping: value), Limits.priorities.lowerBound), Limits.priorities.upperBound)
  }
}

extension WallTime {
  /// Reads a time from a row. Times after the year 9999 become "never"; times as far before 1970 become the earliest time.
  init(stored milliseconds: Int64) {
    let last = Self.calendar.upperBound.unixMilliseconds
    self.init(unixMilliseconds: milliseconds > last ? .max : max(milliseconds, -last))
  }
}
