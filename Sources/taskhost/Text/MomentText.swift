import Glibc
import HostControl
import TaskModel

/// Moments as people write and read them.
enum MomentText {
  /// RFC 3339, or `2026-11-21 08:00` (with seconds if wished, `T` for the blank) in this machine's time zone; nil for anything else, and
  /// for a time that does not exist there.
  static func parse(_ text: String) -> WallTime? {
    RFC3339.parse(text) ?? parseLocal(text)
  }

  private static func parseLocal(_ text: String) -> WallTime? {
    let halves = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
    guard halves.count == 2 else { return nil }
    let date = numbers(halves[0], separator: "-")
    let time = numbers(halves[1], separator: ":")
    guard let date, let time, date.count == 3, time.count == 2 || time.count == 3, (1970...9999).contains(date[0]) else { return nil }
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (date[0] - 1900, date[1] - 1, date[2])
    (fields.tm_hour, fields.tm_min, fields.tm_sec) = (time[0], time[1], time.count == 3 ? time[2] : 0)
    fields.tm_isdst = -1
    var normal = fields
    let seconds = mktime(&normal)
    // mktime turns 30 February, and a time that a change of clocks leaves out, into another: that is no answer.
    guard normal.tm_mon == fields.tm_mon, normal.tm_mday == fields.tm_mday, normal.tm_hour == fields.tm_hour,
      normal.tm_min == fields.tm_min, normal.tm_sec == fields.tm_sec
    else { return nil }
    return WallTime(unixMilliseconds: Int64(seconds) * 1000)
  }

  private static func numbers(_ text: Substring, separator: Character) -> [Int32]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.allSatisfy { $0.isASCII && $0.isNumber } && part.count <= 4 ? Int32(part) : nil }
    return numbers.count == parts.count ? numbers : nil
  }

  /// `in 4 min`, `3 s ago`, `now`.
  static func relative(_ unixMilliseconds: Int64, now: Int64) -> String {
    let (difference, overflow) = unixMilliseconds.subtractingReportingOverflow(now)
    let seconds = (overflow ? Int64.max : difference).magnitude / 1000
    let length =
      switch seconds {
      case 0: ""
      case 1..<60: "\(seconds) s"
      case 60..<3600: "\(seconds / 60) min"
      case 3600..<172_800: "\(seconds / 3600) h"
      default: "\(seconds / 86_400) d"
      }
    return length.isEmpty ? "now" : (difference > 0 || overflow ? "in \(length)" : "\(length) ago")
  }

  /// `2026-11-21 08:00:00` in this machine's time zone.
  static func local(_ unixMilliseconds: Int64) -> String {
    var seconds = time_t(unixMilliseconds / 1000)
    var fields = tm()
    guard localtime_r(&seconds, &fields) != nil else { return "\(unixMilliseconds) ms" }
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &fields)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
