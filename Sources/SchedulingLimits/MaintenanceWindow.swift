public import CalendarTime

/// A part of the day in a time zone, on some weekdays: `01:00` to `05:00`, `22:00` to `04:00`.
///
/// It is open while the clocks show a time from `from` until before `to`. When clocks are set back, it can be longer, and a short window
/// opens twice. A window that the clocks skip completely opens later, by as much as they are set forward, for its usual length, as a cron
/// time does by default.
public struct MaintenanceWindow: Sendable, Hashable, CustomStringConvertible {
  /// Seconds after midnight.
  let from: Int
  /// Seconds after the midnight that begins its opening day: more than a day for a window that crosses midnight.
  let to: Int
  /// Bit n: weekday n of the day on which it opens, from 0 for Sunday.
  let weekdays: UInt8
  /// The time zone.
  public let zone: TimeZoneRules

  private static let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

  /// Reads the times as `hh:mm`, `24:00` only as an end, and the weekdays by the first three letters of their English names.
  ///
  /// - Parameters:
  ///   - to: An end before the beginning is on the next day.
  ///   - days: The days on which it opens; empty means all.
  /// - Throws: What is wrong, and how to write it.
  public init(from: String, to: String, days: [String] = [], zone: TimeZoneRules) throws(LimitSyntaxError) {
    self.zone = zone
    guard let begin = Self.time(from), begin < 86_400 else {
      throw LimitSyntaxError(kind: "window", text: from, observed: "is not a time of day: write it from 00:00 to 23:59")
    }
    guard let end = Self.time(to) else {
      throw LimitSyntaxError(kind: "window", text: to, observed: "is not a time of day: write it from 00:00 to 24:00")
    }
    guard begin != end else {
      throw LimitSyntaxError(
        kind: "window", text: "\(from) to \(to)", observed: "ends when it begins; a window of a whole day is from 00:00 to 24:00")
    }
    self.from = begin
    self.to = end < begin ? end + 86_400 : end
    var weekdays: UInt8 = days.isEmpty ? 0x7f : 0
    for day in days {
      let name = day.lowercased()
      guard let index = Self.names.firstIndex(where: { name.hasPrefix($0) && Self.longName(of: $0).hasPrefix(name) }) else {
        throw LimitSyntaxError(kind: "window", text: day, observed: "is not a weekday: write \(Self.names.joined(separator: ", "))")
      }
      weekdays |= 1 << index
    }
    self.weekdays = weekdays
  }

  /// The times and the days: `01:00–05:00 mon, tue`, `22:00–04:00 daily`.
  public var description: String {
    let days = Self.names.indices.filter { weekdays & 1 << $0 != 0 }
    return "\(Self.text(from))–\(Self.text(to > 86_400 ? to - 86_400 : to)) "
      + (days.count == 7 ? "daily" : days.map { Self.names[$0] }.joined(separator: ", "))
  }

  private static func longName(of name: String) -> String {
    switch name {
    case "tue": "tuesday"
    case "wed": "wednesday"
    case "thu": "thursday"
    case "sat": "saturday"
    default: name + "day"
    }
  }

  /// Two digits, a colon and two digits.
  private static func time(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
    let digits = [0, 1, 3, 4].map { Int(bytes[$0]) - 0x30 }
    guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    guard minute < 60, hour < 24 || hour == 24 && minute == 0 else { return nil }
    return hour * 3600 + minute * 60
  }

  private static func text(_ seconds: Int) -> String {
    let (hour, minute) = (seconds / 3600, seconds % 3600 / 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }
}
