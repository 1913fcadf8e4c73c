extension PosixTimeZone {
  /// Parses a POSIX `TZ` text; nil if it is malformed.
  init?(_ text: String) {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard reader.skipName(), let west = reader.time(hours: 24) else { return nil }
    standard = -west
    guard !reader.rest.isEmpty else {
      daylight = nil
      return
    }
    guard reader.skipName() else { return nil }
    let offset: Int
    if reader.rest.first != UInt8(ascii: ",") {
      guard let west = reader.time(hours: 24) else { return nil }
      offset = -west
    } else {
      offset = standard + 3600
    }
    guard reader.skip(","), let begins = reader.moment(), reader.skip(","), let ends = reader.moment(), reader.rest.isEmpty else {
      return nil
    }
    daylight = Daylight(offset: offset, begins: begins, ends: ends)
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    /// Skips a name: at least three letters, or anything in angle brackets.
    mutating func skipName() -> Bool {
      if skip("<") {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
        rest = rest[(end + 1)...]
        return true
      }
      let letters = rest.prefix { (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) }
      rest = rest.dropFirst(letters.count)
      return letters.count >= 3
    }

    mutating func number(atMost limit: Int) -> Int? {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard (1...3).contains(digits.count) else { return nil }
      rest = rest.dropFirst(digits.count)
      let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
      return value <= limit ? value : nil
    }

    /// `[+-]h[:m[:s]]` in seconds.
    mutating func time(hours limit: Int) -> Int? {
      let sign = skip("-") ? -1 : 1
      if sign == 1 { _ = skip("+") }
      guard let hours = number(atMost: limit) else { return nil }
      var seconds = hours * 3600
      for unit in [60, 1] where rest.first == UInt8(ascii: ":") {
        rest.removeFirst()
        guard let value = number(atMost: 59) else { return nil }
        seconds += value * unit
      }
      return sign * seconds
    }

    mutating func moment() -> Moment? {
      guard let day = day() else { return nil }
      guard skip("/") else { return Moment(day: day, time: 7200) }
      return time(hours: 167).map { Moment(day: day, time: $0) }
    }

    private mutating func day() -> Moment.Day? {
      if skip("J") { return number(atMost: 365).flatMap { $0 >= 1 ? .withoutLeapDay($0) : nil } }
      guard skip("M") else { return number(atMost: 365).map { .ofYear($0) } }
      guard let month = number(atMost: 12), month >= 1, skip("."), let week = number(atMost: 5), week >= 1, skip("."),
        let weekday = number(atMost: 6)
      else { return nil }
      return .weekday(month: month, week: week, weekday: weekday)
    }
  }
}
