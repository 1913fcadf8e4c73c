import FoundationEssentials

extension Duration {
  /// As a number of seconds, for arithmetic with `Date`.
  var inSeconds: TimeInterval {
    let (seconds, attoseconds) = components
    return TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18
  }

  /// Reads `500ms`, `20s`, `5m`, `2h`, `1d`: a whole number and one unit.
  ///
  /// - Returns: nil when the text is anything else, or longer than 10,000 days.
  init?(text: String) {
    let units: [(suffix: String, milliseconds: Int64)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    guard
      let unit = units.first(where: { text.hasSuffix($0.suffix) }),
      case let digits = text.dropLast(unit.suffix.count),
      !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int64(digits), count <= 10_000 * 86_400_000 / unit.milliseconds
    else { return nil }
    self = .milliseconds(count * unit.milliseconds)
  }
}
