import CalendarTime
import Glibc
import HostThreads
import TaskModel

/// Moments as people write and read them.
enum MomentText {
  /// Milliseconds since 1970.
  static var now: Int64 { SystemClock().wallTime.unixMilliseconds }

  /// The meaning of a text.
  enum Reading: Equatable {
    /// A moment; the first one if clocks show the time twice.
    case moment(WallTime)
    /// A time that clocks skip in this time zone, and the time that they show instead.
    case skipped(showing: String)
    case none
  }

  /// Reads RFC 3339, or `2026-11-21 08:00` (optionally with seconds, or `T` instead of the blank) in this machine's time zone.
  static func read(_ text: String) -> Reading { RFC3339.parse(text).map { .moment($0) } ?? readLocal(text) }

  private static func readLocal(_ text: String) -> Reading {
    let halves = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
    guard halves.count == 2 else { return .none }
    let date = numbers(halves[0], separator: "-")
    let time = numbers(halves[1], separator: ":")
    guard let date, let time, date.count == 3, time.count == 2 || time.count == 3, (1970...9999).contains(date[0]) else { return .none }
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (date[0] - 1900, date[1] - 1, date[2])
    (fields.tm_hour, fields.tm_min, fields.tm_sec) = (time[0], time[1], time.count == 3 ? time[2] : 0)
    var normal = fields
    let asUTC = timegm(&normal)
    // timegm turns 30 February into another day, which is not a valid result.
    guard isSame(normal, fields) else { return .none }
    tzset()
    // A clock uses the offset from UTC that is in force at the time: that of the day before, of the day after, or both in turn.
    let offsets = [asUTC - 86_400, asUTC + 86_400].compactMap { self.fields(at: $0)?.tm_gmtoff }
    let moments = offsets.map { asUTC - time_t($0) }.filter { moment in self.fields(at: moment).map { isSame($0, fields) } ?? false }
    if let first = moments.min() { return .moment(WallTime(unixMilliseconds: Int64(first) * 1000)) }
    guard let before = offsets.first else { return .none }
    return .skipped(showing: MomentFormat.withoutZone(Int64(asUTC - time_t(before)) * 1000))
  }

  private static func fields(at seconds: time_t) -> tm? {
    var (seconds, fields) = (seconds, tm())
    return localtime_r(&seconds, &fields) == nil ? nil : fields
  }

  private static func isSame(_ left: tm, _ right: tm) -> Bool {
    (left.tm_year, left.tm_mon, left.tm_mday) == (right.tm_year, right.tm_mon, right.tm_mday)
      && (left.tm_hour, left.tm_min, left.tm_sec) == (right.tm_hour, right.tm_min, right.tm_sec)
  }

  private static func numbers(_ text: Substring, separator: Character) -> [Int32]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.allSatisfy { $0.isASCII && $0.isNumber } && part.count <= 4 ? Int32(part) : nil }
    return numbers.count == parts.count ? numbers : nil
  }
}
