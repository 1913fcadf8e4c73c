/// Lengths of time as systemd writes them: `1h 30min`, `2d`, `90`, `infinity`.
enum TimeSpan {
  private static let units: [(names: [String], microseconds: Int)] = [
    (["us", "usec", "µs", "μs"], 1), (["ms", "msec"], 1000), (["s", "sec", "second", "seconds"], 1_000_000),
    (["m", "min", "minute", "minutes"], 60_000_000), (["h", "hr", "hour", "hours"], 3_600_000_000),
    (["d", "day", "days"], 86_400_000_000), (["w", "week", "weeks"], 604_800_000_000),
    (["M", "month", "months"], 2_629_800_000_000), (["y", "year", "years"], 31_557_600_000_000),
  ]

  /// Milliseconds; nil if the text is not a length of time. A number without a unit is in seconds.
  static func milliseconds(_ text: String) -> Int? {
    var rest = text[...].drop { $0 == " " }
    guard !rest.isEmpty else { return nil }
    var total = 0.0
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      guard let value = Double(number) else { return nil }
      rest = rest.dropFirst(number.count).drop { $0 == " " }
      let name = rest.prefix { $0.isLetter || $0 == "µ" || $0 == "μ" }
      guard let unit = name.isEmpty ? 1_000_000 : units.first(where: { $0.names.contains(String(name)) })?.microseconds else { return nil }
      total += value * Double(unit)
      rest = rest.dropFirst(name.count).drop { $0 == " " }
    }
    return total < 1e18 ? Int(total / 1000) : nil
  }
}
