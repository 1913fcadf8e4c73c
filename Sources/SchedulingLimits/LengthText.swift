import StrictText
import TaskModel

/// Durations as operators write them (`90s`, `1h30m`), and as in sentences (`1 h 30 min`).
enum LengthText {
  /// Units from the largest, in milliseconds.
  private static let units: [(text: String, word: String, milliseconds: Int64)] = [
    ("d", "d", 86_400_000), ("h", "h", 3_600_000), ("m", "min", 60_000), ("s", "s", 1000), ("ms", "ms", 1),
  ]

  /// Parses numbers with units, larger units first and each at most once; nil if the text is malformed.
  static func parse(_ text: Substring) -> Duration? {
    (try? LengthOfTime.milliseconds(of: text)).map { .milliseconds($0) }
  }

  /// The text that ``parse(_:)`` reads, to the millisecond.
  static func text(_ length: Duration) -> String {
    let text = parts(length).map { "\($0.number)\(units[$0.unit].text)" }.joined()
    return text.isEmpty ? "0s" : text
  }

  /// For sentences: at most the two largest units, rounded down.
  static func words(_ length: Duration) -> String {
    let parts = parts(length)
    guard let first = parts.first else { return "0 s" }
    return parts.prefix(2).filter { $0.unit <= first.unit + 1 }.map { "\($0.number) \(units[$0.unit].word)" }.joined(separator: " ")
  }

  private static func parts(_ length: Duration) -> [(number: Int64, unit: Int)] {
    var rest = max(0, length.wholeMilliseconds)
    return units.indices.compactMap { unit in
      let number = rest / units[unit].milliseconds
      rest %= units[unit].milliseconds
      return number > 0 ? (number, unit) : nil
    }
  }
}
