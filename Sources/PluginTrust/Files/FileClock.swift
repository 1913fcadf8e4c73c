import Glibc

/// The clock of file timestamps, and the changes that its resolution can hide.
enum FileClock {
  /// Longer than any kernel's tick, within which two changes of a file can get the same time.
  private static let tick: Int64 = 20_000_000
  /// As ``tick``, for file systems that store whole seconds, or two seconds in the case of FAT.
  private static let coarseTick: Int64 = 2_000_000_000

  /// Nanoseconds since 1970.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return FileMarks.nanoseconds(time)
  }

  /// Whether any change of the file at `moment` or later will show in its marks.
  static func hasSettled(_ marks: FileMarks, at moment: Int64) -> Bool {
    let (age, overflow) = moment.subtractingReportingOverflow(marks.changed)
    return !overflow && age > (marks.changed % 1_000_000_000 == 0 ? coarseTick : tick)
  }
}
