/// A time in HTTP (RFC 9110 §5.6.7): the preferred form and the two obsolete ones that a recipient must accept.
public enum HTTPDate {
  /// - Returns: Seconds since 1970; nil if the text has none of the three forms, or is not a real time of day.
  public static func parse(_ text: String) -> Int64? {
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
    if words.count == 6, words[5] == "GMT" {
      // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
      guard let written = HeaderNumber.read(words[3]), written < 10_000 else { return nil }
      let year = words[3].utf8.count == 2 ? written + (written < 70 ? 2000 : 1900) : written
      return seconds(year: year, month: words[2], day: words[1], time: words[4])
    }
    if words.count == 5 {
      // Sun Nov  6 08:49:37 1994
      return HeaderNumber.read(words[4]).flatMap { seconds(year: $0, month: words[1], day: words[2], time: words[3]) }
    }
    return nil
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func seconds(year: Int64, month: String, day: String, time: String) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { HeaderNumber.read($0) ?? -1 }
    guard
      let month = months.firstIndex(of: month).map({ Int64($0) }), let day = HeaderNumber.read(day), (1...31).contains(day),
      (1601...9999).contains(year), clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    // Days since 1970-01-01 of the proleptic Gregorian calendar, with years that begin in March.
    let years = month < 2 ? year - 1 : year
    let dayOfYear = (153 * ((month + 10) % 12) + 2) / 5 + day - 1
    let days = years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear - 719_468
    return days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
  }
}
