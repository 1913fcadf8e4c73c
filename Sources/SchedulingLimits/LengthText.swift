import StrictText
import TaskModel

/// Text for durations, as operators write them (`90s`, `1h30m`) and for sentences (`1 h 30 min`).
enum LengthText {
  /// nil if the text is not a duration.
  static func parse(_ text: Substring) -> Duration? {
    (try? DurationFormat.milliseconds(of: text)).map { .milliseconds($0) }
  }

  /// The text that ``parse(_:)`` reads, exact to the millisecond.
  static func text(_ length: Duration) -> String { DurationFormat.text(milliseconds: length.wholeMilliseconds) }

  /// For sentences: at most the two largest units, rounded down.
  static func words(_ length: Duration) -> String {
    let parts = DurationFormat.parts(of: length.wholeMilliseconds)
    guard let first = parts.first else { return "0 s" }
    return parts.prefix(2).filter { $0.unit <= first.unit + 1 }.map { "\($0.number) \(word($0.unit))" }.joined(separator: " ")
  }

  private static func word(_ unit: Int) -> String {
    let name = DurationFormat.units[unit].name
    return name == "m" ? "min" : name
  }
}
