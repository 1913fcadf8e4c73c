public import TaskModel

/// Moments as text: `2026-11-21T08:00:00Z` (RFC 3339), with milliseconds if they are not zero.
public enum RFC3339 {
  /// The text of `time` in UTC; nil outside the years 0 to 9999, which the format cannot express.
  public static func format(_ time: WallTime) -> String? {
    guard let moment = Moment(time) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    moment.append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A moment that the format can express.
  public struct Moment {
    private let date: CivilDate
    /// Milliseconds from midnight.
    private let inDay: Int

    /// nil outside the years 0 to 9999.
    public init?(_ time: WallTime) {
      var (days, inDay) = time.unixMilliseconds.quotientAndRemainder(dividingBy: 86_400_000)
      if inDay < 0 { (days, inDay) = (days - 1, inDay + 86_400_000) }
      guard (-719_528...2_932_896).contains(days) else { return nil }
      date = CivilDate(daysSince1970: Int(days))
      self.inDay = Int(inDay)
    }

    /// Appends the text, which is ASCII.
    public func append(to bytes: inout [UInt8]) {
      let milliseconds = inDay % 1000
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
        var end = 0
        func put(_ number: Int, _ width: Int, _ separator: Unicode.Scalar) {
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

  /// Parses `text`, ignoring digits beyond milliseconds; nil if it is not a date, a time and an offset.
  public static func parse(_ text: String) -> WallTime? {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
      let day = scanner.number(2), scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.number(2),
      scanner.skip(":"), let minute = scanner.number(2), scanner.skip(":"), let second = scanner.number(2)
    else { return nil }
    guard (1...12).contains(month), (1...CivilDate.days(inMonth: month, of: year)).contains(day), hour <= 23, minute <= 59, second <= 60
    else {
      return nil
    }
    var milliseconds = 0
    if scanner.skip(".") {
      guard let fraction = scanner.fraction() else { return nil }
      milliseconds = fraction
    }
    guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    let days = CivilDate(year: year, month: month, day: day).daysSince1970
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    return WallTime(unixMilliseconds: Int64(seconds * 1000 + milliseconds))
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

    mutating func digit() -> Int? {
      guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
      position += 1
      return Int(bytes[position - 1] & 0xF)
    }

    mutating func number(_ width: Int) -> Int? {
      var number: Int = 0
      for _ in 0..<width {
        guard let digit = digit() else { return nil }
        number = number * 10 + digit
      }
      return number
    }

    /// Milliseconds of a fraction's digits.
    mutating func fraction() -> Int? {
      guard let first = digit() else { return nil }
      let second = digit()
      let third = second == nil ? nil : digit()
      if third != nil { while digit() != nil {} }
      return first * 100 + (second ?? 0) * 10 + (third ?? 0)
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let sign: Int = skip("+") ? 1 : (skip("-") ? -1 : 0)
      guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours <= 23, minutes <= 59 else { return nil }
      return sign * (hours * 3600 + minutes * 60)
    }
  }
}
