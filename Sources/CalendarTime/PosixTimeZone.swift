/// A time zone in the POSIX format of `TZ`. A time zone file ends with one, which covers the times after its last change.
///
/// - Source: POSIX.1-2017, 8.3 Other Environment Variables; RFC 8536, 3.3 (hours from −167 to 167).
struct PosixTimeZone: Sendable, Hashable {
  /// A day of each year, and a local time on it.
  struct Moment: Sendable, Hashable {
    enum Day: Sendable, Hashable {
      /// `Jn`: 1 … 365, February 29 never counts.
      case withoutLeapDay(Int)
      /// `n`: 0 … 365, February 29 counts.
      case ofYear(Int)
      /// `Mm.w.d`: the w-th (5: last) weekday d (0: Sunday) of month m.
      case weekday(month: Int, week: Int, weekday: Int)
    }

    let day: Day
    /// Seconds after local midnight; may be negative, or more than a day.
    let time: Int

    /// The local time of the moment in a year, in seconds since 1970 as if local time were UTC.
    func local(in year: Int) -> Int {
      let days: Int
      switch day {
      case .withoutLeapDay(let number):
        days = CivilDate(year: year, month: 1, day: 1).daysSince1970 + number - 1 + (CivilDate.isLeap(year) && number >= 60 ? 1 : 0)
      case .ofYear(let number): days = CivilDate(year: year, month: 1, day: 1).daysSince1970 + number
      case .weekday(let month, let week, let weekday):
        let first = CivilDate(year: year, month: month, day: 1)
        var day = 1 + (weekday - first.weekday + 7) % 7 + (week - 1) * 7
        while day > CivilDate.days(inMonth: month, of: year) { day -= 7 }
        days = CivilDate(year: year, month: month, day: day).daysSince1970
      }
      return days * 86_400 + time
    }
  }

  struct Daylight: Sendable, Hashable {
    /// Seconds ahead of UTC.
    let offset: Int
    let begins: Moment
    let ends: Moment
  }

  /// Seconds ahead of UTC.
  let standard: Int
  /// nil if the zone has no daylight saving time.
  let daylight: Daylight?

  init(standard: Int, daylight: Daylight?) {
    self.standard = standard
    self.daylight = daylight
  }

  /// The changes between two moments, inclusive, after an entry for the offset in force at `from`.
  func changes(from: Int, to: Int) -> [(moment: Int, offset: Int)] {
    guard let daylight else { return [(from, standard)] }
    guard to >= from else { return [] }
    let firstYear = from == .min ? 1900 : CivilDate(daysSince1970: floorDivide(from, 86_400)).year - 1
    let lastYear = CivilDate(daysSince1970: floorDivide(to, 86_400)).year + 1
    guard firstYear <= lastYear else { return [] }
    let all = (firstYear...lastYear).flatMap { year in
      [
        (moment: daylight.begins.local(in: year) - standard, offset: daylight.offset),
        (moment: daylight.ends.local(in: year) - daylight.offset, offset: standard),
      ]
    }.sorted { $0.moment < $1.moment }
    let position = all.firstIndex { $0.moment > from } ?? all.endIndex
    guard position > 0 else { return all.filter { $0.moment <= to } }
    return [(max(from, all[position - 1].moment), all[position - 1].offset)]
      + all[position...].filter { $0.moment <= to }
  }
}

/// The quotient rounded towards minus infinity.
func floorDivide(_ dividend: Int, _ divisor: Int) -> Int {
  let quotient = dividend / divisor
  return dividend % divisor < 0 ? quotient - 1 : quotient
}
