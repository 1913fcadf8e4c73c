import StrictText

/// Durations as people write them: `15m`, `1h30m`, `500ms`.
enum DurationText {
  /// Milliseconds of `text`: whole numbers, each with a unit (ms, s, m, h, d, w), the units from large to small; nil for anything else.
  static func parse(_ text: String) -> Int64? { try? DurationFormat.milliseconds(of: text[...], units: DurationFormat.unitsWithWeeks) }

  /// The two largest units of a duration: `1h 30m`, `4.2s`, `300ms`.
  static func format(milliseconds: Int64) -> String {
    let length = milliseconds.magnitude
    let sign = milliseconds < 0 ? "-" : ""
    switch length {
    case 0..<1000: return "\(sign)\(length)ms"
    case 1000..<60_000:
      let tenths = length / 100
      return tenths % 10 == 0 ? "\(sign)\(tenths / 10)s" : "\(sign)\(tenths / 10).\(tenths % 10)s"
    default:
      let parts = DurationFormat.units.map { ($0.name, length / UInt64($0.milliseconds), $0.milliseconds) }
      guard let first = parts.firstIndex(where: { $0.1 > 0 }) else { return "\(sign)\(length)ms" }
      let (name, count, unit) = parts[first]
      let next = parts[first + 1]
      let remaining = length % UInt64(unit) / UInt64(next.2)
      return "\(sign)\(count)\(name)" + (remaining > 0 ? " \(remaining)\(next.0)" : "")
    }
  }
}
