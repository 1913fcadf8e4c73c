import FoundationEssentials
import StrictText

extension Duration {
  /// The number of seconds, for arithmetic with `Date`.
  var inSeconds: TimeInterval {
    let (seconds, attoseconds) = components
    return TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18
  }

  /// Reads `500ms`, `20s`, `5m`, `2h`, `1d`, `1h30m`.
  ///
  /// - Returns: nil for any other text, or more than 10,000 days.
  init?(text: String) {
    guard let milliseconds = try? DurationFormat.milliseconds(of: text[...]), milliseconds <= 10_000 * 86_400_000 else { return nil }
    self = .milliseconds(milliseconds)
  }
}
