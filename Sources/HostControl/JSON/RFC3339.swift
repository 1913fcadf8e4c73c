public import TaskModel

/// Moments as text: `2026-11-21T08:00:00Z` (RFC 3339), milliseconds where there are any.
public enum RFC3339 {
  /// The text of `time` in UTC; nil outside of the years 0 to 9999, which the format cannot write.
  public static func format(_ time: WallTime) -> String? {
    guard let moment = Moment(time) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    moment.append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A moment that the format can write.
  struct Moment {
    private let date: (year: Int64, month: Int64, day: Int64)
    /// Milliseconds from midnight.
    private let inDay: Int64

    /// nil outside of the years 0 to 9999.
    init?(_ time: WallTime) {
      let (days, inDay) = time.unixMilliseconds.flooredQuotient(by: 86_400_000)
      guard (-719_528...2_932_896).contains(days) else { return nil }
      date = RFC3339.civilDate(fromDays: days)
      self.inDay = inDay
    }

    /// Appends its text.
    func append(to bytes: inout [UInt8]) {
      let milliseconds = inDay % 1000
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
        var end = 0
        func put(_ number: Int64, _ width: Int, _ separator: Unicode.Scalar) {
          var rest = number
          for position in stride(from: end + width - 1, through: end, by: -1) {
            text[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
          }
          text[end + width] = UInt8(ascii: separator)
          end += width + 1
        }
        put(date.year, 4, "-")
        put(date.month, 2, "-")
        put(date.day, 2, "T")
        put(inDay / 3_600_000, 2, ":")
        put(inDay / 60_000 % 60, 2, ":")
        put(inDay / 1000 % 60, 2, milliseconds == 0 ? "Z" : ".")
        if milliseconds != 0 { put(milliseconds, 3, "Z") }
        bytes.append(contentsOf: text[..<end])
      }
    }
  }

  /// The moment that `text` names, digits beyond milliseconds dropped; nil when it is not a date, a time and an offset.
  public static func parse(_ text: String) -> WallTime? {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
      let day = scanner.number(2), scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.number(2),
      scanner.skip(":"), let minute = scanner.number(2), scanner.skip(":"), let second = scanner.number(2)
    else { return nil }
    guard (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day), hour <= 23, minute <= 59, second <= 60 else {
      return nil
    }
    var milliseconds: Int64 = 0
    if scanner.skip(".") {
      guard let fraction = scanner.fraction() else { return nil }
      milliseconds = fraction
    }
    guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    let seconds = days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    return WallTime(unixMilliseconds: seconds * 1000 + milliseconds)
  }

  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: isLeap(year) ? 29 : 28
    default: 31
    }
  }

  /// Days from 1970-01-01 to that date of the proleptic Gregorian calendar.
  ///
  /// - Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": days_from_civil, civil_from_days.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shifted.flooredQuotient(by: 400)
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civilDate(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).flooredQuotient(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private struct Scanner {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
      position += 1
      return true
    }

    mutating func digit() -> Int64? {
      guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
      position += 1
      return Int64(bytes[position - 1] & 0xF)
    }

    mutating func number(_ width: Int) -> Int64? {
      var number: Int64 = 0
      for _ in 0..<width {
        guard let digit = digit() else { return nil }
        number = number * 10 + digit
      }
      return number
    }

    /// Milliseconds of a fraction's digits.
    mutating func fraction() -> Int64? {
      guard let first = digit() else { return nil }
      let second = digit()
      let third = second == nil ? nil : digit()
      if third != nil { while digit() != nil {} }
      return first * 100 + (second ?? 0) * 10 + (third ?? 0)
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int64? {
      if skip("Z") || skip("z") { return 0 }
      let sign: Int64 = skip("+") ? 1 : (skip("-") ? -1 : 0)
      guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours <= 23, minutes <= 59 else { return nil }
      return sign * (hours * 3600 + minutes * 60)
    }
  }
}

extension Int64 {
  /// Quotient rounded down, and the remainder, which is never negative; `divisor` is positive.
  fileprivate func flooredQuotient(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
