/// Durations as operators write them: `500ms`, `15m`, `6h`, `7d`, `1h30m`.
enum DurationText {
  /// Units from the largest, in milliseconds.
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  /// Reads numbers with units, the larger units first and each at most once.
  static func parse(_ text: String) throws(TextProblem) -> Duration {
    let problem = TextProblem("expected a duration such as \"500ms\", \"30s\", \"15m\", \"6h\", \"7d\" or \"1h30m\", found \"\(text)\"")
    var rest = text[...]
    var total: Int64 = 0
    var next = 0
    repeat {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      let name = rest.prefix { $0.isASCII && $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard let number = Int64(digits), let unit = units[next...].firstIndex(where: { $0.name == name }) else { throw problem }
      next = unit + 1
      let (part, partOverflow) = number.multipliedReportingOverflow(by: units[unit].milliseconds)
      let (sum, sumOverflow) = total.addingReportingOverflow(part)
      guard !partOverflow, !sumOverflow else { throw TextProblem("the duration \"\(text)\" is too long") }
      total = sum
    } while !rest.isEmpty
    return .milliseconds(total)
  }

  /// The shortest text for a duration, to the millisecond.
  static func format(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    var rest = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    var text = ""
    for (name, milliseconds) in units where rest >= milliseconds {
      text += "\(rest / milliseconds)\(name)"
      rest %= milliseconds
    }
    return text.isEmpty ? "0s" : text
  }
}

extension Duration {
  /// Days of 24 hours.
  static func days(_ days: Int) -> Duration { .seconds(days * 86_400) }
}
