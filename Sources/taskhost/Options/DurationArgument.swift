import StrictText

/// Durations as people write them: `15m`, `1h30m`, `500ms`.
enum DurationArgument {
  /// Milliseconds of `text`: whole numbers, each with a unit (ms, s, m, h, d, w), the units from large to small; nil for anything else.
  static func parse(_ text: String) -> Int64? { try? DurationFormat.milliseconds(of: text[...], units: DurationFormat.unitsWithWeeks) }
}
