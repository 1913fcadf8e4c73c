import Glibc

/// The clock that file systems stamp their files with, and how much its coarseness can hide.
enum FileClock {
  /// Longer than a tick of any kernel, within which two changes of a file can get one time.
  private static let tick: Int64 = 20_000_000
  /// As ``tick`` for file systems that keep whole seconds only; FAT has two.
  private static let coarseTick: Int64 = 2_000_000_000

  /// Nanoseconds since 1970.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return FileMarks.nanoseconds(time)
  }

  /// Whether a change of the file at `moment` or later must show in its marks.
  static func hasSettled(_ marks: FileMarks, at moment: Int64) -> Bool {
    let (age, overflow) = moment.subtractingReportingOverflow(marks.changed)
    return !overflow && age > (marks.changed % 1_000_000_000 == 0 ? coarseTick : tick)
  }
}
