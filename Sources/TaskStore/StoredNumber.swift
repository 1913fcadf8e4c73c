import TaskModel

/// Numbers from rows. A file may say anything: what no host of ours writes is read as the nearest number that one does.
enum StoredNumber {
  /// How many there are of something; 0 to 2³¹ − 1, so that one more is always a number.
  static func count(_ value: Int64) -> Int { Int(Int32(clamping: max(0, value))) }

  /// How many missed occurrences run, within its range: each of them is looked for.
  static func missedRuns(_ value: Int) -> Int { min(max(value, Limits.missedRuns.lowerBound), Limits.missedRuns.upperBound) }

  /// A priority within its range.
  static func priority(_ value: Int64) -> Int {
    min(max(Int(clamping: value), Limits.priorities.lowerBound), Limits.priorities.upperBound)
  }
}

extension WallTime {
  /// A time of a row: what lies after the year 9999 is never, what lies as far before 1970 is the earliest there is.
  init(stored milliseconds: Int64) {
    let last = Self.calendar.upperBound.unixMilliseconds
    self.init(unixMilliseconds: milliseconds > last ? .max : max(milliseconds, -last))
  }
}
