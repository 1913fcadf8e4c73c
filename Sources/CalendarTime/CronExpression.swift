/// A set of calendar times, given by minutes, hours, days, months and weekdays (crontab(5), five fields).
///
/// If both the days of the month and the weekdays are restricted, a day matches if either matches. A field that begins with `*` does not
/// count as a restriction here (Vixie cron).
public struct CronExpression: Sendable, Hashable {
  /// The expression as written, with single blanks between its fields.
  public let text: String
  /// Bit n: minute n.
  let minutes: UInt64
  /// Bit n: hour n.
  let hours: UInt64
  /// Bit n: day n, from 1.
  let days: UInt64
  /// Bit n: month n, from 1.
  let months: UInt64
  /// Bit n: weekday n, from 0 for Sunday to 6.
  let weekdays: UInt64
  private let anyDay: Bool
  private let anyWeekday: Bool

  /// Reads five fields, or one of `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`.
  ///
  /// Each field is a comma-separated list of `*`, a number, or a range `a-b`, each with an optional step `/n`; `a/n` means from a to the
  /// end. Months and weekdays also have their English names, three letters in any case; Sunday is 0 and 7.
  ///
  /// - Throws: A description of what is wrong.
  public init(_ text: String) throws(CronSyntaxError) {
    let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
    var fields = words
    if words.count == 1, words[0].hasPrefix("@") {
      guard let meaning = Self.abbreviations[words[0].lowercased()] else {
        throw CronSyntaxError(
          text: text, observed: "\"\(words[0])\" is none of \(Self.abbreviations.keys.sorted().joined(separator: ", "))")
      }
      fields = meaning.split(separator: " ").map(String.init)
    }
    guard fields.count == 5 else {
      throw CronSyntaxError(
        text: text, observed: "it has \(fields.count) fields: write five (minute hour day month weekday), or a name such as @daily")
    }
    self.text = words.joined(separator: " ")
    minutes = try CronField.minute.bits(fields[0], in: text)
    hours = try CronField.hour.bits(fields[1], in: text)
    days = try CronField.day.bits(fields[2], in: text)
    months = try CronField.month.bits(fields[3], in: text)
    let weekdays = try CronField.weekday.bits(fields[4], in: text)
    // Sunday is 0 or 7.
    self.weekdays = (weekdays | weekdays >> 7) & 0x7f
    anyDay = fields[2].hasPrefix("*")
    anyWeekday = fields[4].hasPrefix("*")
    guard mayHappen else { throw CronSyntaxError(text: text, observed: "there is no such day in those months: it would never run") }
  }

  private static let abbreviations = [
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
  ]

  /// Whether the schedule has any times on the date.
  func matches(_ date: CivilDate) -> Bool {
    guard months & 1 << date.month != 0 else { return false }
    let byDay = days & 1 << date.day != 0
    let byWeekday = weekdays & 1 << date.weekday != 0
    return anyDay || anyWeekday ? byDay && byWeekday : byDay || byWeekday
  }

  /// The matching times of a day, in seconds after midnight, ascending.
  var timesOfDay: [Int] {
    (0..<24).filter { hours & 1 << $0 != 0 }.flatMap { hour in
      (0..<60).filter { minutes & 1 << $0 != 0 }.map { hour * 3600 + $0 * 60 }
    }
  }

  /// Whether any date matches. A restriction of weekdays alone always matches some.
  private var mayHappen: Bool {
    if !anyDay, !anyWeekday { return true }
    return (1...12).contains { month in
      months & 1 << month != 0 && (1...CivilDate.days(inMonth: month, of: 2000)).contains { days & 1 << $0 != 0 }
    }
  }
}
