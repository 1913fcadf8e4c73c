import FoundationEssentials

/// The `Retry-After` header (RFC 9110 §10.2.3): seconds, or a date.
enum RetryAfter {
  /// The longest accepted wait: a day. If a server requests more, the plugin asks again after a day.
  static let longest = Duration.seconds(86_400)

  /// - Parameters:
  ///   - value: The header's value.
  ///   - date: The answer's `Date` header. A date in `value` is relative to it, so that a wrong local clock does no harm.
  ///   - now: The local time, used if there is no usable `Date` header.
  /// - Returns: The wait, 0 to ``longest``; nil if the header is missing or cannot be understood.
  static func parse(_ value: String?, date: String?, now: Date) -> Duration? {
    guard let value else { return nil }
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Int64(value).map { .seconds(min($0, 86_400)) } ?? longest, longest)
    }
    guard let until = HTTPDate.parse(value) else { return nil }
    let reference = date.flatMap(HTTPDate.parse) ?? now
    return min(.seconds(max(0, until.timeIntervalSince(reference))), longest)
  }
}

/// A time in HTTP (RFC 9110 §5.6.7): the preferred form and the two obsolete ones that a recipient must accept.
enum HTTPDate {
  /// - Returns: nil if the text has none of the three forms, or is not a real time of day.
  static func parse(_ text: String) -> Date? {
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
    if words.count == 6, words[5] == "GMT" {
      // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
      guard let written = Int(words[3]) else { return nil }
      let year = words[3].utf8.count == 2 ? written + (written < 70 ? 2000 : 1900) : written
      return date(year: year, month: words[2], day: words[1], time: words[4])
    }
    if words.count == 5 {
      // Sun Nov  6 08:49:37 1994
      return Int(words[4]).flatMap { date(year: $0, month: words[1], day: words[2], time: words[3]) }
    }
    return nil
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func date(year: Int, month: String, day: String, time: String) -> Date? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
    guard
      let month = months.firstIndex(of: month), let day = Int(day), (1...31).contains(day), (1601...9999).contains(year),
      clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    // Days since 1970-01-01 of the proleptic Gregorian calendar, with years that begin in March.
    let years = month < 2 ? year - 1 : year
    let dayOfYear = (153 * ((month + 10) % 12) + 2) / 5 + day - 1
    let days = years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear - 719_468
    return Date(timeIntervalSince1970: Double(days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]))
  }
}
