import Glibc

/// Moments as people read them, on the calendar of this machine. Moments are in milliseconds since 1970.
public enum MomentFormat {
  /// `in 4 min`, `3 s ago`, `now`. What is to come is rounded up to whole seconds: it is not now as long as it is to come.
  public static func relative(_ unixMilliseconds: Int64, now: Int64) -> String {
    let (difference, overflow) = unixMilliseconds.subtractingReportingOverflow(now)
    let isToCome = overflow || difference > 0
    let seconds = ((overflow ? Int64.max : difference).magnitude + (isToCome ? 999 : 0)) / 1000
    let length =
      switch seconds {
      case 0: ""
      case 1..<60: "\(seconds) s"
      case 60..<3600: "\(seconds / 60) min"
      case 3600..<172_800: "\(seconds / 3600) h"
      default: "\(seconds / 86_400) d"
      }
    return length.isEmpty ? "now" : (isToCome ? "in \(length)" : "\(length) ago")
  }

  /// `2026-11-21 08:00:00` in this machine's time zone, where the reader knows the zone.
  public static func withoutZone(_ unixMilliseconds: Int64) -> String { text(unixMilliseconds, "%Y-%m-%d %H:%M:%S") }

  /// `2026-11-21 08:00:00 CET` in this machine's time zone; with `omittingDateOf`, `08:00:00 CET` if that moment is on the same day.
  public static func local(_ unixMilliseconds: Int64, omittingDateOf day: Int64? = nil) -> String {
    let isSameDay = day.map { text($0, "%Y-%m-%d") == text(unixMilliseconds, "%Y-%m-%d") } ?? false
    return text(unixMilliseconds, isSameDay ? "%H:%M:%S %Z" : "%Y-%m-%d %H:%M:%S %Z")
  }

  /// The time of the day in this machine's time zone: `08:00:00`.
  public static func clock(_ unixMilliseconds: Int64) -> String { text(unixMilliseconds, "%H:%M:%S") }

  /// The hour of the day in this machine's time zone: `08:00`.
  public static func hour(_ unixMilliseconds: Int64) -> String { text(unixMilliseconds, "%H:%M") }

  private static func text(_ unixMilliseconds: Int64, _ format: String) -> String {
    var (seconds, fields) = (time_t(unixMilliseconds / 1000), tm())
    guard localtime_r(&seconds, &fields) != nil else { return "\(unixMilliseconds) ms" }
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, format, &fields)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
